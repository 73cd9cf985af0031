"""What queries should find, by exact search under their user and filter: expectations for queries that have none."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from memregress import filters, similarity
from memregress.golden.golden_set import GoldenSet
from memregress.golden.writing import Recorded
from memregress.model import Expected, Filter, Floats, MemoryBatch, Query, Source

TIE = 1e-4
"""Similarities closer than this (relative above 1) are a tie: what half precision can hold."""


class _Scope(NamedTuple):
    """What a search is confined to; `filter` is its JSON, so that equal filters are one scope."""

    user: str | None
    filter: bytes


def exact(golden: GoldenSet, queries: Sequence[Recorded], *, rank_slack: int | None = None) -> list[Recorded]:
    """Return the queries in their order; those with a vector and no `expected` get one, of source ``exact``.

    A memory must be found unless it ties with what lies beyond `k` or below `min_similarity`, where the tie could
    go either way. `max_rank` is the last rank of its group of ties plus `rank_slack`, at most `k`; just `k` where
    `rank_slack` is None.
    """
    answered = list(queries)
    scopes: dict[_Scope, list[int]] = defaultdict(list)
    for position, (query, vector) in enumerate(queries):
        if vector is not None and not query.expected:
            scopes[_scope(query)].append(position)
    rows_of = _rows(golden, list(scopes))
    for scope, positions in scopes.items():
        k = max(queries[position][0].k for position in positions)
        vectors = np.stack([_vector(queries[position]) for position in positions])
        rows = rows_of[scope]
        nearest = similarity.exact_search(golden.shape.metric, vectors, golden.selected(rows), k + 1)
        for number, position in enumerate(positions):
            hits = [golden.ids[rows[row]] for row in nearest.rows[number] if row >= 0]
            query = _answered(queries[position][0], hits, nearest.similarity[number], rank_slack)
            answered[position] = (query, queries[position][1])
    return answered


def _scope(query: Query) -> _Scope:
    return _Scope(query.user, msgspec.json.encode(query.filter or {}, order="sorted"))


def _vector(recorded: Recorded) -> Floats:
    vector = recorded[1]
    assert vector is not None  # noqa: S101  for mypy: only such queries are in a scope
    return vector


def _rows(golden: GoldenSet, scopes: Sequence[_Scope]) -> dict[_Scope, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """The rows within each scope, in one pass over the memories."""
    by_user: dict[str | None, list[tuple[_Scope, Filter]]] = defaultdict(list)
    for scope in scopes:
        by_user[scope.user].append((scope, msgspec.json.decode(scope.filter)))
    found: dict[_Scope, list[int]] = {scope: [] for scope in scopes}
    for row, user, metadata in _owners(golden.batches()):
        for scope, filter_ in itertools.chain(by_user.get(user, ()), by_user.get(None, ()) if user is not None else ()):
            if filters.matches(filter_, metadata):
                found[scope].append(row)
    return {scope: np.array(rows, dtype=np.int64) for scope, rows in found.items()}


def _owners(batches: Iterator[MemoryBatch]) -> Iterator[tuple[int, str | None, dict[str, object]]]:
    row = 0
    for batch in batches:
        for user, metadata in zip(batch.users, batch.metadata, strict=True):
            yield row, user, metadata
            row += 1


def _answered(query: Query, ids: list[str], similar: Floats, rank_slack: int | None) -> Query:
    """The query with what it must find; `ids` and `similar` reach one rank beyond its k where there is one."""
    values = [float(f"{value:.7g}") for value in similar[: len(ids)] if not np.isnan(value)]
    shown = [value for value in values[: query.k] if query.min_similarity is None or value >= query.min_similarity]
    floors = [floor for floor in (query.min_similarity, *values[query.k : query.k + 1]) if floor is not None]
    expected = [
        Expected(
            id=ids[rank],
            similarity=value,
            must=not any(_tie(value, floor) for floor in floors),
            max_rank=_max_rank(shown, rank, query.k, rank_slack),
        )
        for rank, value in enumerate(shown)
    ]
    return msgspec.structs.replace(query, expected=expected, source=Source.EXACT)


def _tie(one: float, other: float) -> bool:
    return abs(one - other) <= TIE * max(1.0, abs(one))


def _max_rank(values: Sequence[float], rank: int, k: int, slack: int | None) -> int:
    if slack is None:
        return k
    last = rank
    while last + 1 < len(values) and _tie(values[last], values[last + 1]):
        last += 1
    return min(k, last + 1 + slack)
