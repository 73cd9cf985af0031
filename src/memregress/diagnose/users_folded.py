"""users that differ in nothing but letter case are taken for one."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    if case.verdict is not Verdict.LEAKED or case.user is None or case.search < 0:
        return False
    asker = scene.searches(case).users[case.search]
    return asker is not None and asker != case.user and asker.casefold() == case.user.casefold()


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    askers = [scene.searches(case).users[case.search] for case in cases]
    return [
        f"{case.id} of user {case.user!r} was returned to user {asker!r}"
        for case, asker in zip(cases[:3], askers, strict=False)
    ]


CAUSE = Cause(
    code="MR550",
    name="users-folded",
    title="users that differ in nothing but letter case are taken for one",
    applies=_applies,
    evidence=_evidence,
    remedy="Compare users byte by byte: a column, field or collation that folds case lets one see another's memories.",
)
