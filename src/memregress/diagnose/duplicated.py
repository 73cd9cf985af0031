"""copies of memories take the slots of others."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    if case.verdict not in (Verdict.OUTRANKED, Verdict.UNREACHABLE):
        return False
    hits = [row for row in scene.hits(case).tolist() if row >= 0]
    return len(set(hits)) < len(hits)


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    copies = scene.run.stored.copies
    many = int((copies > 1).sum())
    return [
        f"{many:,} memories are stored more than once, up to {copies.max()} times; their copies fill the first k hits"
    ]


CAUSE = Cause(
    code="MR601",
    name="duplicated",
    title="copies of memories take the slots of others",
    applies=_applies,
    evidence=_evidence,
    remedy="Delete the copies and give the id a unique key, so that a load that runs twice changes nothing.",
)
