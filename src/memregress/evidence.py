"""Ask the store a few plain questions about each memory that did not come back.

The ladder: does exact search with the same filter find it? without the filter? the default search when asked again?
the index at its widest? the same index built afresh? Only broken memories are asked about, in batches, and of a
systemic break a sample: what two hundred memories in a row have in common, ten thousand have.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from memregress import aliases, second_look, sweep, twins
from memregress.backends import Backend, ExactSearchable, Rebuildable, Tunable
from memregress.clock import Clock
from memregress.compare import Verdicts, Witness, look_up
from memregress.expectations import of_probes
from memregress.golden import GoldenSet
from memregress.model import Floats, Hits, Ints, QueryBatch, Verdict
from memregress.run import IndexCheck, Run, Searches
from memregress.second_look import SecondLook
from memregress.sweep import Sweep

SAMPLE = 200
"""Memories asked about, of those that did not come back."""
EXPENSIVE_ROWS = 20_000
"""Rows from which on exact search and a rebuilt index are asked about fewer memories."""
EXPENSIVE_SAMPLE = 40
PROBE_K = 10
CONTROL = 4_000
"""Searches of each kind on which the live index is compared with a fresh build; healthy ones differ in a few."""
REBUILT_COMPONENTS = {"ivf": 200_000_000, "ivfflat": 200_000_000}
REBUILT_COMPONENTS_ELSE = 20_000_000
"""Rows times dimensions up to which an index is built a second time to compare with: a few seconds' work."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ladder:
    """Which searches find a memory that the replay missed; None where the store has no such search.

    `hits` and `exact_hits` count what the replayed and the exact search returned; `used_index` tells whether the
    replayed search went through the vector index, `same_path` whether the search that was asked `again` did likewise.
    """

    exact: bool | None = None
    exact_unfiltered: bool | None = None
    again: bool | None = None
    wide: bool | None = None
    wide_unfiltered: bool | None = None
    rebuilt: bool | None = None
    hits: int = 0
    exact_hits: int = 0
    used_index: bool = False
    same_path: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Control:
    """Searches drawn evenly from all: how many the live index answers, a fresh build of it, and that at its widest."""

    searches: int
    live: int
    fresh: int
    reached: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What the store answered about broken memories, by golden row.

    `ladders` holds the memories that were asked about; `twins` maps a memory to the golden memory whose vector it
    was stored with; `aliases` maps a missing one that was looked for to the id under which the store has it, or None.
    """

    ladders: Mapping[int, Ladder] = field(default_factory=dict)
    twins: Mapping[int, int] = field(default_factory=dict)
    aliases: Mapping[int, str | None] = field(default_factory=dict)
    control: Control | None = None
    sweep: Sweep | None = None
    """How much more effort finds what the index misses."""
    look: SecondLook = field(default_factory=SecondLook)


def gather(verdicts: Verdicts, run: Run, golden: GoldenSet, backend: Backend, clock: Clock) -> Evidence:
    """Climb the ladder for memories that did not come back, and look up whose vectors the altered ones hold."""
    if not len(verdicts.broken):
        return Evidence()
    lost = verdicts.rows(Verdict.UNREACHABLE)
    size = SAMPLE if run.info.rows < EXPENSIVE_ROWS else EXPENSIVE_SAMPLE
    asked = _sample_each(lost, verdicts, size) if run.refused is None else lost[:0]
    ladders = clock.call("evidence", functools.partial(_climb, verdicts, asked, run, golden, backend))
    found = clock.call("evidence", functools.partial(twins.find, run, golden))
    named = clock.call("evidence", functools.partial(aliases.find, run, golden, backend))
    control = None
    if len(asked) and isinstance(backend, Rebuildable) and _worth_rebuilding(run):
        control = clock.call("evidence", functools.partial(_control, run, golden, backend))
    misses = [row for row, ladder in ladders.items() if ladder.exact and ladder.wide and not ladder.again]
    swept = clock.call("evidence", functools.partial(sweep.sweep, misses, verdicts, run, golden, backend))
    look = clock.call("evidence", functools.partial(second_look.look, verdicts, asked, run, golden, backend))
    return Evidence(ladders=ladders, twins=found, aliases=named, control=control, sweep=swept, look=look)


def _sample(rows: Ints, size: int) -> Ints:
    """Spread evenly, so that a sample sees every stretch of the set."""
    if len(rows) <= size:
        return rows
    spread: Ints = rows[np.linspace(0, len(rows) - 1, size).astype(int)]
    return spread


def _sample_each(rows: Ints, verdicts: Verdicts, size: int) -> Ints:
    """A sample of those that each kind of search missed, so that no kind is judged by another."""
    witnesses = verdicts.witness[rows]
    samples = [_sample(rows[witnesses == witness], size) for witness in np.unique(witnesses)]
    return np.sort(np.concatenate([rows[:0], *samples]))


def _climb(verdicts: Verdicts, rows: Ints, run: Run, golden: GoldenSet, backend: Backend) -> dict[int, Ladder]:
    ladders: dict[int, Ladder] = {}
    for witness, searches in ((Witness.PROBE, run.probes), (Witness.QUERY, run.recorded)):
        chosen = rows[verdicts.witness[rows] == witness]
        if len(chosen):
            ladders |= _Climber(golden, backend, run, searches).climb(
                chosen, verdicts.search[chosen], expected=verdicts.expected[chosen]
            )
    by_index = rows[verdicts.witness[rows] == Witness.INDEX]
    if len(by_index):
        place = {row: search for search, row in enumerate(run.probes.expectations.row.tolist())}
        positions = np.array([place[row] for row in by_index.tolist()], np.int32)
        ladders |= _Climber(golden, backend, run, run.probes).climb(
            by_index, positions, expected=run.probes.expectations.similarity[positions]
        )
    return ladders


def _worth_rebuilding(run: Run) -> bool:
    components = run.info.rows * (run.info.dimensions or 1)
    return run.info.approximate and components <= REBUILT_COMPONENTS.get(run.info.kind, REBUILT_COMPONENTS_ELSE)


def _control(run: Run, golden: GoldenSet, backend: Rebuildable) -> Control:
    """Compare the live index with a fresh build of it, on searches that were not chosen for having failed."""
    through_index = [
        _control_of(searches, golden, backend)
        for searches in (run.probes, run.recorded)
        if searches.answers.used_index.any()
    ]
    if not through_index and run.index_check is not None:
        through_index = [_control_of_check(run.index_check, golden, backend)]
    return Control(
        searches=sum(part.searches for part in through_index),
        live=sum(part.live for part in through_index),
        fresh=sum(part.fresh for part in through_index),
        reached=sum(part.reached for part in through_index),
    )


def _control_of(searches: Searches, golden: GoldenSet, backend: Rebuildable) -> Control:
    wanted, used = searches.expectations, searches.answers.used_index
    chosen = _sample(np.flatnonzero(wanted.must & used[wanted.search]).astype(np.int32), CONTROL)
    search, rows = wanted.search[chosen], wanted.row[chosen]
    live = int(look_up(searches.answers, search, rows).found.sum())
    return _compared(golden, backend, rows, searches.queries(search.tolist()), live)


def _control_of_check(check: IndexCheck, golden: GoldenSet, backend: Rebuildable) -> Control:
    chosen = _sample(np.arange(len(check.rows), dtype=np.int32), CONTROL)
    rows = check.rows[chosen]
    return _compared(golden, backend, rows, _own_probes(golden, rows), int(check.found[chosen].sum()))


def _compared(golden: GoldenSet, backend: Rebuildable, rows: Ints, queries: QueryBatch, live: int) -> Control:
    ids = [golden.ids[row] for row in rows.tolist()]
    hits = backend.search_rebuilt(queries)
    missed = [place for place, (id_, found) in enumerate(zip(ids, hits.ids, strict=True)) if id_ not in found]
    wide = backend.search_rebuilt(queries.take(missed), wide=True).ids if missed else []
    again = sum(ids[place] in found for place, found in zip(missed, wide, strict=True))
    fresh = len(ids) - len(missed)
    return Control(searches=len(ids), live=live, fresh=fresh, reached=fresh + again)


def _own_probes(golden: GoldenSet, rows: Ints) -> QueryBatch:
    """Each memory's own vector, without a user: who asks makes no difference to what the index holds."""
    count = len(rows)
    return QueryBatch(vectors=golden.vectors(rows), users=[None] * count, filters=[None] * count, k=[PROBE_K] * count)


