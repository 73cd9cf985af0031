"""Similarity on memregress's own scale, where higher is closer, and exact search over blocks of vectors. Pure.

Cosine similarity, inner product, or minus the Euclidean distance. A vector that is missing (NaN), and a vector of
zeros under cosine, is similar to nothing: NaN, and never among the nearest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from memregress.model import Floats, Metric

Doubles = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]

QUERY_BLOCK = 512
MEMORY_BLOCK = 4_096
_SPARE = 16
"""How many more than k survive the float32 pass; the order among them is decided in float64."""
_NEAR = 1e-3
"""Squared distances below this share of the squared norms are recomputed: subtraction has cancelled them."""


class Vectors(Protocol):
    """float32[n, d], wherever it lies: an array, a memory map, or several of them as one."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, d)"""

    def __getitem__(self, key: slice | Positions, /) -> Floats:
        """Return a run of rows, or the rows at the given positions."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Nearest:
    """The answer of an exact search, best first: int64[m, k] and float32[m, k], padded with -1 and NaN."""

    rows: Positions
    similarity: Floats


def similarity(metric: Metric, queries: Floats, vectors: Floats) -> Floats:
    """Return float32[m, n]: how close each query (float32[m, d]) is to each vector (float32[n, d])."""
    with np.errstate(all="ignore"):
        if metric is Metric.L2:
            return _minus_distance(queries, vectors)
        if metric is Metric.COSINE:
            queries, vectors = unit(queries), unit(vectors)
        return queries @ vectors.T


def unit(vectors: Floats) -> Floats:
    """Return the vectors scaled to length 1; NaN where the length is zero."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    with np.errstate(all="ignore"):
        scaled: Floats = (vectors / lengths[:, None]).astype(np.float32)
    return scaled


def pairs(metric: Metric, left: Floats, right: Floats) -> Doubles:
    """Return float64[...]: the similarity of each left vector to the right vector in its place, without shortcuts."""
    one, other = left.astype(np.float64), right.astype(np.float64)
    with np.errstate(all="ignore"):
        if metric is Metric.L2:
            return -_length(one - other)
        product: Doubles = np.einsum("...j,...j->...", one, other)
        if metric is Metric.COSINE:
            product = np.clip(product / (_length(one) * _length(other)), -1.0, 1.0)
    return product


def _length(vectors: Doubles) -> Doubles:
    squares: Doubles = np.einsum("...j,...j->...", vectors, vectors)
    return np.sqrt(squares)


def _minus_distance(queries: Floats, vectors: Floats) -> Floats:
    """Through |a|² + |b|² - 2ab, which is fast, except for near pairs, which it would get wrong."""
    squared, scale = _squared(queries, vectors)
    distances = np.sqrt(np.maximum(squared, 0))
    for query, row in np.argwhere(squared < _NEAR * scale):
        distances[query, row] = -pairs(Metric.L2, queries[query], vectors[row])
    return -distances


def _squared(queries: Floats, vectors: Floats) -> tuple[Floats, Floats]:
    """Squared distances, and the sums of squared norms they were subtracted from."""
    scale = _energy(queries)[:, None] + _energy(vectors)[None, :]
    return scale - 2 * (queries @ vectors.T), scale


def _energy(vectors: Floats) -> Floats:
    energy: Floats = np.einsum("ij,ij->i", vectors, vectors)
    return energy


def exact_search(metric: Metric, queries: Floats, vectors: Vectors, k: int) -> Nearest:
    """Return the k nearest of the vectors to each query, by comparing all of them; ties in row order.

    A float32 pass in blocks finds a few more than k, float64 decides among those: exact as long as no more than
    `_SPARE` vectors are closer to the k-th than float32 can tell.
    """
    k = min(k, vectors.shape[0])
    best = [
        _Best(min(QUERY_BLOCK, len(queries) - start), min(k + _SPARE, vectors.shape[0]))
        for start in range(0, len(queries), QUERY_BLOCK)
    ]
    centre = _centre(metric, vectors)
    prepared = _prepare(metric, queries, centre)
    for first_row in range(0, vectors.shape[0], MEMORY_BLOCK):
        block = _prepare(metric, vectors[first_row : first_row + MEMORY_BLOCK], centre)
        for number, kept in enumerate(best):
            start = number * QUERY_BLOCK
            kept.add(_closeness(metric, prepared[start : start + QUERY_BLOCK], block), first_row)
    candidates = np.concatenate([kept.rows for kept in best]) if best else np.empty((0, k), dtype=np.int64)
    return _decide(metric, queries, vectors, candidates, k)


