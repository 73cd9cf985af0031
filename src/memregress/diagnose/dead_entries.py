"""deleted rows that are still in the index take the places of live ones."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene


def _applies(case: Case, scene: Scene) -> bool:
    ladder, dead = case.ladder, scene.run.info.dead
    if ladder is None or not ladder.used_index or not ladder.exact or ladder.rebuilt is False:
        return False
    lacking = min(scene.k(case), ladder.exact_hits) - ladder.hits
    return 0 < lacking <= dead and not scene.filtered(case)


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    ladder = next(case.ladder for case in cases if case.ladder is not None)
    lines = [
        f"the search returned {ladder.hits} of the {ladder.exact_hits} that exact search returns, without any filter",
        f"{scene.run.info.dead:,} deleted or updated rows are not cleaned up yet, and the index still visits them",
    ]
    return [*lines, "a fresh build of the same index finds them"] if ladder.rebuilt else lines


CAUSE = Cause(
    code="MR706",
    name="dead-entries",
    title="deleted rows that are still in the index take the places of live ones",
    applies=_applies,
    evidence=_evidence,
    remedy="Let the store clean up after deletions, or build the index {index} again.",
)
