"""the filter is applied after the approximate search, which it starves."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene


def _applies(case: Case, scene: Scene) -> bool:
    if case.ladder is None or not case.ladder.exact:
        return False
    if not case.ladder.used_index and scene.run.info.settings.get("filter") != "post":
        return False
    return scene.filtered(case) and case.ladder.hits < min(scene.k(case), case.ladder.exact_hits)


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    ladder = next(case.ladder for case in cases if case.ladder is not None)
    return [
        f"the search returned {ladder.hits} of the {ladder.exact_hits} that exact search with the same filter returns",
        f"user and filter are applied to the index's nearest candidates only ({scene.facts['settings']})",
    ]


CAUSE = Cause(
    code="MR701",
    name="filter-starves",
    title="the filter is applied after the approximate search, which it starves",
    applies=_applies,
    evidence=_evidence,
    remedy="Let the search go on until k are found, or give the filter an index or a partition of its own.",
)
