"""How much a number may move before it counts as moved: what the stored vector type can hold, and no more."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memregress.model import Metric

Doubles = npt.NDArray[np.float64]

PER_TYPE = {"float64": 1e-6, "float32": 1e-6, "float16": 1e-3, "bfloat16": 8e-3, "int8": 8e-3}
"""Relative error of a similarity: rounding of the components (24, 11 and 8 bits), and of the store's own sum."""
COMPONENT = {"float64": 1e-6, "float32": 1e-6, "float16": 6e-4, "bfloat16": 4e-3, "int8": 6e-3}
"""Relative error of a component, against the vector's largest one."""
WIDE_SUM = 512
"""Dimensions from which on the store's single-precision sum adds an error of its own, in proportion to them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tolerance:
    """`value` is relative: of 1 for cosine, of the largest product of norms (`scale`) for the other metrics."""

    value: float
    origin: str
    component: float
    metric: Metric
    scale: float = 1.0

    def slack(self, similarity: npt.ArrayLike) -> Doubles:
        """How far similarities of this size may move.

        A Euclidean distance comes from the root of a sum, so near 0 it is much less certain than its square.
        """
        values = np.asarray(similarity, np.float64)
        if self.metric is Metric.L2:
            return np.sqrt(values**2 + 4 * self.value * self.scale) - np.abs(values)
        return np.full(values.shape, self.value * (1.0 if self.metric is Metric.COSINE else self.scale))


def choose(
    *, metric: Metric, stored_as: str, dimensions: int, scale: float, given: float | None, source: str | None = None
) -> Tolerance:
    """The user's tolerance if they gave one (`source` says where), else what the stored type can hold."""
    component = COMPONENT.get(stored_as, COMPONENT["float16"])
    if given is not None:
        return Tolerance(value=given, origin=source or "given", component=component, metric=metric, scale=scale)
    base = PER_TYPE.get(stored_as, PER_TYPE["float16"])
    value = base * max(1.0, dimensions / WIDE_SUM)
    origin = f"what {stored_as} holds at {dimensions} dimensions"
    return Tolerance(
        value=float(f"{value:.1e}"), origin=origin, component=component, metric=metric, scale=max(scale, math.ulp(1.0))
    )
