"""What must come back, as arrays: the recorded queries' expectations and every memory's self-probe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from memregress import similarity
from memregress.golden import GoldenSet
from memregress.model import Bools, Floats, Ints, Metric

SELF = -1
"""The position of a self-probe among the queries: it has none."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Expectations:
    """e expectations, grouped by search in rank order.

    `search` is int32[e], the position of the search in its run; `row` int32[e], the memory; `similarity`
    float32[e], NaN where unknown; `position` int32[e], its rank when recorded, from 1; `max_rank` int32[e];
    `must` bool[e]; `recorded` bool[e], whether the similarity was recorded (else computed from the golden vectors).
    """

    search: Ints
    row: Ints
    similarity: Floats
    position: Ints
    max_rank: Ints
    must: Bools
    recorded: Bools

    def __len__(self) -> int:
        return len(self.row)


def of_probes(golden: GoldenSet, rows: Ints, *, k: int) -> Expectations:
    """Every memory must be among the `k` nearest to its own vector.

    Under inner product longer vectors may rightly rank above a memory's own, so no place among the `k` is expected.
    """
    count = len(rows)
    place = k if golden.shape.metric is Metric.INNER_PRODUCT else 1
    return Expectations(
        search=np.arange(count, dtype=np.int32),
        row=rows,
        similarity=_self_similarity(golden, rows),
        position=np.full(count, place, np.int32),
        max_rank=np.full(count, k, np.int32),
        must=np.ones(count, np.bool_),
        recorded=np.ones(count, np.bool_),
    )


def _self_similarity(golden: GoldenSet, rows: Ints) -> Floats:
    if golden.shape.metric is not Metric.INNER_PRODUCT:
        return np.full(len(rows), 1.0 if golden.shape.metric is Metric.COSINE else 0.0, np.float32)
    parts = [np.einsum("ij,ij->i", block, block) for block in (golden.vectors(chunk) for chunk in chunks(rows, 4096))]
    return np.concatenate(parts).astype(np.float32) if parts else np.empty(0, np.float32)


def of_queries(golden: GoldenSet, positions: Sequence[int], rows: Ints) -> Expectations:
    """What the recorded queries at the given positions expect of the memories under test (`rows`)."""
    tested = np.zeros(len(golden), np.bool_)
    tested[rows] = True
    columns: list[tuple[int, int, float, int, int, bool]] = []
    for search, position in enumerate(positions):
        query = golden.queries[position]
        for rank, expected in enumerate(query.expected, start=1):
            value = np.nan if expected.similarity is None else expected.similarity
            limit = query.k if expected.max_rank is None else min(expected.max_rank, query.k)
            if tested[row := golden.row_of[expected.id]]:
                columns.append((search, row, value, rank, limit, expected.must))
    searches, numbers, values, ranks, limits, musts = zip(*columns, strict=True) if columns else ((),) * 6
    similarities = np.array(values, np.float32)
    recorded = ~np.isnan(similarities)
    expectations = Expectations(
        search=np.array(searches, np.int32),
        row=np.array(numbers, np.int32),
        similarity=similarities,
        position=np.array(ranks, np.int32),
        max_rank=np.array(limits, np.int32),
        must=np.array(musts, np.bool_),
        recorded=recorded,
    )
    _fill(golden, positions, expectations, np.flatnonzero(~recorded))
    return expectations


def _fill(golden: GoldenSet, positions: Sequence[int], expectations: Expectations, missing: np.ndarray) -> None:
    """Compute the similarities that were not recorded, from the golden vectors."""
    if golden.query_vectors is None:
        return
    for chunk in chunks(missing, 4096):
        queries = golden.query_vectors[[positions[search] for search in expectations.search[chunk]]]
        memories = golden.vectors(expectations.row[chunk])
        expectations.similarity[chunk] = similarity.pairs(golden.shape.metric, queries, memories)


def chunks(rows: Ints, size: int) -> Iterable[Ints]:
    """Cut an array into pieces of at most `size`."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
