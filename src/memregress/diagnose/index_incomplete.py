"""the index does not hold the memory."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene


def _applies(case: Case, scene: Scene) -> bool:
    ladder, control = case.ladder, scene.evidence.control
    if ladder is None or ladder.exact is False or ladder.wide_unfiltered is not False or not ladder.rebuilt:
        return False
    return control is not None and control.searches > 0 and control.reached == control.searches


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    lines = ["exact search finds them, the index at its widest does not, even for their own vectors"]
    control = scene.evidence.control
    if control is not None:
        lines.append(f"a fresh build of the same index finds them, and reaches all of {control.searches:,} others")
    return lines


CAUSE = Cause(
    code="MR703",
    name="index-incomplete",
    title="the index does not hold the memory",
    applies=_applies,
    evidence=_evidence,
    remedy="Build the index {index} again.",
)
