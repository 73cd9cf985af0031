"""the approximate search is not thorough enough."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene


def _applies(case: Case, scene: Scene) -> bool:
    return case.ladder is not None and bool(case.ladder.exact) and bool(case.ladder.wide)


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    lines = [
        "exact search finds them, and so does the same index at its widest",
        f"it misses them at {scene.facts['settings'] or 'its default settings'}",
    ]
    if not isnan(scene.rebuilt_share):
        lines.append(f"a fresh build with these settings finds {scene.rebuilt_share:.0%} of them")
    return lines


CAUSE = Cause(
    code="MR702",
    name="search-effort",
    title="the approximate search is not thorough enough",
    applies=_applies,
    evidence=_evidence,
    remedy="Search more thoroughly: raise the effort of the index {index}.",
)
