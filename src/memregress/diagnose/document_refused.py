"""the index refused the document: it is stored, and no search finds it."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    return case.copies > 0 and case.row in scene.run.rejected


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    reasons = sorted({scene.run.rejected[case.row] for case in cases if case.row in scene.run.rejected})
    return [
        f"the documents are stored, and the index {scene.run.info.index} does not hold them: writing raised no error",
        *(f"why: {reason}" for reason in reasons[:3]),
    ]


CAUSE = Cause(
    code="MR213",
    name="document-refused",
    title="the index refused the document: it is stored, and no search finds it",
    applies=_applies,
    evidence=_evidence,
    remedy="Write {ids} again, in the form that the index takes.",
    verdict=Verdict.UNREACHABLE,
)
