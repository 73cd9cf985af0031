"""all lifetimes are longer or shorter by the same factor."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from memregress.diagnose.cause import Systemic
from memregress.diagnose.lifetime_changed import MANY, Life, lives, samples
from memregress.diagnose.scene import Case, Scene

SECONDS = 2.0
"""How far an end may be from where the factor puts it."""
SPREAD = 60.0
"""Seconds by which ends must have moved differently, or a shift explains them as well."""


def _explains(cases: Sequence[Case], scene: Scene) -> list[Case]:
    known = [life for life in lives(cases, scene) if life.recorded and life.stored and life.recorded > life.born]
    if len(known) < MANY:
        return []
    found = [life for life in known if abs(_missed(life, _factor(known))) <= SECONDS]
    shifts = [_moved(life) for life in found]
    apart = max(shifts, default=0) - min(shifts, default=0)
    return [life.case for life in found] if len(found) >= MANY and apart >= SPREAD else []


def _factor(known: Sequence[Life]) -> float:
    """The most usual quotient of stored and recorded lifetime."""
    quotients = [
        (life.stored - life.born) / (life.recorded - life.born) for life in known if life.stored and life.recorded
    ]
    return statistics.median(quotients)


def _missed(life: Life, factor: float) -> float:
    if life.recorded is None or life.stored is None:
        return float("inf")
    return (life.stored - life.born - factor * (life.recorded - life.born)).total_seconds()


def _moved(life: Life) -> float:
    return (life.stored - life.recorded).total_seconds() if life.stored and life.recorded else 0.0


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    known = lives(cases, scene)
    return [
        f"counted from their creation, lifetimes are {_factor(known):g} times the recorded ones",
        *samples(cases, scene),
    ]


CAUSE = Systemic(
    code="MR304",
    name="lifetimes-scaled",
    title="all lifetimes are longer or shorter by the same factor",
    of=("MR301",),
    explains=_explains,
    evidence=_evidence,
    remedy=(
        "Look at the unit (seconds, milliseconds, days) and the default of the expiry policy; then set expires_at of"
        " {ids} back."
    ),
)
