"""Compare what came back with what must come back: one verdict a memory. Pure, and on arrays throughout.

A search is judged by groups of ties, not by an order: memories whose similarities differ by less than the tolerance
may swap, also across the cut at `k`. A memory that did not come back gets the provisional verdict `unreachable`;
only asking the store can tell whether a filter hides it (see `evidence`).
"""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from memregress import contradictions, leaks
from memregress.golden import GoldenSet
from memregress.model import CODE, WORST_FIRST, Bools, Floats, Ints, Metric, Verdict
from memregress.run import FOREIGN, Answers, Run, Searches
from memregress.tolerance import Tolerance

Codes = npt.NDArray[np.int8]
CHUNK = 200_000
"""Expectations compared at once; bounds the memory of their k-wide tables."""


class Witness(enum.IntEnum):
    """What a verdict rests on."""

    NOTHING = 0
    STORED = 1
    PROBE = 2
    QUERY = 3
    INDEX = 4


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Verdicts:
    """One entry a memory (n): `code` int8[n] (see `model.CODE`), and the observation that decided.

    `witness` int8[n]; `search` int32[n], its number among the probes or recorded queries, -1 for none; `expected`
    and `got` float32[n], similarities (NaN for none); `expected_rank` and `got_rank` int32[n], from 1, 0 for none.
    `misses` counts searches that had to find something and did not, through the approximate index or not.
    """

    code: Codes
    witness: npt.NDArray[np.int8]
    search: Ints
    expected: Floats
    got: Floats
    expected_rank: Ints
    got_rank: Ints

    def rows(self, *verdicts: Verdict) -> Ints:
        """The memories with one of these verdicts, in order."""
        return np.flatnonzero(np.isin(self.code, [CODE[verdict] for verdict in verdicts])).astype(np.int32)

    def of(self, row: int) -> Verdict:
        """The verdict of one memory."""
        return WORST_FIRST[int(self.code[row])]

    @property
    def broken(self) -> Ints:
        """The memories that count against the gate, in order."""
        return self.rows(*(verdict for verdict in Verdict if verdict.broken))


def compare(golden: GoldenSet, run: Run, *, min_similarity: float | None = None, rank_tolerance: int = 0) -> Verdicts:
    """Judge every memory by the worst of what was seen of it.

    `min_similarity` is the application's threshold under test; None takes each query's recorded one.
    """
    verdicts = _blank(len(golden))
    probe_leaks = leaks.find(golden, run.probes, ())
    query_leaks = leaks.find(golden, run.recorded, [golden.queries[position].forbidden for position in run.positions])
    intruders = _intruders(run)
    uncounted = probe_leaks | intruders[run.probes.answers.row]
    probes = _judge_twice(golden, run, run.probes, uncounted, rank_tolerance=rank_tolerance)
    _excuse_short_vectors(golden, run, probes)
    uncounted = query_leaks | intruders[run.recorded.answers.row]
    thresholds = _thresholds(golden, run, min_similarity)
    queries = _judge_twice(golden, run, run.recorded, uncounted, rank_tolerance=rank_tolerance, thresholds=thresholds)
    _merge(verdicts, run.probes, probes, Witness.PROBE)
    _merge(verdicts, run.recorded, queries, Witness.QUERY)
    _judge_index(verdicts, run)
    _judge_leaks(verdicts, run.probes, probe_leaks, Witness.PROBE)
    _judge_leaks(verdicts, run.recorded, query_leaks, Witness.QUERY)
    _judge_stored(verdicts, run)
    return verdicts


def _judge_twice(golden: GoldenSet, run: Run, searches: Searches, uncounted: Bools, **terms: Any) -> Judged:
    """Judge; where something was outranked, do not count hits that cannot be what the store says, and judge again."""
    judging = functools.partial(judge, searches, run.tolerance, **terms)
    judged = judging(uncounted=uncounted)
    lost = np.unique(searches.expectations.search[judged.code == CODE[Verdict.OUTRANKED]])
    odd = contradictions.find(golden, searches, lost, run.tolerance)
    return judging(uncounted=uncounted | odd) if odd.any() else judged


def _intruders(run: Run) -> Bools:
    """bool[n + 2]: memories with a wrong vector, user or metadata, which turn up where they should not.

    Whom they push down is not broken, and comes back when they are mended. The last two entries are for `FOREIGN`
    and `NO_HIT`, as negative positions.
    """
    differs = run.stored.differs
    wrong = np.logical_or.reduce([differs["vector"], differs["user"], differs["metadata"]])
    return np.append(wrong, [False, False])


