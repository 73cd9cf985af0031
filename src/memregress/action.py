"""The GitHub Action: a thin shell over the pipeline, whose exit code is the check.

It reads its inputs from the environment, replays, and says the same in every place people look: log, annotations, job
summary, comment, outputs and report files. What went wrong before anything could be judged is said there too, and is
never a pass.
"""

from __future__ import annotations

import os
import secrets
import signal
import time
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import memregress
from memregress import errors, inputs, replaying, report, report_files
from memregress.gate import Baseline
from memregress.github import annotating, base_report, commands, publishing
from memregress.github.context import Context
from memregress.github.publishing import say
from memregress.inputs import Inputs
from memregress.legs import Leg
from memregress.model import Progress
from memregress.render import terminal
from memregress.report import Failure, Gate, Outcome, Report

INTERRUPTED = 130
PATIENCE = 20.0
"""Seconds that a service container without a health check may take until it answers."""


def main(environ: Mapping[str, str]) -> int:
    """Run the action and return its exit code (see `errors`)."""
    signal.signal(signal.SIGTERM, _interrupt)  # a cancel: PID 1 has no handler of its own
    started = time.monotonic()
    context = Context.read(environ)
    _name_run(context)
    given: Inputs | None = None
    outcome: Outcome
    try:
        _refuse_untrusted(environ, context)
        given = inputs.read(environ)
        judged = _replay(given, context)
        outcome, code = judged, judged.gate.exit_code
    except errors.MissingDriverError as error:
        outcome, code = _failure(_not_in_image(error, given), given), error.exit_code
    except errors.MemregressError as error:
        outcome, code = _failure(error, given), error.exit_code
    except Exception as error:  # noqa: BLE001  a fault of our own must not end with the code of a finding
        with commands.silenced(say):
            say(traceback.format_exc())
        outcome, code = _failure(_fault(error), given), Gate.ERROR.exit_code
    except KeyboardInterrupt as cancelled:
        left = "; ".join(getattr(cancelled, "__notes__", ["what was started has been removed"]))
        say(commands.annotation("error", f"cancelled; {left}", title="memregress"))
        return INTERRUPTED
    return _tell(outcome, code, given or inputs.NONE, context, started=started)


def clean_up(environ: Mapping[str, str]) -> int:
    """After the job: remove the containers that a cancelled run may have left."""
    run = environ.get("STATE_run")
    if run:
        from memregress.instances import container  # noqa: PLC0415  Docker's libraries are slow to import

        try:
            container.remove(run)
        except errors.InstanceError as error:
            say(error.message)
    return 0


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _not_in_image(error: errors.MissingDriverError, given: Inputs | None) -> errors.MemregressError:
    """The action's image has no pip, and not every driver: some would double its size."""
    backend = given.backend if given else ""
    return errors.ConfigError(
        f"the action's image has no driver for {backend or 'this store'}: {error.message}",
        f"Run the command in a job of your own: pip install 'memregress[{backend}]', then memregress replay.",
    )


def _name_run(context: Context) -> None:
    """Name the run, so that `clean_up`, which is another process, finds its containers."""
    run = os.environ.setdefault("MEMREGRESS_RUN", secrets.token_hex(16))
    if context.state_path is not None:
        commands.write_value(context.state_path, "run", run)


def _refuse_untrusted(environ: Mapping[str, str], context: Context) -> None:
    """Under `pull_request_target` the code of a stranger would run with the repository's own secrets."""
    if context.event_name == "pull_request_target" and environ.get("MEMREGRESS_ALLOW_PULL_REQUEST_TARGET") != "1":
        raise errors.ConfigError(
            "memregress does not run on pull_request_target",
            "Use pull_request, and publish from a workflow_run workflow (see the example fork-safe). If no code of the "
            "pull request is checked out, set MEMREGRESS_ALLOW_PULL_REQUEST_TARGET=1.",
        )


def _replay(given: Inputs, context: Context) -> Report:
    for line in commands.masks(given.url) if given.url else []:
        say(line)
    say(commands.group(f"memregress {memregress.__version__}: replay {given.golden} on {given.backend}"))
    try:
        return replaying.replay(
            Path(given.golden),
            progress=_Log(),
            backend=given.backend,
            url=given.url or None,
            patience=PATIENCE,
            image=given.image or None,
            fail_on=given.fail_on,
            baseline=_baseline(given, context),
            golden_base=_golden_base(given),
            config=Path(given.config) if given.config else None,
        )
    finally:
        say(commands.endgroup())


