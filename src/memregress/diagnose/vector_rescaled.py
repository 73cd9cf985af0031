"""the vector was scaled to another length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Floats

CLOSE = 1e-5
"""Of the largest component: what rounding leaves of a multiple."""


def _applies(case: Case, scene: Scene) -> bool:
    if case.stored is None or "vector" not in case.differs or case.dimensions != scene.golden.shape.dimensions:
        return False
    return _proportional(case.stored.vector, scene.vector(case.row))


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    lengths = [float(np.linalg.norm(case.stored.vector)) for case in cases if case.stored is not None]
    was = [float(np.linalg.norm(scene.vector(case.row))) for case in cases[:1]]
    unit = "; every stored vector has length 1" if lengths and np.allclose(lengths, 1, atol=1e-3) else ""
    return [f"same direction, other length: {was[0]:.4f} became {lengths[0]:.4f}{unit}"]


def _proportional(stored: Floats, golden: Floats) -> bool:
    """Whether one is a positive multiple of the other, component by component."""
    if not np.isfinite(stored).all():
        return False
    one, other = stored.astype(np.float64), golden.astype(np.float64)  # the square of a large float32 overflows
    length = float(other @ other)
    factor = float(one @ other) / length if length else 0.0
    return factor > 0 and bool(np.abs(one - factor * other).max() <= CLOSE * np.abs(one).max())


CAUSE = Cause(
    code="MR208",
    name="vector-rescaled",
    title="the vector was scaled to another length",
    applies=_applies,
    evidence=_evidence,
    remedy=(
        "Normalise everywhere or nowhere: where vectors are written, where queries are embedded, and in the golden set."
    ),
)
