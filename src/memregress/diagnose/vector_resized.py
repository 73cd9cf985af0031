"""the vector was padded or cut."""

from __future__ import annotations

import collections
from collections.abc import Sequence

import numpy as np

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Floats


def _applies(case: Case, scene: Scene) -> bool:
    return case.stored is not None and _how(case.stored.vector, scene.vector(case.row)) is not None


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    how = collections.Counter(
        _how(case.stored.vector, scene.vector(case.row)) for case in cases if case.stored is not None
    )
    return [f"{count:,} of {len(cases):,}: {text}" for text, count in how.most_common(3) if text]


def _how(stored: Floats, golden: Floats) -> str | None:
    """Say how a stored vector is a golden one of other length (or with a zero tail); nothing if it is not."""
    shared = min(len(stored), len(golden))
    if len(stored) == len(golden):
        return _zero_tail(stored, golden)
    if shared == 0 or not np.allclose(stored[:shared], golden[:shared], rtol=1e-3, atol=1e-6):
        return _renormalised(stored, golden, shared)
    if len(stored) > len(golden):
        return f"padded from {len(golden)} to {len(stored)} components"
    return f"cut from {len(golden)} to {len(stored)} components"


def _renormalised(stored: Floats, golden: Floats, shared: int) -> str | None:
    """A prefix that was scaled to length 1 again points the same way as the golden prefix."""
    head, tail = stored[:shared], stored[shared:]
    norms = float(np.linalg.norm(head) * np.linalg.norm(golden[:shared]))
    if norms == 0 or tail.any():
        return None
    cosine = float(head @ golden[:shared]) / norms
    return f"cut from {len(golden)} to {len(stored)} components and scaled" if cosine > 0.9999 else None


def _zero_tail(stored: Floats, golden: Floats) -> str | None:
    """The front is the golden one, the rest is 0 though the golden one's is not."""
    last = int(np.flatnonzero(stored)[-1]) + 1 if stored.any() else 0
    same = np.allclose(stored[:last], golden[:last], rtol=1e-3, atol=1e-6)
    return f"components {last + 1} to {len(golden)} are 0" if last > 0 and same and golden[last:].any() else None


CAUSE = Cause(
    code="MR206",
    name="vector-resized",
    title="the vector was padded or cut",
    applies=_applies,
    evidence=_evidence,
    remedy=(
        "Store all {dimensions} components; when a model's vectors are cut on purpose, normalise them again "
        "and record a new golden set."
    ),
)
