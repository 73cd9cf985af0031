"""The GitHub Action: a thin shell over the pipeline, whose exit code is the check.

It reads its inputs from the environment, replays, and says the same in every place people look: log, annotations, job
summary, outputs and report files. What went wrong before anything could be judged is said there too, and is never a
pass.
"""

from __future__ import annotations

import os
import secrets
import shlex
import signal
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import memregress
from memregress import errors, inputs, replaying, report
from memregress.github import annotating, commands
from memregress.github.context import Context
from memregress.inputs import Inputs
from memregress.model import Progress
from memregress.render import markdown, terminal
from memregress.report import Failure, Gate, Outcome, Report

INTERRUPTED = 130
CODES = {Gate.PASSED: 0, Gate.FAILED: 1, Gate.ERROR: 3}


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
        judged = _replay(given)
        outcome, code = judged, CODES[judged.gate]
    except errors.MemregressError as error:
        outcome, code = _failure(error, given), error.exit_code
    except KeyboardInterrupt:
        _say(commands.annotation("error", "cancelled; what was started has been removed", title="memregress"))
        return INTERRUPTED
    return _tell(outcome, code, given or inputs.NONE, context, seconds=time.monotonic() - started)


def clean_up(environ: Mapping[str, str]) -> int:
    """After the job: remove the containers that a cancelled run may have left."""
    run = environ.get("STATE_run")
    if run:
        from memregress.instances import container  # noqa: PLC0415  Docker's libraries are slow to import

        try:
            container.remove(run)
        except errors.InstanceError as error:
            _say(error.message)
    return 0


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


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


def _replay(given: Inputs) -> Report:
    for line in commands.masks(given.url) if given.url else []:
        _say(line)
    _say(commands.group(f"memregress {memregress.__version__}: replay {given.golden} on {given.backend}"))
    try:
        return replaying.replay(
            Path(given.golden),
            progress=_Log(),
            backend=given.backend,
            url=given.url or None,
            image=given.image or None,
            fail_on=given.fail_on,
            baseline=Path(given.baseline) if given.baseline else None,
            config=Path(given.config) if given.config else None,
        )
    finally:
        _say(commands.endgroup())


class _Log:
    """Progress as lines of the log: each stage once."""

    def __init__(self) -> None:
        self._stage = ""

    def __call__(self, progress: Progress) -> None:
        if progress.stage != self._stage:
            self._stage = progress.stage
            _say(f"{progress.stage}{f' {progress.total:,}' if progress.total else ''} …")


def _failure(error: errors.MemregressError, given: Inputs | None) -> Failure:
    lines = error.message.splitlines()
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


def _tell(outcome: Outcome, code: int, given: Inputs, context: Context, *, seconds: float) -> int:
    """Say it everywhere; a place that cannot be written to is no reason to be silent in the others."""
    _log_outcome(outcome)
    for line in annotating.lines(outcome, given.golden):
        _say(line)
    _write_outputs(outcome, given, context, seconds=seconds)
    try:
        _write_files(outcome, given, context)
    except errors.PublishError as error:
        _say(commands.annotation("error", str(error), title="memregress could not publish"))
        return code or error.exit_code
    return code


def _log_outcome(outcome: Outcome) -> None:
    if isinstance(outcome, Failure):
        text = [outcome.message, *(f"{item.file}: {item.what}" for item in outcome.problems[:20]), outcome.remedy]
        text += outcome.log
    else:
        text = [f"{outcome.gate.upper()}: {outcome.reason}"]
    for line in text:
        _say(f"  {terminal.plain(line)}")  # indented: a line of a stranger's must not be a command


def _write_files(outcome: Outcome, given: Inputs, context: Context) -> None:
    if isinstance(outcome, Report):
        replaying.write(outcome, given.folder)
    else:
        report.write_files(given.folder, {"failure.json": report.encode_failure(outcome)})
    if context.summary_path is None:
        return
    text = markdown.summary(outcome, _facts(outcome, given, context))
    try:
        with context.summary_path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise errors.PublishError(
            f"the job summary could not be written: {error.strerror}", "Free some space."
        ) from error


def _facts(outcome: Outcome, given: Inputs, context: Context) -> markdown.Facts:
    shown = given.snippets == "full" or (given.snippets == "auto" and context.private)
    return markdown.Facts(
        reproduce=_reproduce(outcome, given), run_url=context.run_url, texts=shown, salt=context.repository
    )


def _reproduce(outcome: Outcome, given: Inputs) -> str:
    words = ["memregress", "replay", given.golden, "--backend", given.backend]
    words += ["--image", given.image] if given.image else []
    words += ["--config", given.config] if given.config else []
    if isinstance(outcome, Report):
        broken = report.broken(outcome.memories)
        words += [word for memory in broken[:1] for word in ("--only", memory.id)]
    return shlex.join(words)


def _write_outputs(outcome: Outcome, given: Inputs, context: Context, *, seconds: float) -> None:
    if context.output_path is None:
        return
    values: dict[str, object] = {"verdict": str(outcome.gate), "duration-ms": round(seconds * 1000)}
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
    for name, value in values.items():
        commands.write_value(context.output_path, name, str(value))


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201  the log of a workflow is standard output
