"""Replay: fill the store, then search it for every memory and with every recorded query; the result is a `Run`.

The order is the order of judgement: store ready, rows read back, then searches. A store whose later answers depend on
earlier, wider queries must not see those first, so everything wider than the application's own search runs last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memregress import errors, index_check, verify
from memregress.backends import Backend, Refusing, Tunable
from memregress.clock import Clock
from memregress.expectations import of_probes, of_queries
from memregress.golden import GoldenSet
from memregress.model import Hits, IndexInfo, Ints, QueryBatch, Rejected
from memregress.run import FOREIGN, NO_HIT, Answers, Run, Searches
from memregress.tolerance import Tolerance

BATCH = 2_000
LOAD_BATCH = 250
"""Small enough for what is made of a batch to stay in the cache of a processor until it is sent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """Which memories are tested, and by which queries."""

    rows: Ints
    positions: Sequence[int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """How a run is judged: the tolerance for a store, the `k` of a self-probe, and what loading refused."""

    tolerance: Callable[[IndexInfo], Tolerance]
    probe_k: int
    rejected: Sequence[Rejected] = ()


def load(golden: GoldenSet, backend: Backend, clock: Clock) -> list[Rejected]:
    """Fill the run's own space and build its index; what the store refused comes back by name.

    Raises:
        LoadRejected: not one memory was taken, for a reason that is not the vectors' dimensions.
    """
    batches = clock.track("load", golden.batches(size=LOAD_BATCH), len(golden))
    rejected = backend.load(batches)
    clock.call("index", backend.index)
    return rejected


def run(golden: GoldenSet, backend: Backend, selection: Selection, setup: Setup, clock: Clock) -> Run:
    """Read everything back, probe every selected memory, replay every selected query."""
    info: IndexInfo = clock.call("describe", backend.describe)
    tolerance = setup.tolerance(info)
    stored = _read_back(golden, backend, selection.rows, verify.Rules.of(tolerance, info), clock)
    rejected = [*setup.rejected, *_left_out(golden, backend, selection.rows, clock)]
    refused = _refusal(info, golden)
    search = backend.search if refused is None else _answer_nothing
    rows = selection.rows[golden.has_vector[selection.rows]]
    probes = _probe(golden, search, rows, setup.probe_k, clock)
    recorded = _replay(golden, search, selection, clock)
    check = None
    if refused is None and info.approximate and isinstance(backend, Tunable):
        check = index_check.check(golden, backend, probes=probes, stored=stored, tolerance=tolerance, clock=clock)
    return Run(
        info=info,
        tolerance=tolerance,
        stored=stored,
        rejected={golden.row_of[item.id]: item.reason for item in rejected},
        probes=probes,
        recorded=recorded,
        positions=selection.positions,
        index_check=check,
        refused=refused,
        seconds=clock.seconds,
    )


def _left_out(golden: GoldenSet, backend: Backend, rows: Ints, clock: Clock) -> list[Rejected]:
    """Memories that the store holds, and its index does not."""
    if not isinstance(backend, Refusing):
        return []
    ids = [golden.ids[row] for row in rows.tolist()]
    return clock.call("verify", lambda: backend.refused(ids))


def _refusal(info: IndexInfo, golden: GoldenSet) -> str | None:
    """Why no search can be answered: the store compares vectors of equal dimensions only."""
    if info.dimensions in (None, golden.shape.dimensions):
        return None
    return f"{info.location} holds vectors of {info.dimensions} dimensions, the queries have {golden.shape.dimensions}"


def _read_back(golden: GoldenSet, backend: Backend, rows: Ints, rules: verify.Rules, clock: Clock) -> verify.Stored:
    stored = verify.nothing(len(golden))
    batches = golden.batches(rows=None if len(rows) == len(golden) else rows, size=BATCH)
    for batch in clock.track("verify", batches, len(rows)):
        verify.batch(stored, golden, batch, backend.fetch(batch.ids), rules=rules)
    return stored


def _probe(golden: GoldenSet, search: Search, rows: Ints, k: int, clock: Clock) -> Searches:
    def queries(positions: Sequence[int]) -> QueryBatch:
        chosen = rows[list(positions)]
        users = [golden.users[row] for row in chosen.tolist()]
        return QueryBatch(vectors=golden.vectors(chosen), users=users, filters=[None] * len(users), k=[k] * len(users))

    return Searches(
        queries=queries,
        users=[golden.users[row] for row in rows.tolist()],
        k=np.full(len(rows), k, np.int32),
        expectations=of_probes(golden, rows, k=k),
        answers=_ask(clock, "probe", golden, search=search, queries=queries, count=len(rows)),
    )


def _replay(golden: GoldenSet, search: Search, selection: Selection, clock: Clock) -> Searches:
    positions = selection.positions

    def queries(chosen: Sequence[int]) -> QueryBatch:
        which = [positions[index] for index in chosen]
        vectors = golden.query_vectors
        if vectors is None:
            raise errors.ConfigError("the queries have no vectors", "Record them with vectors.")
        recorded = [golden.queries[position] for position in which]
        return QueryBatch(
            vectors=np.ascontiguousarray(vectors[which]),
            users=[query.user for query in recorded],
            filters=[query.filter for query in recorded],
            k=[query.k for query in recorded],
        )

    return Searches(
        queries=queries,
        users=[golden.queries[position].user for position in positions],
        k=np.array([golden.queries[position].k for position in positions], np.int32),
        expectations=of_queries(golden, positions, selection.rows),
        answers=_ask(clock, "search", golden, search=search, queries=queries, count=len(positions)),
    )


Search = Callable[[QueryBatch], Hits]


def _answer_nothing(queries: QueryBatch) -> Hits:
    return Hits(ids=[[]] * len(queries), similarity=[[]] * len(queries))


def _ask(
    clock: Clock,
    stage: str,
    golden: GoldenSet,
    *,
    search: Search,
    queries: Callable[[Sequence[int]], QueryBatch],
    count: int,
) -> Answers:
    """Send searches in batches and keep the answers as arrays."""
    batches = [range(start, min(start + BATCH, count)) for start in range(0, count, BATCH)]
    parts = [answers(golden, search(queries(batch)), batch.start) for batch in clock.track(stage, batches, count)]
    return _join(parts)


def answers(golden: GoldenSet, hits: Hits, first: int = 0) -> Answers:
    """Intern the hits of a batch whose first search has the number `first`."""
    width = max((len(ids) for ids in hits.ids), default=0)
    row = np.full((len(hits.ids), width), NO_HIT, np.int32)
    similarity = np.full((len(hits.ids), width), -np.inf, np.float32)
    foreign: dict[int, list[str]] = {}
    lookup = golden.row_of.get
    for number, (ids, values) in enumerate(zip(hits.ids, hits.similarity, strict=True)):
        row[number, : len(ids)] = [lookup(id_, FOREIGN) for id_ in ids]
        similarity[number, : len(ids)] = values
    for number in np.flatnonzero((row == FOREIGN).any(axis=1))[:100].tolist():
        foreign[first + number] = [id_ for id_ in hits.ids[number] if id_ not in golden.row_of]
    used = hits.used_index if hits.used_index is not None else np.zeros(len(row), np.bool_)
    return Answers(row=row, similarity=similarity, used_index=used, foreign=foreign)


def _join(parts: Sequence[Answers]) -> Answers:
    width = max((part.row.shape[1] for part in parts), default=0)

    def padded(arrays: Sequence[Any], filler: float, dtype: type) -> Any:
        wide = [np.pad(a, ((0, 0), (0, width - a.shape[1])), constant_values=filler) for a in arrays]
        return np.concatenate(wide) if wide else np.empty((0, 0), dtype)

    return Answers(
        row=padded([part.row for part in parts], NO_HIT, np.int32),
        similarity=padded([part.similarity for part in parts], -np.inf, np.float32),
        used_index=np.concatenate([np.empty(0, np.bool_), *(part.used_index for part in parts)]),
        foreign={number: ids for part in parts for number, ids in part.foreign.items()},
    )
