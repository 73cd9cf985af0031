"""the memories were embedded anew, with another model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memregress.diagnose.cause import Systemic
from memregress.diagnose.scene import Case, Scene, pairs_of_vectors
from memregress.model import Floats

MANY = 10
"""Memories with other vectors and the same content, from which on it is no edit of single ones."""
SAME_GEOMETRY = 1e-3
"""How far similarities among memories may differ where a space was only turned."""
COMPARED = 200
NEARLY = 0.9
"""Cosine similarity from which on a vector is the same model's, of another version or runtime."""


def _explains(cases: Sequence[Case], scene: Scene) -> list[Case]:
    moved = [case for case in cases if "content" not in case.differs]
    return moved if len(moved) >= MANY else []


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    comparable, stored, recorded = pairs_of_vectors(cases, scene)
    if len(comparable) < 2:
        return [f"{len(cases):,} memories have other vectors, and the content they were recorded with"]
    cosines = (_unit(stored) * _unit(recorded)).sum(axis=1)
    return [
        f"{len(cases):,} memories have other vectors, and the content they were recorded with",
        f"cosine similarity of stored and recorded vectors: {cosines.min():.4f} to {cosines.max():.4f}",
        _meaning(cosines, stored[:COMPARED], recorded[:COMPARED]),
        *_rest(cases, scene),
    ]


def _meaning(cosines: npt.NDArray[np.floating], stored: Floats, recorded: Floats) -> str:
    if cosines.min() >= NEARLY:
        return "nearly the same: another version, runtime or precision of the same model"
    if np.abs(_unit(stored) @ _unit(stored).T - _unit(recorded) @ _unit(recorded).T).max() <= SAME_GEOMETRY:
        return "the similarities among them are unchanged: the same vectors in another basis (a rotation or projection)"
    return "neither rounding nor any transformation explains it: another model, or other text given to it"


def _rest(cases: Sequence[Case], scene: Scene) -> list[str]:
    others = int(scene.run.stored.checked.sum()) - len(cases)
    if not others:
        return []
    return [f"{others:,} others have their old vectors: vectors of two models in one index do not find each other"]


def _unit(vectors: Floats) -> npt.NDArray[np.float64]:
    values = vectors.astype(np.float64)
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    unit: npt.NDArray[np.float64] = values / np.where(lengths == 0, 1, lengths)
    return unit


CAUSE = Systemic(
    code="MR218",
    name="model-changed",
    title="the memories were embedded anew, with another model",
    of=("MR209",),
    explains=_explains,
    evidence=_evidence,
    remedy=(
        "If it is meant, embed all memories and all queries with the new model, and record a new golden set; else write"
        " the old vectors of {ids} back."
    ),
)
