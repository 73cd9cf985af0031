"""What would repair an index's misses: the least effort of a search that finds all of them, and what it costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from memregress.backends import Backend, Effort, Sweepable
from memregress.compare import Verdicts, Witness
from memregress.golden import GoldenSet
from memregress.model import QueryBatch
from memregress.run import Run, Searches

SAMPLE = 100
"""Missed memories that are searched for, at most."""
NEAR = 1.15
"""How close to the least effort the answer comes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One effort: how many of the missed memories it finds, and the milliseconds that one search takes."""

    effort: int
    found: int
    milliseconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Sweep:
    """Efforts from the one in force upwards, for `asked` memories; `enough` finds all of them, None if none does."""

    name: str
    asked: int
    steps: Sequence[Step]
    enough: int | None


def sweep(rows: Sequence[int], verdicts: Verdicts, run: Run, golden: GoldenSet, backend: Backend) -> Sweep | None:
    """Search for memories that the index misses and a wider search finds, with more and more effort."""
    effort = backend.effort() if isinstance(backend, Sweepable) else None
    if effort is None or not len(rows) or not isinstance(backend, Sweepable):
        return None
    chosen = [rows[place] for place in np.unique(np.linspace(0, len(rows) - 1, SAMPLE).astype(int)).tolist()]
    queries, ids = _searches(chosen, verdicts, run, golden)
    steps: dict[int, Step] = {}

    def enough(value: int) -> bool:
        if value not in steps:
            steps[value] = _step(backend, queries, ids, value)
        return steps[value].found == len(ids)

    least = _least(effort, enough)
    return Sweep(name=effort.name, asked=len(ids), steps=[steps[value] for value in sorted(steps)], enough=least)


def _least(effort: Effort, enough: Callable[[int], bool]) -> int | None:
    """Double until it is enough, then halve the distance to what was not."""
    low, high = effort.now, effort.now
    while not enough(high):
        if high >= effort.widest:
            return None
        low, high = high, min(2 * high, effort.widest)
    while high > low + 1 and high > NEAR * low:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _step(backend: Sweepable, queries: QueryBatch, ids: Sequence[str], effort: int) -> Step:
    started = time.perf_counter()
    hits = backend.search_at(queries, effort)
    seconds = time.perf_counter() - started
    found = sum(id_ in answer for id_, answer in zip(ids, hits.ids, strict=True))
    return Step(effort=effort, found=found, milliseconds=1_000 * seconds / len(ids))


def _searches(rows: Sequence[int], verdicts: Verdicts, run: Run, golden: GoldenSet) -> tuple[QueryBatch, list[str]]:
    """The searches that missed the memories; of those that only the index misses, their own probes."""
    place = {row: search for search, row in enumerate(run.probes.expectations.row.tolist())}
    parts: list[tuple[Searches, int, int]] = []
    for row in rows:
        if verdicts.witness[row] == Witness.QUERY:
            parts.append((run.recorded, int(verdicts.search[row]), row))
        else:
            parts.append((run.probes, place[row], row))
    batches = [searches.queries([search]) for searches, search, _ in parts]
    return _joined(batches), [golden.ids[row] for _, _, row in parts]


def _joined(batches: Sequence[QueryBatch]) -> QueryBatch:
    return QueryBatch(
        vectors=np.concatenate([batch.vectors for batch in batches]),
        users=[user for batch in batches for user in batch.users],
        filters=[filter_ for batch in batches for filter_ in batch.filters],
        k=[k for batch in batches for k in batch.k],
    )
