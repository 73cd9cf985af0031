"""no rule explains it."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene


def _applies(case: Case, scene: Scene) -> bool:
    return True


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    ladder = next((case.ladder for case in cases if case.ladder is not None), None)
    if ladder is None:
        return ["the memory is stored as recorded; the store was not asked further"]
    asked = {
        "exact search": ladder.exact,
        "exact search without filter": ladder.exact_unfiltered,
        "the same search again": ladder.again,
        "the widest search": ladder.wide,
        "a fresh index": ladder.rebuilt,
    }
    return [
        f"{name}: {'finds it' if found else 'does not find it'}" for name, found in asked.items() if found is not None
    ]


CAUSE = Cause(
    code="MR999",
    name="unexplained",
    title="no rule explains it",
    applies=_applies,
    evidence=_evidence,
    remedy=(
        "Run again with --only and the ids {ids} --keep, and look at the store; please report it, it is a gap"
        " in memregress."
    ),
)
