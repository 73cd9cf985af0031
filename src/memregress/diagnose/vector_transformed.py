"""the components of the vector were transformed on their way."""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Floats

CLOSE = 1e-5
"""Of the largest component: what is left of a difference that a transformation explains."""


def _negated(vector: Floats) -> Floats:
    return -vector


def _reversed(vector: Floats) -> Floats:
    return vector[::-1]


def _byte_swapped(vector: Floats) -> Floats:
    return vector.byteswap()


TRANSFORMATIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "has the other sign": _negated,
    "has its components last to first": _reversed,
    "has the bytes of each component the other way round (big-endian read as little-endian)": _byte_swapped,
}


def applies(case: Case, scene: Scene) -> bool:
    """Whether one vector alone shows how it was transformed."""
    return comparable(case, scene) and _how(case, scene) is not None


def comparable(case: Case, scene: Scene) -> bool:
    """Whether another vector of the same dimensions is stored."""
    return case.stored is not None and "vector" in case.differs and case.dimensions == scene.golden.shape.dimensions


def _how(case: Case, scene: Scene) -> str | None:
    """Name the transformation that makes the golden vector the stored one."""
    if case.stored is None:
        return None
    stored, golden = case.stored.vector, scene.vector(case.row)
    if len(golden) < 2 or not golden.any():
        return None
    for words, transform in TRANSFORMATIONS.items():
        if _equal(stored, transform(golden)):
            return words
    if not _equal(np.sort(stored), np.sort(golden)):
        return None
    shift = next((shift for shift in range(1, len(golden)) if _equal(stored, np.roll(golden, shift))), None)
    return "has its components in another order" if shift is None else f"has its components moved by {shift}"


def _equal(one: Floats, other: Floats) -> bool:
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.abs(one - other).max(initial=0) <= CLOSE * np.abs(other).max(initial=0))


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    how = collections.Counter(_how(case, scene) for case in cases if case.stored is not None)
    return [f"{count:,} of {len(cases):,}: the stored vector {text}" for text, count in how.most_common(3) if text]


REMEDY = (
    "Look for what repacks vectors on their way (byte order, layout, a transposed matrix, a step of whitening or"
    " centring); write the vectors of {ids} again, and embed queries the way memories are."
)
CAUSE = Cause(
    code="MR216",
    name="vector-transformed",
    title="the components of the vector were transformed on their way",
    applies=applies,
    evidence=_evidence,
    remedy=REMEDY,
)
