"""the vector lost precision on its way."""

from __future__ import annotations

import collections
from collections.abc import Sequence

import numpy as np

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Floats


def _applies(case: Case, scene: Scene) -> bool:
    return (
        case.stored is not None
        and "vector" in case.differs
        and _how(case.stored.vector, scene.vector(case.row)) is not None
    )


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    how = collections.Counter(
        _how(case.stored.vector, scene.vector(case.row)) for case in cases if case.stored is not None
    )
    return [f"{count:,} of {len(cases):,} equal the golden vector {text}" for text, count in how.most_common(3) if text]


def _how(stored: Floats, golden: Floats) -> str | None:
    """Name the rounding that makes the golden vector the stored one."""
    if len(stored) != len(golden) or not stored.any() or not np.isfinite(stored).all():
        return None
    roundings: list[tuple[str, Floats]] = [
        ("rounded to half precision (float16)", golden.astype(np.float16).astype(np.float32)),
        ("rounded to bfloat16", _bfloat16(golden)),
        ("cut to bfloat16", (golden.view(np.uint32) & 0xFFFF0000).astype(np.uint32).view(np.float32)),
        *((f"rounded to {digits} decimals", np.round(golden, digits)) for digits in range(8, 1, -1)),
    ]
    exact = next((name for name, rounded in roundings if np.allclose(stored, rounded, rtol=1e-6, atol=1e-9)), None)
    return exact or _quantised(stored, golden)


def _quantised(stored: Floats, golden: Floats) -> str | None:
    """Whether components are whole multiples of one step, and the golden ones to within half of it."""
    largest = float(np.abs(stored).max())
    if np.allclose(np.abs(stored), largest, rtol=1e-4) and np.array_equal(stored > 0, golden > 0) and len(stored) > 7:
        return "reduced to their signs"
    for bits, levels in ((8, (127, 127.5, 128)), (4, (7, 7.5, 8))):
        for level in levels:
            step = largest / level
            steps = stored / step
            whole = np.abs(steps - np.round(steps)).max() < 1e-3 * level / 127
            if whole and np.abs(stored - golden).max() <= 0.51 * step:
                return f"rounded to integers of {bits} bits"
    return None


def _bfloat16(vector: Floats) -> Floats:
    """Round to the nearest number of 8 significant bits, ties to even."""
    bits = vector.view(np.uint32)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    return (rounded & 0xFFFF0000).astype(np.uint32).view(np.float32)


CAUSE = Cause(
    code="MR207",
    name="precision-lost",
    title="the vector lost precision on its way",
    applies=_applies,
    evidence=_evidence,
    remedy=(
        "Pass vectors in binary, or as the shortest text that reads back the same (repr); where half precision is "
        "meant, let the column's type say so (halfvec)."
    ),
)
