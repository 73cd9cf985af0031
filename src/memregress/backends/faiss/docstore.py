"""The docstore: everything an application knows of its memories beside the vectors, as columns."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt

from memregress import filters
from memregress.model import Filter, MemoryBatch

Numbers = npt.NDArray[np.int64]

REMEMBERED_SELECTIONS = 4096
NOBODY = -1
"""The number of a memory without a vector."""

Time = Annotated[datetime, msgspec.Meta(tz=True)]


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One memory in ``memories.jsonl``; what an application keeps there besides is left alone."""

    id: str
    user: str | None = None
    content: str = ""
    created_at: Time | None = None
    expires_at: Time | None = None
    metadata: dict[str, Any] = {}
    number: int | msgspec.UnsetType | None = msgspec.UNSET
    """The number FAISS answers with; null without a vector. If not given, the line's own, counted from 0."""
    norm: float | None = None
    """The vector's length before it was normalised; null if it was not."""


class Docstore:
    """Memories as rows, in the order they came; only ever appended to."""

    def __init__(self, clock: datetime) -> None:
        self.ids: list[str] = []
        self._clock = clock
        self._lines: list[Line] = []
        self._alive: list[bool] = []
        self._all_alive = True
        self._rows_of_id: dict[str, list[int]] = {}
        self._rows_of_user: dict[str | None, list[int]] = {}
        self._selected: dict[tuple[str | None, bytes], Numbers] = {}

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def normalised(self) -> bool:
        """Whether vectors were normalised before they were added."""
        return any(line.norm is not None for line in self._lines)

    def numbers(self) -> Numbers:
        """Return the number of each row, `NOBODY` without a vector."""
        return np.array([_number(line, row) for row, line in enumerate(self._lines)], dtype=np.int64)

    def append(self, lines: Iterable[Line]) -> None:
        """Take in memories."""
        for line in lines:
            row = len(self._lines)
            self.ids.append(line.id)
            self._lines.append(line)
            self._alive.append(line.expires_at is None or line.expires_at > self._clock)
            self._rows_of_id.setdefault(line.id, []).append(row)
            self._rows_of_user.setdefault(line.user, []).append(row)
        self._selected.clear()
        self._all_alive = all(self._alive)

    def lines(self) -> Iterator[Line]:
        """Yield the memories, to be written."""
        return iter(self._lines)

    def select(self, user: str | None, filter_: Filter | None) -> Numbers | None:
        """Return the rows a search may find, ascending; None if that is all of them."""
        if user is None and not filter_ and self._all_alive:
            return None
        key = (user, msgspec.json.encode(filter_ or {}, order="deterministic"))
        if key not in self._selected:
            if len(self._selected) >= REMEMBERED_SELECTIONS:
                self._selected.clear()
            self._selected[key] = np.fromiter(self._eligible(user, filter_), dtype=np.int64)
        return self._selected[key]

    def _eligible(self, user: str | None, filter_: Filter | None) -> Iterator[int]:
        rows: Iterable[int] = range(len(self)) if user is None else self._rows_of_user.get(user, ())
        for row in rows:
            if self._alive[row] and (not filter_ or filters.matches(filter_, self._lines[row].metadata)):
                yield row

    def rows(self, ids: Sequence[str]) -> Numbers:
        """Return the rows of those ids that are here, every copy of one."""
        found = (self._rows_of_id.get(id_, ()) for id_ in dict.fromkeys(ids))
        return np.fromiter(itertools.chain.from_iterable(found), dtype=np.int64)

    def norms(self, rows: Numbers) -> npt.NDArray[np.float32]:
        """Return by how much to lengthen the vectors of rows to what they were: float32[n]."""
        lengths = (self._lines[row].norm for row in rows)
        return np.array([1.0 if length is None else length for length in lengths], dtype=np.float32)

    def batch(self, rows: Numbers, vectors: npt.NDArray[np.float32], dimensions: npt.NDArray[np.int32]) -> MemoryBatch:
        """Put rows (which may repeat) and their vectors together."""
        lines = [self._lines[row] for row in rows]
        return MemoryBatch(
            ids=[line.id for line in lines],
            vectors=np.ascontiguousarray(vectors),
            dimensions=dimensions,
            users=[line.user for line in lines],
            contents=[line.content for line in lines],
            created_at=[line.created_at for line in lines],
            expires_at=[line.expires_at for line in lines],
            metadata=[line.metadata for line in lines],
        )


def _number(line: Line, row: int) -> int:
    if line.number is msgspec.UNSET:
        return row
    return NOBODY if line.number is None else line.number


def line_of(batch: MemoryBatch, row: int, number: int | None, norm: float | None) -> Line:
    """The line of a memory: the number of its vector in the index, and the length that it had."""
    return Line(
        id=batch.ids[row],
        user=batch.users[row],
        content=batch.contents[row],
        created_at=batch.created_at[row],
        expires_at=batch.expires_at[row],
        metadata=batch.metadata[row],
        number=number,
        norm=norm,
    )
