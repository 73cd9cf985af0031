"""all vectors were moved by the same amount."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memregress.diagnose.cause import Systemic
from memregress.diagnose.scene import Case, Scene, pairs_of_vectors

MANY = 5
"""Memories from which on what they have in common is no accident."""
CLOSE = 1e-4
"""Of the offset's length: how far differences may lie apart."""


def _explains(cases: Sequence[Case], scene: Scene) -> list[Case]:
    comparable, stored, recorded = pairs_of_vectors(cases, scene)
    if len(comparable) < MANY:
        return []
    offsets = stored - recorded
    offset = np.median(offsets, axis=0)
    near = np.linalg.norm(offsets - offset, axis=1) <= CLOSE * np.linalg.norm(offset)
    found = [case for case, close in zip(comparable, near.tolist(), strict=True) if close]
    return found if len(found) >= MANY else []


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    comparable, stored, recorded = pairs_of_vectors(cases, scene)
    offset = np.median(stored - recorded, axis=0)
    length = np.linalg.norm(offset)
    return [
        f"{len(comparable):,} stored vectors are the recorded ones plus one and the same vector of length {length:.4f}"
    ]


CAUSE = Systemic(
    code="MR217",
    name="vectors-offset",
    title="all vectors were moved by the same amount",
    of=("MR209",),
    explains=_explains,
    evidence=_evidence,
    remedy=(
        "Vectors were centred (or no longer are): do the same to queries and record a new golden set, or write the"
        " vectors of {ids} as they were embedded."
    ),
)
