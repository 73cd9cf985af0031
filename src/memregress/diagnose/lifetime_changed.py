"""the memory lives shorter or longer than recorded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict

MANY = 5
"""Memories from which on what their lifetimes have in common is no accident."""


class Life(NamedTuple):
    """When a memory was created and ends as recorded, and when it ends in the store; None for never."""

    case: Case
    born: datetime
    recorded: datetime | None
    stored: datetime | None


def lives(cases: Sequence[Case], scene: Scene) -> list[Life]:
    """Look up the lifetimes of memories that were kept; one without a time of creation counts from the capture."""
    kept = [case for case in cases if case.stored is not None]
    captured = scene.golden.manifest.captured_at
    return [
        Life(case, born or captured, end, case.stored.expires_at)
        for case, (born, end) in zip(kept, _recorded([case.row for case in kept], scene), strict=True)
        if case.stored is not None
    ]


def _recorded(rows: Sequence[int], scene: Scene) -> list[tuple[datetime | None, datetime | None]]:
    return [
        times
        for batch in scene.golden.batches(list(rows))
        for times in zip(batch.created_at, batch.expires_at, strict=True)
    ]


def _applies(case: Case, scene: Scene) -> bool:
    return case.verdict is Verdict.EXPIRED


def samples(cases: Sequence[Case], scene: Scene) -> list[str]:
    """Tell of the first few what was recorded and what is stored."""
    return [
        f"{life.case.id} should expire {_when(life.recorded)}, and expires {_when(life.stored)}"
        for life in lives(cases[:3], scene)
    ]


def _when(time: datetime | None) -> str:
    return "never" if time is None else time.isoformat()


CAUSE = Cause(
    code="MR301",
    name="lifetime-changed",
    title="the memory lives shorter or longer than recorded",
    applies=_applies,
    evidence=samples,
    remedy="Set expires_at of {ids} back, and look at the expiry policy and at time zones in the migration.",
)
