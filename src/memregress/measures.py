"""How good the answers are as rankings: per query, then as means over all queries and over each user's.

Recall and overlap compare sets; MRR and nDCG (Järvelin and Kekäläinen 2002) take the memories a person labelled, or
the expected ones where there are no labels; Kendall's tau-b (Kendall 1945) and rank-biased overlap (Webber, Moffat
and Zobel 2010, with p = 0.9, extrapolated) compare orders.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from memregress import compare
from memregress.golden import GoldenSet
from memregress.run import Run

Doubles = npt.NDArray[np.float64]

PERSISTENCE = 0.9
"""Of rank-biased overlap: the reader goes on to the next rank with this probability."""


class Measures(msgspec.Struct, frozen=True, kw_only=True):
    """Means over queries, each 0 to 1 (tau-b -1 to 1); null where no query can be measured."""

    queries: int
    recall_at_k: float | None
    overlap_at_k: float | None
    mrr: float | None
    ndcg_at_k: float | None
    kendall_tau_b: float | None
    rank_biased_overlap: float | None
    largest_similarity_shift: float | None


def measure(golden: GoldenSet, run: Run) -> tuple[Measures, dict[str, Measures]]:
    """Return the measures over all replayed queries, and by user."""
    columns = _per_query(golden, run)
    users = run.recorded.users
    groups: dict[str, list[int]] = {}
    for number, user in enumerate(users):
        if user is not None:
            groups.setdefault(user, []).append(number)
    by_user = {user: _mean(columns, np.array(numbers)) for user, numbers in sorted(groups.items())}
    return _mean(columns, np.arange(len(users))), by_user


def _mean(columns: dict[str, Doubles], numbers: npt.NDArray[np.int64]) -> Measures:
    values: dict[str, Any] = {}
    for name, column in columns.items():
        known = column[numbers][~np.isnan(column[numbers])]
        reduce: Any = np.max if name == "largest_similarity_shift" else np.mean
        values[name] = round(float(reduce(known)), 6) if len(known) else None
    return Measures(queries=len(numbers), **values)


def _per_query(golden: GoldenSet, run: Run) -> dict[str, Doubles]:
    wanted, count = run.recorded.expectations, len(run.recorded)
    seen = compare.look_up(run.recorded.answers, wanted.search, wanted.row)
    found = seen.found.astype(np.float64)
    expected = np.bincount(wanted.search, minlength=count).astype(np.float64)
    hits = np.bincount(wanted.search, weights=found, minlength=count)
    returned = (run.recorded.answers.similarity > -np.inf).sum(axis=1) if count else np.zeros(0)
    shift = np.where(seen.found & wanted.recorded, np.abs(seen.got - wanted.similarity), np.nan)
    largest = np.full(count, np.nan)
    np.fmax.at(largest, wanted.search, shift)
    relevant = _relevant(golden, run, wanted.search, wanted.row)
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "recall_at_k": hits / expected,
            "overlap_at_k": hits / np.maximum(expected, returned),
            "mrr": _mrr(wanted.search, seen.rank, relevant, count),
            "ndcg_at_k": _ndcg(wanted.search, seen.rank, relevant, count),
            "kendall_tau_b": _tau(wanted.search, wanted.position, seen.rank, count),
            "rank_biased_overlap": _rbo(wanted.search, np.maximum(wanted.position, seen.rank), seen.found, expected),
            "largest_similarity_shift": largest,
        }


def _relevant(golden: GoldenSet, run: Run, search: Any, row: Any) -> npt.NDArray[np.bool_]:
    """Expected memories that were labelled, or all of them where a query has no labels."""
    labels = [{golden.row_of[id_] for id_ in golden.queries[position].labels} for position in run.positions]
    pairs = zip(search.tolist(), row.tolist(), strict=True)
    return np.array([not labels[number] or memory in labels[number] for number, memory in pairs], np.bool_)


def _mrr(search: Any, rank: Any, relevant: Any, count: int) -> Doubles:
    best = np.full(count, np.nan)
    np.fmax.at(best, search, np.where(relevant, np.where(rank > 0, 1 / np.maximum(rank, 1), 0.0), np.nan))
    return best


def _ndcg(search: Any, rank: Any, relevant: Any, count: int) -> Doubles:
    gain = np.where(relevant & (rank > 0), 1 / np.log2(np.maximum(rank, 1) + 1), 0.0)
    total = np.bincount(search, weights=gain, minlength=count)
    number = np.bincount(search, weights=relevant, minlength=count).astype(int)
    ideal = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, number.max(initial=0) + 2)))])
    normalised: Doubles = total / ideal[number]
    return normalised


def _tau(search: Any, position: Any, rank: Any, count: int) -> Doubles:
    """Over the expected memories that came back; undefined for fewer than two."""
    concordant, pairs = np.zeros(count), np.zeros(count)
    for distance in range(1, int(position.max(initial=0))):
        same = search[distance:] == search[:-distance]
        both = same & (rank[distance:] > 0) & (rank[:-distance] > 0)
        sign = np.sign(rank[distance:] - rank[:-distance])
        concordant += np.bincount(search[distance:], weights=np.where(both, sign, 0), minlength=count)
        pairs += np.bincount(search[distance:], weights=both, minlength=count)
    return np.where(pairs > 0, concordant / np.maximum(pairs, 1), np.nan)


def _rbo(search: Any, depth: Any, found: Any, expected: Doubles) -> Doubles:
    """A memory counts from the depth at which both rankings have it; beyond the expected depth agreement stays."""
    count, deepest = len(expected), int(expected.max(initial=0))
    total, weight = np.zeros(count), 0.0
    agreement = np.zeros(count)
    for level in range(1, deepest + 1):
        overlap = np.bincount(search[found & (depth <= level)], minlength=count)
        reached = expected >= level
        agreement = np.where(reached, overlap / level, agreement)
        weight = PERSISTENCE ** (level - 1)
        total += np.where(reached, (1 - PERSISTENCE) * weight * agreement, 0.0)
    tail = PERSISTENCE**expected * agreement
    return np.where(expected > 0, total + tail, np.nan)