def _excuse_short_vectors(golden: GoldenSet, run: Run, probes: Judged) -> None:
    """Under inner product longer vectors rightly outrank a short one for its own vector: such a probe says nothing."""
    if golden.shape.metric is Metric.INNER_PRODUCT:
        ours = ~(run.probes.answers.row == FOREIGN).any(axis=1)
        outranked = probes.code == CODE[Verdict.OUTRANKED]
        probes.code[outranked & ours[run.probes.expectations.search]] = CODE[Verdict.UNTESTED]


def _blank(count: int) -> Verdicts:
    return Verdicts(
        code=np.full(count, CODE[Verdict.UNTESTED], np.int8),
        witness=np.zeros(count, np.int8),
        search=np.full(count, -1, np.int32),
        expected=np.full(count, np.nan, np.float32),
        got=np.full(count, np.nan, np.float32),
        expected_rank=np.zeros(count, np.int32),
        got_rank=np.zeros(count, np.int32),
    )


def _thresholds(golden: GoldenSet, run: Run, given: float | None) -> Floats:
    values = [golden.queries[position].min_similarity if given is None else given for position in run.positions]
    return np.array([-np.inf if value is None else value for value in values], np.float32)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Judged:
    """Per expectation (e): `code` int8[e], `got` float32[e] (NaN: not among the hits), `rank` int32[e] (0: not)."""

    code: Codes
    got: Floats
    rank: Ints


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Rules:
    tolerance: Tolerance
    rank_tolerance: int
    uncounted: Bools
    thresholds: Floats | None


def judge(
    searches: Searches,
    tolerance: Tolerance,
    *,
    rank_tolerance: int,
    uncounted: Bools,
    thresholds: Floats | None = None,
) -> Judged:
    """Judge every expectation of searches of one kind; `thresholds` is float32[s].

    `uncounted` bool[s, k] marks hits that count against nobody's rank: they should not be there at all.
    """
    rules = _Rules(tolerance=tolerance, rank_tolerance=rank_tolerance, uncounted=uncounted, thresholds=thresholds)
    count = len(searches.expectations)
    parts = [_judge_chunk(searches, slice(start, start + CHUNK), rules) for start in range(0, count, CHUNK)]
    empty = Judged(code=np.empty(0, np.int8), got=np.empty(0, np.float32), rank=np.empty(0, np.int32))
    return Judged(
        **{name: np.concatenate([getattr(part, name) for part in [empty, *parts]]) for name in ("code", "got", "rank")}
    )


def _judge_chunk(searches: Searches, chunk: slice, rules: _Rules) -> Judged:
    wanted, answers = searches.expectations, searches.answers
    search, row = wanted.search[chunk], wanted.row[chunk]
    expected, must = wanted.similarity[chunk], wanted.must[chunk]
    seen = look_up(answers, search, row)
    slack = rules.tolerance.slack(np.where(np.isnan(expected), 0, expected))
    place = _place(answers, search, np.where(seen.found, seen.got, expected) + slack, rules.uncounted)
    full = (answers.similarity[search] > -np.inf).sum(axis=1) >= searches.k[search]

    verdict = np.full(len(row), CODE[Verdict.OK], np.int8)

    def worsen(where: Bools, to: Verdict) -> None:
        verdict[where & must] = np.minimum(verdict[where & must], CODE[to])

    drift = seen.found & wanted.recorded[chunk] & (np.abs(seen.got - expected) > slack)
    beyond_cut = ~seen.found & full & (seen.last >= expected - slack)
    worsen(beyond_cut | (seen.found & (place > wanted.position[chunk])), Verdict.TOLERATED)
    worsen(drift | (seen.found & np.isnan(seen.got)), Verdict.DRIFTED)
    worsen(seen.found & (place > wanted.max_rank[chunk] + rules.rank_tolerance), Verdict.OUTRANKED)
    worsen(beyond_cut & (place > searches.k[search]), Verdict.OUTRANKED)
    worsen(~seen.found & ~beyond_cut, Verdict.UNREACHABLE)
    if rules.thresholds is not None:
        worsen(seen.found & (seen.got < rules.thresholds[search] - slack), Verdict.HIDDEN)
    return Judged(code=verdict, got=seen.got, rank=seen.rank)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Seen:
    """Per expectation (e): `found` bool[e], `got` float32[e] (NaN: not found), `rank` int32[e] from 1 (0: not found).

    `last` float32[e] is the lowest similarity among the hits of its search, infinite where there are none.
    """

    found: Bools
    got: Floats
    rank: Ints
    last: Floats


