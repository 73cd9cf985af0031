"""the store refused the memory."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    return case.verdict is Verdict.MISSING and case.row in scene.run.rejected


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    reasons = sorted({scene.run.rejected[case.row] for case in cases if case.row in scene.run.rejected})
    return [f"the store's own words: {reason}" for reason in reasons[:3]]


CAUSE = Cause(
    code="MR203",
    name="row-rejected",
    title="the store refused the memory",
    applies=_applies,
    evidence=_evidence,
    remedy="Change the constraint, trigger or column type that refuses it, or what your application writes.",
)
