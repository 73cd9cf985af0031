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
        *_few_components(_comparable(cases, scene), scene),
        f"cosine similarity of stored and recorded vector: {min(cosines):.4f} to {max(cosines):.4f}",
        "no rounding, scaling, padding or mix-up with another memory of the golden set explains it",
    ]


def _few_components(cases: Sequence[Any], scene: Scene) -> list[str]:
    """Tell of the first memory of which only a few components differ: no embedding does that."""
    for case in cases:
        golden = scene.vector(case.row)
        places = np.flatnonzero(case.stored.vector != golden)
        if 0 < len(places) <= len(golden) // 10:
            place = int(places[0])
            was, now = float(golden[place]), float(case.stored.vector[place])
            return [
                f"{case.id} differs in {len(places)} of {len(golden)} components only: damaged, or edited by hand",
                f"its component {place + 1} was {was:.6g} and is {now:.6g}",
            ]
    return []


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
