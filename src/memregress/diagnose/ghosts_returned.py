"""documents that are gone take the slots: the index returns them still."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    return case.verdict in (Verdict.UNREACHABLE, Verdict.OUTRANKED) and bool(_ghosts(case, scene))


def _ghosts(case: Case, scene: Scene) -> list[str]:
    if case.search < 0:
        return []
    foreign = scene.searches(case).answers.foreign.get(case.search, ())
    return [id_ for id_ in foreign if id_ in scene.evidence.look.ghosts]


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    names = list(dict.fromkeys(id_ for case in cases for id_ in _ghosts(case, scene)))
    return [
        f"searches return {len(names):,} ids that the store does not hold, e.g. {', '.join(names[:3])}",
        "they are expired or deleted, and each takes one of the k places of a search",
    ]


CAUSE = Cause(
    code="MR650",
    name="ghosts-returned",
    title="documents that are gone take the slots: the index returns them still",
    applies=_applies,
    evidence=_evidence,
    remedy="Remove the dead entries from the index {index}, or ask for more than k and leave out what is gone.",
)
