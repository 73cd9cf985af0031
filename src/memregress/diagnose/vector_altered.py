"""the stored vector is another one than was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memregress import similarity
from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Metric


def _applies(case: Case, scene: Scene) -> bool:
    return case.stored is not None and "vector" in case.differs


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    cosines = [
        similarity.pairs(Metric.COSINE, case.stored.vector, scene.vector(case.row))
        for case in _comparable(cases, scene)
    ]
    if not cosines:
        return [f"stored with {cases[0].dimensions} dimensions, recorded with {scene.golden.shape.dimensions}"]
    if not all(np.isfinite(case.stored.vector).all() for case in _comparable(cases, scene)):
        return ["stored with components that are no numbers (NaN or infinite): no search finds such a vector"]
    return [
        f"cosine similarity of stored and recorded vector: {min(cosines):.4f} to {max(cosines):.4f}",
        "no rounding, scaling, padding or mix-up with another memory of the golden set explains it",
    ]


def _comparable(cases: Sequence[Case], scene: Scene) -> list[Any]:
    return [case for case in cases if case.stored is not None and case.dimensions == scene.golden.shape.dimensions]


CAUSE = Cause(
    code="MR209",
    name="vector-altered",
    title="the stored vector is another one than was recorded",
    applies=_applies,
    evidence=_evidence,
    remedy="Write the vectors of {ids} again. If the embedding model was changed on purpose, record a new golden set.",
)
