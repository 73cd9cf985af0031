"""the memory is not in the store."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    return case.verdict is Verdict.MISSING and case.copies == 0


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    return [
        f"{scene.run.info.location} has {scene.run.info.rows:,} rows, and none with the id of any of these memories",
        *_stretch([case.row for case in cases], scene),
        *_counted(scene),
    ]


def _counted(scene: Scene) -> list[str]:
    """What a server that deletes of its own accord says of it."""
    settings = scene.run.info.settings
    known = [f"{name} = {settings[name]:,}" for name in ("expired_keys", "evicted_keys") if settings.get(name)]
    return [f"the server deletes by itself, and has since it started: {', '.join(known)}"] if known else []


def _stretch(rows: Sequence[int], scene: Scene) -> list[str]:
    """Say if they lie side by side in the golden set, as what one interrupted or skipped batch leaves out does."""
    first, last, count = min(rows), max(rows), len(scene.golden)
    if len(rows) < 3 or last - first + 1 != len(rows) or len(rows) == count:
        return []
    end = "the end" if last == count - 1 else scene.golden.ids[last]
    return [f"they are one stretch of the golden set, from {scene.golden.ids[first]} to {end}: a load that left it out"]


CAUSE = Cause(
    code="MR202",
    name="row-missing",
    title="the memory is not in the store",
    applies=_applies,
    evidence=_evidence,
    remedy=(
        "Run the migration again for the ids {ids}; look for a skipped batch, a filter in its SELECT, or a "
        "swallowed error."
    ),
)
