"""One verdict a memory: ties are groups, thresholds and ranks have tolerance, the worst observation decides."""

import numpy as np
import pytest

from memregress import compare, tolerance
from memregress.expectations import Expectations
from memregress.model import CODE, WORST_FIRST, Metric
from memregress.run import FOREIGN, NO_HIT, Answers, Searches

RULE = tolerance.choose(metric=Metric.COSINE, stored_as="float32", dimensions=32, scale=1.0, given=None)


def judged(hits, wanted, *, k=3, threshold=None, uncounted=(), similarities=None, rank_tolerance=0):
    """Judge one search: `hits` are (row, similarity), `wanted` are (row, similarity, max_rank)."""
    width = max(len(hits), 1)
    row = np.full((1, width), NO_HIT, np.int32)
    similarity = np.full((1, width), -np.inf, np.float32)
    for place, (number, value) in enumerate(hits):
        row[0, place], similarity[0, place] = number, value
    flags = np.zeros((1, width), np.bool_)
    flags[0, list(uncounted)] = True
    values = np.array([value for _, value, _ in wanted], np.float32)
    searches = Searches(
        queries=lambda _: None,
        users=[None],
        k=np.array([k], np.int32),
        expectations=Expectations(
            search=np.zeros(len(wanted), np.int32),
            row=np.array([number for number, _, _ in wanted], np.int32),
            similarity=values,
            position=np.arange(1, len(wanted) + 1, dtype=np.int32),
            max_rank=np.array([limit for _, _, limit in wanted], np.int32),
            must=np.ones(len(wanted), np.bool_),
            recorded=~np.isnan(values),
        ),
        answers=Answers(row=row, similarity=similarity, used_index=np.zeros(1, np.bool_), foreign={}),
    )
    thresholds = None if threshold is None else np.array([threshold], np.float32)
    result = compare.judge(searches, RULE, rank_tolerance=rank_tolerance, uncounted=flags, thresholds=thresholds)
    return [WORST_FIRST[code].value for code in result.code.tolist()]


@pytest.mark.parametrize(
    ("hits", "wanted", "options", "verdicts"),
    [
        ([(1, 0.9), (2, 0.8)], [(1, 0.9, 3), (2, 0.8, 3)], {}, ["ok", "ok"]),
        ([(2, 0.8), (1, 0.8)], [(1, 0.8, 1), (2, 0.8, 2)], {}, ["ok", "ok"]),
        ([(2, 0.8 + 4e-7), (1, 0.8)], [(1, 0.8, 1), (2, 0.8, 2)], {}, ["ok", "ok"]),
        ([(7, 0.95), (1, 0.9)], [(1, 0.9, 3)], {}, ["tolerated"]),
        ([(7, 0.95), (1, 0.9)], [(1, 0.9, 1)], {}, ["outranked"]),
        ([(7, 0.95), (1, 0.9)], [(1, 0.9, 1)], {"rank_tolerance": 1}, ["tolerated"]),
        ([(7, 0.95), (1, 0.9)], [(1, 0.9, 1)], {"uncounted": [0]}, ["ok"]),
        ([(1, 0.9), (2, 0.7)], [(2, 0.75, 3)], {}, ["drifted"]),
        ([(1, float("nan"))], [(1, 0.9, 3)], {}, ["drifted"]),
        ([(1, 0.9)], [(1, float("nan"), 3)], {}, ["ok"]),
        ([(1, 0.9), (2, 0.8)], [(3, 0.7, 3)], {}, ["unreachable"]),
        ([], [(3, 0.7, 3)], {}, ["unreachable"]),
        ([(1, 0.9), (2, 0.8), (4, 0.6)], [(3, 0.7, 3)], {}, ["unreachable"]),
        ([(1, 0.9), (2, 0.8), (4, 0.75)], [(3, 0.7, 3)], {}, ["outranked"]),
        ([(1, 0.9), (2, 0.8), (FOREIGN, 0.75)], [(3, 0.7, 3)], {}, ["outranked"]),
        ([(1, 0.9), (2, 0.8), (4, 0.7)], [(3, 0.7, 3)], {}, ["tolerated"]),
        ([(1, 0.9), (2, 0.8), (4, 0.75)], [(3, 0.7, 3)], {"uncounted": [2]}, ["tolerated"]),
        ([(2, 0.5)], [(2, 0.5, 3)], {"threshold": 0.6}, ["hidden"]),
        ([(2, 0.6)], [(2, 0.6, 3)], {"threshold": 0.6}, ["ok"]),
        ([(2, 0.5999997)], [(2, 0.6, 3)], {"threshold": 0.6}, ["ok"]),
    ],
    ids=[
        "as recorded",
        "tie swapped",
        "tie within tolerance",
        "lower, still in time",
        "too low",
        "too low, tolerated by policy",
        "pushed down by an intruder",
        "similarity moved",
        "no similarity",
        "no similarity recorded",
        "fewer than k, and not there",
        "nothing came back",
        "worse ones came back",
        "better ones came back",
        "a stranger took the slot",
        "cut among ties",
        "cut by an intruder",
        "below the threshold",
        "at the threshold",
        "at the threshold, within tolerance",
    ],
)
def test_one_search(hits, wanted, options, verdicts):
    """Each kind of observation has its verdict."""
    assert judged(hits, wanted, **options) == verdicts


def test_optional_expectations_break_nothing():
    """What need not be found has no verdict worse than ok."""
    searches = Searches(
        queries=lambda _: None,
        users=[None],
        k=np.array([3], np.int32),
        expectations=Expectations(
            search=np.zeros(1, np.int32),
            row=np.array([5], np.int32),
            similarity=np.array([0.5], np.float32),
            position=np.ones(1, np.int32),
            max_rank=np.ones(1, np.int32),
            must=np.zeros(1, np.bool_),
            recorded=np.ones(1, np.bool_),
        ),
        answers=Answers(
            row=np.array([[1]], np.int32),
            similarity=np.array([[0.1]], np.float32),
            used_index=np.zeros(1, np.bool_),
            foreign={},
        ),
    )
    result = compare.judge(searches, RULE, rank_tolerance=0, uncounted=np.zeros((1, 1), np.bool_))
    assert result.code.tolist() == [CODE["ok"]]


@pytest.mark.parametrize("metric", list(Metric))
def test_tolerance_follows_the_metric(metric):
    """Slack is never negative, grows with the scale where the metric has one, and covers rounding near distance 0."""
    small = tolerance.choose(metric=metric, stored_as="float32", dimensions=32, scale=1.0, given=None)
    large = tolerance.choose(metric=metric, stored_as="float32", dimensions=32, scale=100.0, given=None)
    half = tolerance.choose(metric=metric, stored_as="float16", dimensions=32, scale=1.0, given=None)
    at = np.array([0.0, -0.5, -2.0])
    assert (small.slack(at) > 0).all()
    assert (half.slack(at) > small.slack(at)).all()
    assert (large.slack(at) == small.slack(at)).all() == (metric is Metric.COSINE)
    if metric is Metric.L2:
        assert small.slack(0.0) > 1e-3
        assert small.slack(-2.0) < 1e-5


def test_a_given_tolerance_says_where_it_is_from():
    """A user's number replaces the type's, and its origin is told."""
    rule = tolerance.choose(
        metric=Metric.COSINE, stored_as="float32", dimensions=32, scale=1.0, given=0.01, source="similarity_tolerance"
    )
    assert (rule.value, rule.origin) == (0.01, "similarity_tolerance")
