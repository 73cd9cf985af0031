"""a memory was returned to a user it does not belong to."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    return case.verdict is Verdict.LEAKED


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    askers = [scene.searches(case).users[case.search] for case in cases]
    return [
        f"{case.id} of user {case.user!r} was returned to user {asker!r}"
        for case, asker in zip(cases[:3], askers, strict=False)
    ]


CAUSE = Cause(
    code="MR501",
    name="leaked-across-users",
    title="a memory was returned to a user it does not belong to",
    applies=_applies,
    evidence=_evidence,
    remedy="Put the user back into the query's filter; do not rely on row security that the role bypasses.",
)