def look_up(answers: Answers, search: Ints, row: Ints) -> Seen:
    """Find each memory among the hits of its search."""
    if answers.row.shape[1] == 0:
        nothing = np.full(len(row), np.nan, np.float32)
        return Seen(found=np.zeros(len(row), np.bool_), got=nothing, rank=np.zeros(len(row), np.int32), last=nothing)
    matches = answers.row[search] == row[:, None]
    found = matches.any(axis=1)
    first = matches.argmax(axis=1)
    similarity = answers.similarity[search]
    got = np.where(found, similarity[np.arange(len(row)), first], np.nan).astype(np.float32)
    last = np.where(similarity > -np.inf, similarity, np.inf).min(axis=1).astype(np.float32)
    return Seen(found=found, got=got, rank=np.where(found, first + 1, 0).astype(np.int32), last=last)


def _place(answers: Answers, search: Ints, bar: npt.NDArray[np.float64], uncounted: Bools) -> Ints:
    """The rank among the hits that count, from 1, of a similarity just below `bar`."""
    better: Any = (answers.similarity[search] > bar[:, None]) & ~uncounted[search]
    place: Ints = (better.sum(axis=1) + 1).astype(np.int32)
    return place


def _merge(verdicts: Verdicts, searches: Searches, judged: Judged, witness: Witness) -> None:
    """Let the worst observation of each memory decide; among equals the first."""
    wanted = searches.expectations
    order = np.lexsort((wanted.search, judged.code, wanted.row))
    rows, first = np.unique(wanted.row[order], return_index=True)
    worst = order[first]
    decides = judged.code[worst] < verdicts.code[rows]
    rows, worst = rows[decides], worst[decides]
    verdicts.code[rows] = judged.code[worst]
    verdicts.witness[rows] = witness
    verdicts.search[rows] = wanted.search[worst]
    verdicts.expected[rows] = wanted.similarity[worst]
    verdicts.got[rows] = judged.got[worst]
    verdicts.expected_rank[rows] = wanted.position[worst]
    verdicts.got_rank[rows] = judged.rank[worst]


def _judge_index(verdicts: Verdicts, run: Run) -> None:
    if run.index_check is not None:
        _set(verdicts, run.index_check.rows[~run.index_check.reached], Verdict.UNREACHABLE, Witness.INDEX)


def _judge_leaks(verdicts: Verdicts, searches: Searches, leaks: Bools, witness: Witness) -> None:
    """Give each leaked memory its verdict, with the first search that returned it."""
    search, rank = np.nonzero(leaks)
    rows, first = np.unique(searches.answers.row[search, rank], return_index=True)
    new = verdicts.code[rows] > CODE[Verdict.LEAKED]
    rows, search, rank = rows[new], search[first[new]], rank[first[new]]
    _set(verdicts, rows, Verdict.LEAKED, witness)
    verdicts.search[rows] = search
    verdicts.expected[rows] = np.nan
    verdicts.expected_rank[rows] = 0
    verdicts.got[rows] = searches.answers.similarity[search, rank]
    verdicts.got_rank[rows] = rank + 1


def _judge_stored(verdicts: Verdicts, run: Run) -> None:
    stored = run.stored
    rows = np.arange(len(stored.checked), dtype=np.int32)
    lost_vector = np.zeros(len(rows), np.bool_)
    lost_vector[run.probes.expectations.row] = True
    lost_vector &= stored.checked & (stored.dimensions == 0)
    _set(verdicts, rows[stored.differs["lifetime"]], Verdict.EXPIRED, Witness.STORED)
    altered = np.logical_or.reduce([stored.differs[name] for name in ("vector", "content", "user", "metadata")])
    _set(verdicts, rows[altered], Verdict.ALTERED, Witness.STORED)
    _set(verdicts, rows[stored.missing | lost_vector], Verdict.MISSING, Witness.STORED)


def _set(verdicts: Verdicts, rows: Ints, verdict: Verdict, witness: Witness) -> None:
    """Worsen memories to a verdict; what was seen of their searches stays beside it."""
    worse = rows[verdicts.code[rows] > CODE[verdict]]
    verdicts.code[worse] = CODE[verdict]
    verdicts.witness[worse] = witness
