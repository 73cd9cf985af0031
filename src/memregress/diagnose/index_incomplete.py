"""the index does not hold the memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene


def _applies(case: Case, scene: Scene) -> bool:
    if case.ladder is None or scene.run.info.index is None:
        return False
    return case.ladder.exact is not False and case.ladder.wide_unfiltered is False and case.ladder.rebuilt is not False


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    lines = ["exact search finds them, the index at its widest does not, even for their own vectors"]
    if scene.run.info.predicate:
        lines.append(f"the index is partial: it holds only rows with {scene.run.info.predicate}")
    elif not isnan(scene.rebuilt_share):
        lines.append(f"a fresh build of the same index finds {scene.rebuilt_share:.0%} of them")
    return lines


CAUSE = Cause(
    code="MR703",
    name="index-incomplete",
    title="the index does not hold the memory",
    applies=_applies,
    evidence=_evidence,
    remedy="Build the index {index} again.",
)
