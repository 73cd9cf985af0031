"""the memory lives shorter or longer than recorded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    return case.verdict is Verdict.EXPIRED


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    kept = [case for case in cases if case.stored is not None]
    ends = dict(_expiries(scene, [case.row for case in kept[:3]]))
    return [
        f"{case.id} should expire {_when(ends[case.row])}, and expires {_when(case.stored.expires_at)}"
        for case in kept[:3]
        if case.stored
    ]


def _expiries(scene: Scene, rows: Sequence[int]) -> list[tuple[int, datetime | None]]:
    return [(row, next(scene.golden.batches([row])).expires_at[0]) for row in rows]


def _when(time: datetime | None) -> str:
    return "never" if time is None else time.isoformat()


CAUSE = Cause(
    code="MR301",
    name="lifetime-changed",
    title="the memory lives shorter or longer than recorded",
    applies=_applies,
    evidence=_evidence,
    remedy="Set expires_at of {ids} back, and look at the expiry policy and at time zones in the migration.",
)
