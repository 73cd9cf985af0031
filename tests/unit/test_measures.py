"""Ranking measures equal their definitions, written out slowly."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memregress import measures
from memregress.measures import PERSISTENCE


def columns(expected, returned, relevant):
    """The arrays of one query: ranks of the expected memories among the returned."""
    ranks = np.array([returned.index(row) + 1 if row in returned else 0 for row in expected], np.int32)
    search = np.zeros(len(expected), np.int32)
    flags = np.array([row in relevant for row in expected], np.bool_)
    return search, np.arange(1, len(expected) + 1, dtype=np.int32), ranks, flags


def slow_tau(expected, returned):
    common = [row for row in expected if row in returned]
    pairs = [(a, b) for i, a in enumerate(common) for b in common[i + 1 :]]
    if not pairs:
        return math.nan
    return sum(1 if returned.index(a) < returned.index(b) else -1 for a, b in pairs) / len(pairs)


def slow_rbo(expected, returned):
    agreements = [len(set(expected[:d]) & set(returned[:d])) / d for d in range(1, len(expected) + 1)]
    total = sum((1 - PERSISTENCE) * PERSISTENCE ** (d - 1) * a for d, a in enumerate(agreements, start=1))
    return total + PERSISTENCE ** len(expected) * agreements[-1]


rankings = st.lists(st.integers(0, 15), min_size=1, max_size=10, unique=True)


@settings(max_examples=200, deadline=None)
@given(rankings, rankings)
def test_measures_equal_their_definitions(expected, returned):
    """tau-b, RBO, MRR and nDCG of any two rankings are those of the definitions."""
    relevant = set(expected[::2])
    search, position, ranks, flags = columns(expected, returned, relevant)
    tau = measures._tau(search, position, ranks, 1) if len(expected) else []  # noqa: SLF001
    assert tau[0] == pytest.approx(slow_tau(expected, returned), nan_ok=True)
    size = np.array([float(len(expected))])
    rbo = measures._rbo(search, np.maximum(position, ranks), ranks > 0, size)  # noqa: SLF001
    assert rbo[0] == pytest.approx(slow_rbo(expected, returned))
    found = [returned.index(row) + 1 for row in relevant if row in returned]
    mrr = measures._mrr(search, ranks, flags, 1)  # noqa: SLF001
    assert mrr[0] == pytest.approx(max((1 / rank for rank in found), default=0.0))
    ideal = sum(1 / math.log2(place + 2) for place in range(len(relevant)))
    ndcg = measures._ndcg(search, ranks, flags, 1)  # noqa: SLF001
    assert ndcg[0] == pytest.approx(sum(1 / math.log2(rank + 1) for rank in found) / ideal)
