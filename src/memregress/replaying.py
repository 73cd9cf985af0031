"""From flags and settings to a report and its files: what the command line does, callable from Python."""

from __future__ import annotations

from pathlib import Path

from memregress import errors, gate, instances, pipeline, report, report_files, settings
from memregress.backends import registry
from memregress.clock import Report as Listener
from memregress.render import junit


def replay(
    golden: Path,
    *,
    progress: Listener,
    backend: str | None = None,
    url: str | None = None,
    patience: float = 0.0,
    image: str | None = None,
    embedded: bool = False,
    space: str | None = None,
    keep: bool = False,
    in_place: bool = False,
    only: tuple[str, ...] = (),
    sample: int | None = None,
    fail_on: str | None = None,
    baseline: Path | gate.Baseline | None = None,
    golden_base: Path | None = None,
    config: Path | None = None,
) -> report.Report:
    """Replay a golden set as the settings and flags say.

    Raises:
        MemregressError: see `pipeline.check`.
    """
    file = settings.load(config)
    entry = registry.find(_backend(backend or file.settings.backend))
    _check(in_place=in_place, url=url, keep=keep, only=only, sample=sample)
    return pipeline.check(
        pipeline.Request(
            golden=golden,
            target=instances.choose(
                entry,
                url=url,
                image=image or (None if url or embedded else file.settings.image),
                embedded=embedded,
                patience=patience,
            ),
            options=file.options(entry.name, entry.load().Options),
            settings=file.settings,
            space=space,
            keep=keep,
            in_place=in_place,
            only=only,
            sample=sample,
            fail_on=report.FailOn(fail_on) if fail_on else file.settings.fail_on,
            baseline=_baseline(baseline),
            golden_base=golden_base,
        ),
        progress=progress,
    )


def _baseline(given: Path | gate.Baseline | None) -> gate.Baseline | None:
    if isinstance(given, Path):
        return gate.Baseline(report=report_files.read(given), name=str(given))
    return given


def write(document: report.Report, out: Path) -> None:
    """Write `report.json` and `junit.xml` to a folder, each whole or not at all.

    Raises:
        PublishError: the folder cannot be made, or the disk is full.
    """
    report_files.write_files(out, {"report.json": report_files.encode(document), "junit.xml": junit.render(document)})


def _backend(name: str | None) -> str:
    if name is None:
        raise errors.ConfigError(
            "which store?", f"Give --backend, or `backend` in {settings.FILE}: {', '.join(registry.BACKENDS)}."
        )
    return name


def _check(*, in_place: bool, url: str | None, keep: bool, only: tuple[str, ...], sample: int | None) -> None:
    if in_place and not url:
        raise errors.ConfigError("--in-place without --url", "In place, an existing store is replayed: say which.")
    if keep and not url:
        raise errors.ConfigError("--keep without --url", "A store that memregress starts is gone after the run.")
    if only and sample is not None:
        raise errors.ConfigError("--only and --sample are given", "Keep one of them.")
