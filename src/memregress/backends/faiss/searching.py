"""Searches as an application does them: filtered by user, metadata and lifetime, and numbers turned into ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import faiss
import msgspec
import numpy as np

from memregress.backends.faiss.docstore import NOBODY, Docstore, Numbers
from memregress.backends.faiss.indexes import Ask
from memregress.model import Filter, Floats, Hits, Metric, QueryBatch

OPERATIONS_AT_ONCE = 4_000_000_000
"""Multiplications between two looks at whether the user has pressed Ctrl-C: a fraction of a second."""
QUERIES_AT_ONCE = 256
"""The same for an approximate index, whose work cannot be told beforehand."""


class Numbering:
    """Which row of the docstore each number of an index stands for: `row_of` int64[numbers], -1 for none."""

    def __init__(self, row_of: Numbers, rows: int) -> None:
        self._row_of: Numbers = np.append(row_of, NOBODY)  # the last one is also what a wrong number finds
        self._order: Numbers = np.argsort(self._row_of, kind="stable")
        self._first = np.searchsorted(self._row_of[self._order], np.arange(rows + 1))

    @classmethod
    def inverse(cls, number_of: Numbers) -> Numbering:
        """From the number of each row, -1 for none."""
        row_of = np.full(int(number_of.max(initial=NOBODY)) + 1, NOBODY, dtype=np.int64)
        stored = number_of >= 0
        row_of[number_of[stored]] = np.flatnonzero(stored)
        return cls(row_of, len(number_of))

    def rows(self, numbers: Numbers) -> Numbers:
        """Return the row of each number; -1 for padding, and for a vector nobody knows."""
        known = (numbers >= 0) & (numbers < len(self._row_of))
        rows: Numbers = self._row_of[np.where(known, numbers, NOBODY)]
        return rows

    def numbers(self, rows: Numbers) -> Numbers:
        """Return the numbers of rows, every copy."""
        counts = self._first[rows + 1] - self._first[rows]
        ends = np.cumsum(counts)
        places = np.repeat(self._first[rows] - ends + counts, counts) + np.arange(counts.sum())
        numbers: Numbers = self._order[places]
        return numbers

    def copies(self, rows: Numbers) -> list[list[int]]:
        """Return the numbers of each row."""
        return [self._order[self._first[row] : self._first[row + 1]].tolist() for row in rows]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Search:
    """One way to answer queries: whom to ask, and what its numbers and distances mean."""

    docstore: Docstore
    ask: Ask
    numbering: Numbering
    metric: Metric
    normalise: bool
    """Whether queries are normalised, as the vectors were."""
    fetch_k: int | None = None
    """Fetch as many, and filter afterwards; None filters while searching."""

    def answer(self, queries: QueryBatch, *, used_index: bool) -> Hits:
        """Answer each query with its own filter and its own `k`."""
        ids: list[list[str]] = [[] for _ in range(len(queries))]
        similarity: list[list[float]] = [[] for _ in range(len(queries))]
        names = self.docstore.ids
        vectors = unit(queries.vectors)[0] if self.normalise else np.ascontiguousarray(queries.vectors, np.float32)
        for user, filter_, k, places in _groups(queries):
            allowed = self.docstore.select(user, filter_)
            if allowed is not None and not len(allowed):
                continue
            among = len(names) if allowed is None or self.fetch_k else len(allowed)
            at_once = QUERIES_AT_ONCE if used_index else OPERATIONS_AT_ONCE // max(1, among * vectors.shape[1])
            for step in _steps(places, at_once):
                rows, similar = self._found(vectors[step], k, allowed)
                for place, row, value in zip(step, rows, similar, strict=True):
                    kept = np.flatnonzero(row >= 0)[:k]
                    ids[place] = [names[one] for one in row[kept]]
                    similarity[place] = value[kept].tolist()
        return Hits(ids=ids, similarity=similarity, used_index=np.full(len(queries), used_index))

    def _found(self, vectors: Floats, k: int, allowed: Numbers | None) -> tuple[Numbers, Floats]:
        """Rows and similarities by rank, float32[n, …]; a row that must not be shown is -1."""
        if allowed is None:
            distances, numbers = self.ask(vectors, k, None)
        elif self.fetch_k is None:
            distances, numbers = self.ask(vectors, k, self.numbering.numbers(allowed))
        else:
            distances, numbers = self.ask(vectors, self.fetch_k, None)
        rows = self.numbering.rows(numbers)
        if allowed is not None and self.fetch_k is not None:
            rows = np.where(np.isin(rows, allowed), rows, NOBODY)
        return rows, self._similarity(distances)

    def _similarity(self, distances: Floats) -> Floats:
        """FAISS's L2 is the square of the distance; an inner product is higher for closer already."""
        return -np.sqrt(np.maximum(distances, 0)) if self.metric is Metric.L2 else distances


def _steps(places: Numbers, at_once: int) -> Iterator[Numbers]:
    step = max(1, at_once)
    for start in range(0, len(places), step):
        yield places[start : start + step]


def _groups(queries: QueryBatch) -> Iterator[tuple[str | None, Filter | None, int, Numbers]]:
    """Put queries with the same user, filter and `k` together, so that one selector serves them all."""
    together: dict[tuple[str | None, bytes, int], list[int]] = {}
    for place, (user, filter_, k) in enumerate(zip(queries.users, queries.filters, queries.k, strict=True)):
        condition = msgspec.json.encode(filter_, order="deterministic") if filter_ else b""
        together.setdefault((user, condition, k), []).append(place)
    for (user, _, k), places in together.items():
        yield user, queries.filters[places[0]], k, np.array(places, dtype=np.int64)


def unit(vectors: Floats) -> tuple[Floats, Floats]:
    """Return vectors at length 1, and the lengths they had: float32[n, d] and float32[n]; zero stays zero."""
    lengths = np.linalg.norm(vectors, axis=1).astype(np.float32)
    normal = np.array(vectors, dtype=np.float32, order="C")
    faiss.normalize_L2(normal)
    return normal, lengths
