"""all expiry times are off by the same time."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from datetime import timedelta

from memregress.diagnose.cause import Systemic
from memregress.diagnose.lifetime_changed import MANY, Life, lives, samples
from memregress.diagnose.scene import Case, Scene

SHIFTS = 2
"""Different shifts that one mistake makes: a time zone has two, in summer and in winter."""
ZONE = 900
"""Seconds that the offsets of time zones are multiples of."""


def _seconds(life: Life) -> int | None:
    if life.recorded is None or life.stored is None:
        return None
    return round((life.stored - life.recorded).total_seconds())


def _shifts(cases: Sequence[Case], scene: Scene) -> collections.Counter[int]:
    return collections.Counter(shift for life in lives(cases, scene) if (shift := _seconds(life)) is not None)


def _explains(cases: Sequence[Case], scene: Scene) -> list[Case]:
    common = {shift for shift, count in _shifts(cases, scene).most_common(SHIFTS) if count >= MANY}
    return [life.case for life in lives(cases, scene) if _seconds(life) in common]


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    lines = [
        f"{count:,} expire {timedelta(seconds=abs(shift))} {'later' if shift > 0 else 'earlier'}"
        + (": the offset of a time zone" if shift % ZONE == 0 and abs(shift) <= 14 * 3600 else "")
        for shift, count in _shifts(cases, scene).most_common(SHIFTS)
    ]
    return [*lines, *samples(cases, scene)]


CAUSE = Systemic(
    code="MR303",
    name="times-shifted",
    title="all expiry times are off by the same time",
    of=("MR301",),
    explains=_explains,
    evidence=_evidence,
    remedy=("Write times with their zone, in UTC: timestamptz, not timestamp; then set expires_at of {ids} back."),
)
