"""Changes to what is written into a store: the building bricks of faulty migrations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from memregress.golden import GoldenSet
from memregress.model import Floats, MemoryBatch
from memregress.testing.faults.fault import Rows, Write


def without(rows: Callable[[int], bool]) -> Write:
    """Leave rows out."""

    def write(batch: MemoryBatch) -> MemoryBatch:
        return take(batch, [row for row in range(len(batch)) if not rows(row)])

    return write


def take(batch: MemoryBatch, rows: Sequence[int]) -> MemoryBatch:
    """Return some rows, in the given order."""
    chosen = list(rows)
    changed: dict[str, Any] = {}
    for field in dataclasses.fields(batch):
        values = getattr(batch, field.name)
        changed[field.name] = values[chosen] if isinstance(values, np.ndarray) else [values[row] for row in chosen]
    return dataclasses.replace(batch, **changed)


def vectors(change: Callable[[Floats], Floats], rows: Sequence[int] | None = None) -> Write:
    """Change vectors, float32[n, d]; of all rows, or of some."""

    def write(batch: MemoryBatch) -> MemoryBatch:
        where = list(range(len(batch)) if rows is None else rows)
        changed = batch.vectors.copy()
        changed[where] = change(batch.vectors[where])
        return dataclasses.replace(batch, vectors=changed)

    return write


def no_vector(rows: Sequence[int]) -> Write:
    """Leave the vectors of some rows out."""

    def write(batch: MemoryBatch) -> MemoryBatch:
        dimensions = batch.dimensions.copy()
        dimensions[list(rows)] = 0
        return dataclasses.replace(batch, dimensions=dimensions)

    return write


def column(name: str, change: Callable[[Any], Any], rows: Sequence[int] | None = None) -> Write:
    """Change a column value by value; of all rows, or of some."""

    def write(batch: MemoryBatch) -> MemoryBatch:
        where = range(len(batch)) if rows is None else rows
        values = list(getattr(batch, name))
        for row in where:
            values[row] = change(values[row])
        changed: dict[str, Any] = {name: values}
        return dataclasses.replace(batch, **changed)

    return write


def shifted(vectors_: Floats) -> Floats:
    """Zip ids with the vectors of the next row, from row 300 on."""
    return np.concatenate([vectors_[:300], np.roll(vectors_[300:], -1, axis=0)])


def bfloat16(vectors_: Floats) -> Floats:
    """Cut to the upper half of the bits."""
    cut_off: Floats = (vectors_.view(np.uint32) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    return cut_off


def int8(vectors_: Floats) -> Floats:
    """Quantise each vector to 255 levels of its largest component."""
    scale = np.abs(vectors_).max(axis=1, keepdims=True) / 127
    quantised: Floats = (np.round(vectors_ / scale) * scale).astype(np.float32)
    return quantised


def rotated(vectors_: Floats) -> Floats:
    """Turn the whole space: another basis."""
    basis = np.linalg.qr(np.random.default_rng(5).standard_normal((vectors_.shape[1],) * 2))[0]
    turned: Floats = (vectors_ @ basis).astype(np.float32)
    return turned


def another_model(vectors_: Floats) -> Floats:
    """Embed with a model that has nothing in common with the first."""
    return _unit(np.random.default_rng(6).standard_normal(vectors_.shape))


def another_runtime(vectors_: Floats) -> Floats:
    """Embed with the same model on another runtime: nearly the same."""
    return _unit(vectors_ + 0.01 * np.random.default_rng(7).standard_normal(vectors_.shape))


def _unit(vectors_: npt.NDArray[np.floating]) -> Floats:
    unit: Floats = (vectors_ / np.linalg.norm(vectors_, axis=1, keepdims=True)).astype(np.float32)
    return unit


def cut(vectors_: Floats) -> Floats:
    """Keep the first three quarters and fill up with zeros."""
    kept = vectors_.copy()
    kept[:, kept.shape[1] * 3 // 4 :] = 0
    return kept


def permuted(vectors_: Floats) -> Floats:
    """Store the components in another order."""
    order = np.random.default_rng(8).permutation(vectors_.shape[1])
    return np.ascontiguousarray(vectors_[:, order])


def byte_swapped(batch: MemoryBatch) -> MemoryBatch:
    """Write big-endian floats where little-endian ones are read, of memories for which these are numbers at all."""
    swapped = batch.vectors.byteswap()
    changed = batch.vectors.copy()
    for row in swappable(batch.vectors):
        changed[row] = swapped[row]
    return dataclasses.replace(batch, vectors=changed)


def swappable(vectors_: Floats) -> list[int]:
    """The first rows whose components are numbers of a bearable size with their bytes swapped, too."""
    with np.errstate(invalid="ignore", over="ignore"):
        bearable = (np.abs(vectors_.byteswap()) < 1e30).all(axis=1)
    return [int(row) for row in np.flatnonzero(bearable)[:10]]


def mojibake(text: str) -> str:
    """Read UTF-8 as Latin-1."""
    return text.encode().decode("latin-1")


def copies(count: int, *, near: int) -> Write:
    """Add rows that are no memories, all with one memory's vector and user."""

    def write(batch: MemoryBatch) -> MemoryBatch:
        grown = take(batch, [*range(len(batch)), *[near] * count])
        ids = [*batch.ids, *(f"imported-{number}" for number in range(count))]
        return dataclasses.replace(grown, ids=ids)

    return write


def of_user(user: str) -> Callable[[GoldenSet], list[int]]:
    """The memories of a user."""
    return lambda golden: [row for row, owner in enumerate(golden.users) if owner == user]


def every(step: int, start: int = 0) -> tuple[int, ...]:
    """Every so many rows of a thousand."""
    return tuple(range(start, 1_000, step))


def lifetimes_scaled(batch: MemoryBatch) -> MemoryBatch:
    """Let every memory live a tenth of its time."""

    def scaled(born: datetime | None, end: datetime | None) -> datetime | None:
        return end and born and born + (end - born) / 10

    ends = [scaled(born, end) for born, end in zip(batch.created_at, batch.expires_at, strict=True)]
    return dataclasses.replace(batch, expires_at=ends)


def expiring(batch: MemoryBatch) -> MemoryBatch:
    """Let everything expire when the first memory does."""
    return dataclasses.replace(batch, expires_at=[end or batch.expires_at[0] for end in batch.expires_at])


def strangers(count: int) -> Write:
    """Add rows of a user whom nobody asks for, each with the vector of another memory."""

    def write(batch: MemoryBatch) -> MemoryBatch:
        grown = take(batch, [*range(len(batch)), *range(count)])
        ids = [*batch.ids, *(f"imported-{number}" for number in range(count))]
        return dataclasses.replace(grown, ids=ids, users=[*batch.users, *["nobody"] * count])

    return write


def contents_swapped(one: int, other: int) -> Write:
    """Let two memories hold each other's text."""

    def write(batch: MemoryBatch) -> MemoryBatch:
        contents = list(batch.contents)
        contents[one], contents[other] = contents[other], contents[one]
        return dataclasses.replace(batch, contents=contents)

    return write


def expected(golden: GoldenSet, start: int, stop: int) -> list[int]:
    """The memories that the first query expects at these ranks, counted from 0."""
    return [golden.row_of[item.id] for item in golden.queries[0].expected[start:stop]]


def found_below(similarity: float) -> Rows:
    """The memories that some query finds with less than a similarity."""
    return lambda golden: {
        golden.row_of[item.id]
        for query in golden.queries
        for item in query.expected
        if item.similarity is not None and item.similarity < similarity
    }