class _Climber:
    """Asks about memories missed by searches of one kind."""

    def __init__(self, golden: GoldenSet, backend: Backend, run: Run, searches: Searches) -> None:
        self.golden = golden
        self.backend = backend
        self.run = run
        self.searches = searches

    def climb(self, rows: Ints, positions: Ints, *, expected: Floats) -> dict[int, Ladder]:
        """Ask about the memories at `rows`, each missed by the search at its position."""
        floors = expected - self.run.tolerance.slack(np.nan_to_num(expected))
        ids = [(self.golden.ids[row], floor) for row, floor in zip(rows.tolist(), floors.tolist(), strict=True)]
        queries = self.searches.queries(positions.tolist())
        exact, exact_hits = self._exact(ids, queries)
        again = self.backend.search(queries)
        steps = {
            "exact": exact,
            "exact_unfiltered": self._exact(ids, _unfiltered(queries))[0],
            "again": _found(ids, again, queries.k),
            "wide": self._wide(ids, queries),
            "wide_unfiltered": self._wide(self._own(rows), _own_probes(self.golden, rows)),
            "rebuilt": self._rebuilt(ids, queries),
        }
        answers = self.searches.answers
        counts = (answers.similarity[positions] > -np.inf).sum(axis=1).tolist()
        used = answers.used_index[positions].tolist()
        used_again = used if again.used_index is None else again.used_index.tolist()
        return {
            row: Ladder(
                **{name: found[index] if found else None for name, found in steps.items()},
                hits=counts[index],
                exact_hits=exact_hits[index] if exact_hits else 0,
                used_index=used[index],
                same_path=used[index] == used_again[index],
            )
            for index, row in enumerate(rows.tolist())
        }

    def _exact(self, ids: Sequence[Wanted], queries: QueryBatch) -> tuple[list[bool], list[int]]:
        if not isinstance(self.backend, ExactSearchable):
            return [], []
        hits = self.backend.search_exact(queries)
        return _found(ids, hits, queries.k), [len(found) for found in hits.ids]

    def _wide(self, ids: Sequence[Wanted], queries: QueryBatch) -> list[bool]:
        if not (isinstance(self.backend, Tunable) and self.run.info.approximate):
            return []
        return _found(ids, self.backend.search_index(queries, wide=True), queries.k)

    def _rebuilt(self, ids: Sequence[Wanted], queries: QueryBatch) -> list[bool]:
        if not (isinstance(self.backend, Rebuildable) and _worth_rebuilding(self.run)):
            return []
        return _found(ids, self.backend.search_rebuilt(queries), queries.k)

    def _own(self, rows: Ints) -> list[Wanted]:
        own = of_probes(self.golden, rows, k=PROBE_K).similarity
        floors = own - self.run.tolerance.slack(own)
        return [(self.golden.ids[row], floor) for row, floor in zip(rows.tolist(), floors.tolist(), strict=True)]


def _unfiltered(queries: QueryBatch) -> QueryBatch:
    count = len(queries)
    return QueryBatch(vectors=queries.vectors, users=[None] * count, filters=[None] * count, k=queries.k)


Wanted = tuple[str, float]
"""An id, and the similarity from which on a hit ties with it."""


def _found(wanted: Sequence[Wanted], hits: Hits, k: Sequence[int]) -> list[bool]:
    """Which memories came back; one that was cut at `k` among its ties counts as back."""
    return [
        id_ in ids or (len(ids) >= limit and min(values) >= floor)
        for (id_, floor), ids, values, limit in zip(wanted, hits.ids, hits.similarity, k, strict=True)
    ]
