"""A golden set that has been read and found good: ids and queries in memory, contents and vectors on disk."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from memregress.golden import lines
from memregress.golden.manifest import Manifest
from memregress.golden.memories import BODIES, Block, Body
from memregress.model import Bools, Documents, Floats, MemoryBatch, Query, Shape

Item = TypeVar("Item")
Rows = Sequence[int] | npt.NDArray[np.integer]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class GoldenSet:
    """Memories by row (counted from 0 over all parts) and queries by position."""

    path: Path
    manifest: Manifest
    ids: list[str]
    row_of: Mapping[str, int]
    users: list[str | None]
    has_vector: Bools
    """bool[n]"""
    shape: Shape
    queries: list[Query]
    query_vectors: Floats | None
    """float32[q, d], memory-mapped and read-only; None where the queries are text only."""
    blocks: list[Block]
    query_places: list[tuple[str, int]]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def digest(self) -> str:
        """The identity of the set: sha256 over the checksums of its parts, as 64 hexadecimal digits."""
        return self.manifest.digest

    def batches(self, rows: Rows | None = None, size: int = 2_000) -> Iterator[MemoryBatch]:
        """Stream the memories in batches of at most `size`; only the given rows (ascending) where `rows` is given."""
        if rows is None:
            yield from self._all(size)
            return
        memories = self._picked(rows)
        while batch := list(itertools.islice(memories, size)):
            yield self._batch([row for row, _ in batch], [memory for _, memory in batch])

    def vectors(self, rows: Rows) -> Floats:
        """Return float32[m, d], C-contiguous: the vectors of the given rows, NaN where a memory has none."""
        if isinstance(rows, range) and rows.step == 1 and len(rows):
            block = self._block(rows.start)
            run = block.vectors[rows.start - block.first_row : rows.stop - block.first_row]
            if len(run) == len(rows):
                return np.asarray(run)  # of one part, and in order: no copy
        wanted = np.asarray(rows, dtype=np.int64)
        gathered = np.empty((len(wanted), self.shape.dimensions), dtype=np.float32)
        for block in self.blocks:
            within = (wanted >= block.first_row) & (wanted < block.first_row + len(block.vectors))
            gathered[within] = block.vectors[wanted[within] - block.first_row]
        return gathered

    def selected(self, rows: Rows) -> Selected:
        """Return the vectors of the given rows for `similarity.exact_search`, gathered block by block when asked."""
        return Selected(golden=self, rows=np.asarray(rows, dtype=np.int64))

    def line_of(self, row: int) -> tuple[str, int]:
        """Return the file and line (from 1) where a memory stands."""
        block = self._block(row)
        return block.pair.lines.name, row - block.first_row + 1

    def query_line(self, position: int) -> tuple[str, int]:
        """Return the file and line (from 1) where a query stands."""
        return self.query_places[position]

    def _block(self, row: int) -> Block:
        return next(block for block in reversed(self.blocks) if block.first_row <= row)

    def _all(self, size: int) -> Iterator[MemoryBatch]:
        """Everything, many lines to a call; their length was checked when the set was opened."""
        for block in self.blocks:
            row = block.first_row
            with lines.open_lines(block.pair.lines.path) as file:
                while text := b"".join(itertools.islice(file, size)):
                    memories = BODIES.decode_lines(text)
                    yield self._batch(range(row, row + len(memories)), memories)
                    row += len(memories)

    def _picked(self, rows: Rows) -> Iterator[tuple[int, Body]]:
        wanted = np.asarray(rows, dtype=np.int64)
        for block in self.blocks:
            first, last = np.searchsorted(wanted, [block.first_row, block.first_row + len(block.vectors)])
            yield from _picked(block, wanted[first:last].tolist())

    def _batch(self, rows: Sequence[int], memories: list[Body]) -> MemoryBatch:
        return MemoryBatch(
            ids=_at(self.ids, rows),
            vectors=self.vectors(rows),
            dimensions=np.where(self.has_vector[rows], self.shape.dimensions, 0).astype(np.int32),
            users=_at(self.users, rows),
            contents=[memory.content for memory in memories],
            created_at=[memory.created_at for memory in memories],
            expires_at=[memory.expires_at for memory in memories],
            metadata=Documents([memory.metadata for memory in memories]),
        )


def _at(column: list[Item], rows: Sequence[int]) -> list[Item]:
    if isinstance(rows, range):
        return column[rows.start : rows.stop]
    return [column[row] for row in rows]


def _picked(block: Block, rows: list[int]) -> Iterator[tuple[int, Body]]:
    """The memories of the given rows of one part, passing over the lines between them undecoded."""
    numbered = enumerate(lines.read(block.pair.lines.path), start=block.first_row)
    for row in rows:
        yield next((row, BODIES.decode(line)) for number, line in numbered if number == row)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Selected:
    """Some rows of a golden set as `similarity.Vectors`."""

    golden: GoldenSet
    rows: npt.NDArray[np.int64]

    @property
    def shape(self) -> tuple[int, ...]:
        """(m, d)"""
        return len(self.rows), self.golden.shape.dimensions

    def __getitem__(self, key: slice | npt.NDArray[np.int64], /) -> Floats:
        return self.golden.vectors(self.rows[key])
