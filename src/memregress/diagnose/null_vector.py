"""the row is there, its vector is not."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    return case.verdict is Verdict.MISSING and case.copies > 0 and case.dimensions == 0


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    return [f"in {scene.run.info.location} the vector is NULL: no index holds it, and no search finds it"]


CAUSE = Cause(
    code="MR201",
    name="null-vector",
    title="the row is there, its vector is not",
    applies=_applies,
    evidence=_evidence,
    remedy="Write the vectors of {ids} again, and look for the write that swallowed an embedding error.",
)
