"""no search through the index reaches the memory, however thorough."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene


def _applies(case: Case, scene: Scene) -> bool:
    return case.ladder is not None and case.ladder.exact is True and case.ladder.wide is False


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    return [
        "exact search finds them, the index at its widest does not",
        *([] if isnan(scene.rebuilt_share) else [f"a fresh build of the same index finds {scene.rebuilt_share:.0%}"]),
        "no path of the graph leads there: many equal vectors do that, or inner product over uneven lengths",
    ]


CAUSE = Cause(
    code="MR705",
    name="graph-island",
    title="no search through the index reaches the memory, however thorough",
    applies=_applies,
    evidence=_evidence,
    remedy=(
        "Remove duplicate vectors, normalise vectors and search by cosine, or build with a larger m and "
        "ef_construction."
    ),
)
