"""the memory is stored under another user."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    return case.verdict is Verdict.ALTERED and "user" in case.differs


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    kept = [case for case in cases if case.stored is not None]
    return [
        f"{case.id} belongs to {case.user!r} and is stored under {case.stored.user!r}"
        for case in kept[:3]
        if case.stored
    ]


CAUSE = Cause(
    code="MR210",
    name="wrong-user",
    title="the memory is stored under another user",
    applies=_applies,
    evidence=_evidence,
    remedy="Set the user of {ids} back, and look at how the migration maps tenants.",
)
