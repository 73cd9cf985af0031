"""Comparing golden sets: what was added, removed and changed, and which expectations were loosened."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from memregress import golden
from memregress.golden import diff
from memregress.golden.diff import Change
from memregress.model import Expected


def compare(tmp_path: Path, write: Any, **changes: Any) -> diff.Difference:
    write(tmp_path / "old", policy=golden.Policy(must_recall=0.9, rank_tolerance=1, max_index_misses=0.01))
    write(
        tmp_path / "new",
        **({"policy": golden.Policy(must_recall=0.9, rank_tolerance=1, max_index_misses=0.01)} | changes),
    )
    return diff.compare(golden.open(tmp_path / "old"), golden.open(tmp_path / "new"))


def test_no_difference(tmp_path: Path, write: Any) -> None:
    """A set does not differ from itself, nor from itself in other parts and another order of batches."""
    assert not compare(tmp_path, write, rows_per_part=2)


def test_order_does_not_matter(tmp_path: Path, write: Any, batch: Any) -> None:
    """Memories are compared by id, not by row."""
    old = batch()
    order = [4, 2, 0, 1, 3]
    columns = {name: [getattr(old, name)[row] for row in order] for name in old.__slots__}
    columns |= {name: getattr(old, name)[order] for name in ("vectors", "dimensions")}
    difference = compare(tmp_path, write, memories=[batch(**columns)])
    assert difference.memories == diff.Changes(added=[], removed=[], changed=[])


def test_memories(tmp_path: Path, write: Any, batch: Any) -> None:
    """Added, removed and changed memories are told apart, with the fields and how far the vector moved."""
    new = batch(
        ids=["a", "b", "c", "d", "f"],
        contents=["likes coffee", "ordered a kettle", "no vector", "away until March", "new"],
        metadata=[{"n": 1, "topic": "taste"}, {"topic": "order", "n": 3}, {}, {"tags": ["x", "y"]}, {}],
        vectors=np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 1, 2], [0, 0.5, 1]], np.float32),
    )
    memories = compare(tmp_path, write, memories=[new]).memories
    assert (memories.added, memories.removed) == (["f"], ["e"])
    assert memories.changed == [
        Change(id="a", fields=["content"], moved=0.0),
        Change(id="b", fields=["metadata"], moved=0.0),
        Change(id="d", fields=["vector"], moved=2.0),
    ]


def test_vector_lost(tmp_path: Path, write: Any, batch: Any) -> None:
    """A vector that is gone has moved, nobody can say how far."""
    memories = compare(tmp_path, write, memories=[batch(dimensions=np.array([0, 3, 0, 3, 3], np.int32))]).memories
    assert memories.changed == [Change(id="a", fields=["vector"], moved=None)]


def test_queries(tmp_path: Path, write: Any, queries: Any) -> None:
    """Queries are compared by id: text, expectations and vector."""
    (tea, vector), _ = queries
    changed = msgspec.structs.replace(tea, text="and to drink?")
    added = msgspec.structs.replace(tea, id="q3")
    found = compare(tmp_path, write, queries=[(changed, vector + 1), (added, vector)]).queries
    assert (found.added, found.removed) == (["q3"], ["q2"])
    assert found.changed == [Change(id="q1", fields=["text", "vector"], moved=1.73205)]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"expected": [Expected(id="a", similarity=0.98, max_rank=1)]}, "b is no longer expected"),
        (
            {"expected": [Expected(id="a", similarity=0.98, max_rank=1, must=False), Expected(id="b", must=False)]},
            "a no longer must be found",
        ),
        (
            {"expected": [Expected(id="a", similarity=0.98, max_rank=2), Expected(id="b", must=False)]},
            "a: max_rank raised from 1 to 2",
        ),
        (
            {"expected": [Expected(id="a", similarity=0.98), Expected(id="b", must=False)]},
            "a: max_rank raised from 1 to None",
        ),
        (
            {"expected": [Expected(id="a", max_rank=1), Expected(id="b", must=False)]},
            "a: its similarity is no longer recorded",
        ),
        ({"forbidden": []}, "d is no longer forbidden"),
        ({"k": 3}, "k raised from 2 to 3"),
    ],
)
def test_loosened_query(tmp_path: Path, write: Any, queries: Any, changes: dict[str, Any], what: str) -> None:
    """An expectation that became easier to meet is named."""
    (tea, vector), other = queries
    loosened = compare(tmp_path, write, queries=[(msgspec.structs.replace(tea, **changes), vector), other]).loosened
    assert loosened == [diff.Loosened(query="q1", what=what)]


@pytest.mark.parametrize("bound", [0.05, None])
def test_loosened_threshold(tmp_path: Path, write: Any, queries: Any, bound: float | None) -> None:
    """A threshold that was lowered or taken away is named."""
    tea, (order, vector) = queries
    changed = msgspec.structs.replace(order, min_similarity=bound)
    loosened = compare(tmp_path, write, queries=[tea, (changed, vector)]).loosened
    assert loosened == [diff.Loosened(query="q2", what=f"min_similarity lowered from 0.1 to {bound}")]


def test_removed_query_is_loosened(tmp_path: Path, write: Any, queries: Any) -> None:
    """Taking a query out takes out all it expected."""
    assert compare(tmp_path, write, queries=queries[1:]).loosened == [diff.Loosened(query="q1", what="removed")]


def test_tightened_is_not_loosened(tmp_path: Path, write: Any, queries: Any) -> None:
    """Asking for more is a change, but no loosening."""
    (tea, vector), other = queries
    stricter = msgspec.structs.replace(
        tea, expected=[tea.expected[0], Expected(id="b", max_rank=2)], forbidden=["d", "e"], min_similarity=0.2
    )
    difference = compare(tmp_path, write, queries=[(stricter, vector), other])
    assert difference
    assert difference.loosened == []


@pytest.mark.parametrize(
    ("policy", "what"),
    [
        ({"must_recall": 0.8}, "must_recall lowered from 0.9 to 0.8"),
        ({"must_recall": None}, "must_recall lowered from 0.9 to None"),
        ({"rank_tolerance": 2}, "rank_tolerance raised from 1 to 2"),
        ({"max_index_misses": None}, "max_index_misses raised from 0.01 to None"),
        ({"probe_k": 20}, "probe_k raised from 10 to 20"),
    ],
)
def test_loosened_policy(tmp_path: Path, write: Any, policy: dict[str, Any], what: str) -> None:
    """A gate that became easier to pass is named."""
    asked = {"must_recall": 0.9, "rank_tolerance": 1, "max_index_misses": 0.01} | policy
    difference = compare(tmp_path, write, policy=golden.Policy(**asked))
    assert difference.manifest == ["policy"]
    assert difference.loosened == [diff.Loosened(query=None, what=what)]
