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
        f"{scene.run.info.location} has {scene.run.info.rows:,} rows, and none with the id of any of these memories"
    ]


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