def _centre(metric: Metric, vectors: Vectors) -> Floats:
    """A point to measure distances around: they stay, but |a|² + |b|² - 2ab loses fewer digits than at the origin."""
    centre = np.zeros(vectors.shape[1], dtype=np.float32)
    sample = vectors[:MEMORY_BLOCK] if metric is Metric.L2 else centre[None]
    known = sample[np.isfinite(sample).all(axis=1)]
    return known.mean(axis=0, dtype=np.float64).astype(np.float32) if len(known) else centre


def _prepare(metric: Metric, vectors: Floats, centre: Floats) -> Floats:
    if metric is Metric.L2:
        return vectors - centre
    return unit(vectors) if metric is Metric.COSINE else vectors


def _closeness(metric: Metric, queries: Floats, vectors: Floats) -> Floats:
    """What orders as the similarity does, cheaply."""
    with np.errstate(all="ignore"):
        return -_squared(queries, vectors)[0] if metric is Metric.L2 else queries @ vectors.T


class _Best:
    """The best rows so far of every query of a block: with a threshold per query most of a block is never sorted."""

    def __init__(self, queries: int, keep: int) -> None:
        self._keep = keep
        self.rows = np.full((queries, keep), -1, dtype=np.int64)
        self._closeness = np.full((queries, keep), -np.inf, dtype=np.float32)

    def add(self, closeness: Floats, first_row: int) -> None:
        flat = np.flatnonzero(self._candidates(closeness))
        if len(flat) == 0:
            return
        query, column = np.divmod(flat, closeness.shape[1])
        queries = np.concatenate([np.repeat(np.arange(len(self.rows)), self._keep), query]).astype(np.int16)
        values = np.concatenate([self._closeness.ravel(), closeness[query, column]])
        rows = np.concatenate([self.rows.ravel(), column + first_row])
        order = np.argsort(-values, kind="stable")  # of equals the one kept longer stays first: it is the lower row
        order = order[np.argsort(queries[order], kind="stable")]
        first = np.searchsorted(queries[order], np.arange(len(self.rows)))
        kept = order[first[:, None] + np.arange(self._keep)]
        self.rows, self._closeness = rows[kept], values[kept]

    def _candidates(self, closeness: Floats) -> npt.NDArray[np.bool_]:
        worst = self._closeness[:, -1:]
        if closeness.shape[1] > self._keep and np.isneginf(worst).any():
            np.copyto(closeness, -np.inf, where=np.isnan(closeness))
            cut = np.partition(closeness, -self._keep, axis=1)[:, -self._keep, None]
            return (closeness > worst) & (closeness >= cut)
        return closeness > worst  # false for NaN


def _decide(metric: Metric, queries: Floats, vectors: Vectors, rows: Positions, k: int) -> Nearest:
    """Order the surviving rows by their similarity in float64, and keep k."""
    similar = np.full(rows.shape, -np.inf)
    found, place = np.nonzero(rows >= 0)
    for start in range(0, len(found), MEMORY_BLOCK):
        part = slice(start, start + MEMORY_BLOCK)
        chosen = vectors[rows[found[part], place[part]]]
        similar[found[part], place[part]] = pairs(metric, queries[found[part]], chosen)
    order = np.lexsort((rows, -similar), axis=1)[:, :k]
    rows, similar = np.take_along_axis(rows, order, axis=1), np.take_along_axis(similar, order, axis=1)
    return Nearest(rows=rows, similarity=np.where(rows >= 0, similar, np.nan).astype(np.float32))
