"""the store holds vectors of another dimension."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene


def _applies(case: Case, scene: Scene) -> bool:
    return scene.run.refused is not None


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    lines = [scene.run.refused or ""]
    reasons = {scene.run.rejected[case.row] for case in cases if case.row in scene.run.rejected}
    return lines + [f"the store's own words: {reason}" for reason in sorted(reasons)[:2]]


CAUSE = Cause(
    code="MR101",
    name="dimension-mismatch",
    title="the store holds vectors of another dimension",
    applies=_applies,
    evidence=_evidence,
    remedy=(
        "Give the vector column {dimensions} dimensions, or record the golden set anew with the new model's vectors."
    ),
)
