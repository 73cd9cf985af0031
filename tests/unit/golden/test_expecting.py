"""Expectations by exact search: within user and filter, above the threshold, and lenient where a tie decides."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memregress import golden
from memregress.golden import expecting
from memregress.model import Query, Source


def answer(opened: golden.GoldenSet, query: Query, vector: list[float], **options: Any) -> Query:
    return expecting.exact(opened, [(query, np.array(vector, np.float32))], **options)[0][0]


@pytest.fixture
def opened(folder: Any) -> golden.GoldenSet:
    return golden.open(folder.path)


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        (Query(id="q", k=2), ["a", "d"]),
        (Query(id="q", user="ada"), ["a", "b"]),
        (Query(id="q", user="bob"), ["d"]),
        (Query(id="q", user="eve"), []),
        (Query(id="q", filter={"topic": "order"}), ["b"]),
        (Query(id="q", filter={"n": {"lt": 3}}, k=1), ["a"]),
        (Query(id="q", filter={"tags": "y"}), ["d"]),
        (Query(id="q", filter={"topic": None}), ["e"]),
        (Query(id="q", user="ada", min_similarity=0.5), ["a"]),
        (Query(id="q", user="ada", filter={"topic": {"in": ["order", "other"]}}), ["b"]),
    ],
)
def test_scope(opened: golden.GoldenSet, query: Query, ids: list[str]) -> None:
    """Only memories of the query's user, that pass its filter and its threshold, are expected; best first."""
    found = answer(opened, query, [1, 0.1, 0])
    assert [expected.id for expected in found.expected] == ids
    assert found.source is Source.EXACT


def test_similarity_and_rank(opened: golden.GoldenSet) -> None:
    """Similarity is exact, and a memory may fall to rank k."""
    first = answer(opened, Query(id="q", user="ada", k=3), [1, 0, 0]).expected[0]
    assert (first.id, first.similarity, first.must, first.max_rank) == ("a", 1.0, True, 3)


def test_rank_slack(opened: golden.GoldenSet) -> None:
    """With a slack, a memory may fall that many ranks, but not out of k."""
    found = answer(opened, Query(id="q", k=4), [1, 0.1, 0], rank_slack=1)
    assert [expected.max_rank for expected in found.expected] == [2, 3, 4, 4]


def tied_set(path: Path, write: Any, batch: Any) -> golden.GoldenSet:
    vectors = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 0], [1, 1, 0]], np.float32)
    write(path, memories=[batch(vectors=vectors, users=[None] * 5)], queries=[])
    return golden.open(path)


def test_ties_at_the_cut_are_not_musts(tmp_path: Path, write: Any, batch: Any) -> None:
    """Where memories beyond k are as close as those within, none of them must be found."""
    opened = tied_set(tmp_path / "set", write, batch)
    found = answer(opened, Query(id="q", k=2), [1, 0, 0])
    assert [(expected.id, expected.must) for expected in found.expected] == [("a", True), ("b", False)]


def test_ties_share_a_rank(tmp_path: Path, write: Any, batch: Any) -> None:
    """Each of a group of ties may come last of the group."""
    opened = tied_set(tmp_path / "set", write, batch)
    found = answer(opened, Query(id="q", k=5), [1, 0, 0], rank_slack=0)
    assert [(expected.id, expected.max_rank) for expected in found.expected] == [("a", 1), ("b", 4), ("d", 4), ("e", 4)]


def test_ties_with_the_threshold_are_not_musts(opened: golden.GoldenSet) -> None:
    """A memory exactly at the threshold may fall on either side of it."""
    found = answer(opened, Query(id="q", user="bob", min_similarity=0.70710678), [1, 0, 0])
    assert [expected.must for expected in found.expected] in ([False], [])


def test_recorded_expectations_stay(opened: golden.GoldenSet) -> None:
    """A query that has expectations, and one without a vector, are left as they are."""
    recorded = [(opened.queries[0], np.ones(3, np.float32)), (Query(id="text", text="x"), None)]
    assert expecting.exact(opened, recorded) == recorded
