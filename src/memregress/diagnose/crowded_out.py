"""rows that are no recorded memories take the slots."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict
from memregress.run import FOREIGN


def _applies(case: Case, scene: Scene) -> bool:
    return case.verdict is Verdict.OUTRANKED and bool((scene.hits(case) == FOREIGN).any())


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    names = [id_ for case in cases[:3] for id_ in scene.searches(case).answers.foreign.get(case.search, [])]
    return [f"above them stand ids that the golden set does not know, e.g. {', '.join(names[:3])}"]


CAUSE = Cause(
    code="MR602",
    name="crowded-out",
    title="rows that are no recorded memories take the slots",
    applies=_applies,
    evidence=_evidence,
    remedy=(
        "If the store rightly holds more than was recorded, record the golden set anew; else delete the rows "
        "that should not be there."
    ),
)