def _baseline(given: Inputs, context: Context) -> Path | Baseline | None:
    """The file that is given, or what the base branch left; where that cannot be had, every broken memory counts."""
    if given.baseline == inputs.NO_BASELINE:
        return None
    if given.baseline != inputs.AUTO:
        return Path(given.baseline)
    if not given.github_token or not context.base_sha:
        return None
    artifact = inputs.ARTIFACT.format(key=given.name)
    try:
        found = base_report.find(publishing.api(context, given.github_token), context, artifact)
    except (errors.MemregressError, KeyError, TypeError, ValueError) as error:
        remedy = getattr(error, "remedy", "")
        text = f"The baseline could not be fetched, so every broken memory counts.\n{error}\n{remedy}"
        say(commands.annotation("warning", text, title="memregress: no baseline"))
        return None
    where = f"{context.base_ref}@{context.base_sha[:7]}"
    say(f"baseline: {found.name} ({found.kind})" if found else f"baseline: none; no artifact {artifact} up to {where}")
    return found


def _golden_base(given: Inputs) -> Path | None:
    """The base branch's golden set; it may not have had one yet."""
    path = Path(given.golden_base) if given.golden_base else None
    return path if path is not None and path.exists() else None


class _Log:
    """Progress as lines of the log: each stage once."""

    def __init__(self) -> None:
        self._stage = ""

    def __call__(self, progress: Progress) -> None:
        if progress.stage != self._stage:
            self._stage = progress.stage
            say(f"{progress.stage}{f' {progress.total:,}' if progress.total else ''} …")


def _failure(error: errors.MemregressError, given: Inputs | None) -> Failure:
    lines = error.message.splitlines() or [""]
    return Failure(
        memregress=memregress.__version__,
        created_at=datetime.now(UTC),
        kind=type(error).__name__,
        message=lines[0],
        remedy=error.remedy,
        exit_code=error.exit_code,
        backend=given.backend if given else None,
        problems=[
            report.Problem(file=item.file, line=item.line, field=item.field, what=item.what)
            for item in getattr(error, "problems", ())
        ],
        log=[line.removeprefix("  | ") for line in lines[1:] if line.startswith("  | ")],
    )


def _fault(error: Exception) -> errors.MemregressError:
    return errors.MemregressError(
        f"memregress itself failed: {type(error).__name__}: {str(error)[:200]}",
        "Please report it, with the log of this step.",
    )


def _tell(outcome: Outcome, code: int, given: Inputs, context: Context, *, started: float) -> int:
    """Say it everywhere; a place that cannot be written to is no reason to be silent in the others."""
    for line in annotating.lines(outcome, given.golden):
        say(line)
    stores = [Leg(name=given.name or "store", outcome=outcome)]
    told = publishing.facts(context, given.snippets, golden=given.golden, options=_options(given))
    try:
        _write_files(outcome, given)
        publishing.summary(stores, context, told)
    except errors.PublishError as error:
        say(commands.annotation("error", str(error), title="memregress could not publish"))
        code = code or error.exit_code
    url = publishing.comment(stores, context, told, given.terms)
    publishing.outputs(context, {**_outputs(outcome, given, started=started), "comment-url": url})
    _log_outcome(outcome)
    return code


def _log_outcome(outcome: Outcome) -> None:
    """The verdict, as the last lines of the log."""
    if isinstance(outcome, Failure):
        text = [*(f"{item.file}: {item.what}" for item in outcome.problems[:20]), *outcome.log]
        text += [outcome.message, outcome.remedy]
    else:
        text = [f"{outcome.gate.upper()}: {outcome.reason}"]
    with commands.silenced(say):
        for line in text:
            say(f"  {terminal.plain(line)}")


def _write_files(outcome: Outcome, given: Inputs) -> None:
    if isinstance(outcome, Report):
        replaying.write(outcome, given.folder)
    else:
        report_files.write_files(given.folder, {"failure.json": report_files.encode_failure(outcome)})


def _options(given: Inputs) -> list[str]:
    image = ["--image", given.image] if given.image else []
    return [*image, *(["--config", given.config] if given.config else [])]


def _outputs(outcome: Outcome, given: Inputs, *, started: float) -> dict[str, object]:
    values: dict[str, object] = {"verdict": outcome.gate, "duration-ms": round((time.monotonic() - started) * 1000)}
    if isinstance(outcome, Report):
        values |= {
            "broken": outcome.broken,
            "new-broken": "" if outcome.new_broken is None else outcome.new_broken,
            "fixed": "" if outcome.fixed is None else outcome.fixed,
            "tested": outcome.tested,
            "total": outcome.total,
            "causes": ",".join(cause.code for cause in outcome.causes),
            "report-json": str(given.folder / "report.json"),
            "junit": str(given.folder / "junit.xml"),
        }
    return values
