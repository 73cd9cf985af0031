"""a memory came back that the query must never return."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.compare import Witness
from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    if case.verdict is not Verdict.LEAKED or case.witness is not Witness.QUERY:
        return False
    return case.id in scene.golden.queries[scene.run.positions[case.search]].forbidden


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    queries = [scene.golden.queries[scene.run.positions[case.search]].id for case in cases]
    return [
        f"{case.id} was returned to query {query}, which forbids it"
        for case, query in zip(cases[:3], queries, strict=False)
    ]


CAUSE = Cause(
    code="MR502",
    name="forbidden-returned",
    title="a memory came back that the query must never return",
    applies=_applies,
    evidence=_evidence,
    remedy="Look at what should have kept {ids} out: a deletion, an expiry, a filter.",
)
