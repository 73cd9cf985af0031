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
    if len(set(hits)) < len(hits):
        return True
    return len(hits) < scene.k(case) and bool((scene.run.stored.copies[hits] > 1).any())


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    copies = scene.run.stored.copies
    many = int((copies > 1).sum())
    return [
        f"{many:,} memories are stored more than once, up to {copies.max()} times; their copies fill the first k hits",
        *_merged(cases, scene),
    ]


def _merged(cases: Sequence[Case], scene: Scene) -> list[str]:
    for case in cases:
        hits = scene.hits(case)
        if len(hits) < scene.k(case) and len(set(hits.tolist())) == len(hits):
            return [f"the store merges copies after the limit: {len(hits)} of {scene.k(case)} hits came back"]
    return []


CAUSE = Cause(
    code="MR601",
    name="duplicated",
    title="copies of memories take the slots of others",
    applies=_applies,
    evidence=_evidence,
    remedy="Delete the copies and give the id a unique key, so that a load that runs twice changes nothing.",
)
