"""the index does not hold the memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene

NEARLY_ALL = 0.95
"""A fresh build holds what a damaged one lost; islands of a graph it finds by chance only, and has others."""


def _applies(case: Case, scene: Scene) -> bool:
    ladder = case.ladder
    if ladder is None or ladder.exact is False or ladder.wide_unfiltered is not False or ladder.rebuilt is False:
        return False
    return isnan(scene.rebuilt_share) or scene.rebuilt_share >= NEARLY_ALL


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    lines = ["exact search finds them, the index at its widest does not, even for their own vectors"]
    if not isnan(scene.rebuilt_share):
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
