"""Similarity and exact search against the plainest possible computation."""

import numpy as np
import pytest

from memregress import similarity
from memregress.model import Metric

METRICS = list(Metric)


def brute(metric: Metric, queries: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """One pair at a time in float64."""
    one, other = queries.astype(np.float64)[:, None], vectors.astype(np.float64)[None]
    if metric is Metric.L2:
        return -np.sqrt(((one - other) ** 2).sum(axis=2))
    product = (one * other).sum(axis=2)
    if metric is Metric.COSINE:
        product /= np.linalg.norm(one, axis=2) * np.linalg.norm(other, axis=2)
    return product


def sample(rows: int, *, offset: float = 0.0, dimensions: int = 24) -> np.ndarray:
    random = np.random.default_rng(rows)
    return (random.standard_normal((rows, dimensions)) + offset).astype(np.float32)


@pytest.mark.parametrize("metric", METRICS)
def test_similarity(metric: Metric) -> None:
    """A block of similarities is that of every pair."""
    queries, vectors = sample(30), sample(70)
    assert np.allclose(similarity.similarity(metric, queries, vectors), brute(metric, queries, vectors), atol=1e-5)


@pytest.mark.parametrize("metric", METRICS)
def test_pairs(metric: Metric) -> None:
    """Pair by pair similarity is the diagonal of the block, in float64."""
    left, right = sample(20), sample(21)[:20]
    expected = np.diag(brute(metric, left, right))
    assert np.allclose(similarity.pairs(metric, left, right), expected, atol=1e-12)


def test_self_similarity() -> None:
    """A vector is at distance 0 from itself and at cosine 1, however long it is."""
    vectors = sample(50, offset=1000)
    assert (np.diag(similarity.similarity(Metric.L2, vectors, vectors)) == 0).all()
    assert (similarity.pairs(Metric.L2, vectors, vectors) == 0).all()
    assert similarity.pairs(Metric.COSINE, vectors, vectors) == pytest.approx(1, abs=1e-15)


def test_near_vectors_under_l2() -> None:
    """Vectors a hair apart are at their true distance, where |a|² + |b|² - 2ab would give noise."""
    left = sample(10, offset=1000)
    right = left.copy()
    right[:, 0] += np.float32(0.0625)
    found = np.diag(similarity.similarity(Metric.L2, left, right))
    assert found == pytest.approx(np.diag(brute(Metric.L2, left, right)), rel=1e-6)


def test_cosine_of_zeros() -> None:
    """A vector of zeros has no direction: its cosine similarity is NaN, without a warning."""
    zeros, other = np.zeros((1, 3), np.float32), np.ones((1, 3), np.float32)
    assert np.isnan(similarity.similarity(Metric.COSINE, zeros, other)).all()
    assert np.isnan(similarity.pairs(Metric.COSINE, zeros, other)).all()


def test_cosine_of_huge_and_tiny() -> None:
    """Components whose squares float32 cannot hold have a direction all the same."""
    vectors = np.array([[1e30, 1e30], [1e-30, 0]], np.float32)
    found = similarity.similarity(Metric.COSINE, vectors, vectors)
    assert np.allclose(found, [[1, np.sqrt(0.5)], [np.sqrt(0.5), 1]])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("offset", [0.0, 3.0])
def test_exact_search(metric: Metric, offset: float) -> None:
    """Over several blocks of queries and of memories, the k nearest are those of brute force in float64."""
    queries, vectors = sample(600, offset=offset), sample(5_000, offset=offset)
    nearest = similarity.exact_search(metric, queries, vectors, 7)
    expected = brute(metric, queries, vectors)
    order = np.argsort(-expected, axis=1, kind="stable")[:, :7]
    assert (nearest.rows == order).all()
    assert np.allclose(nearest.similarity, np.take_along_axis(expected, order, axis=1), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("metric", METRICS)
def test_ties_in_row_order(metric: Metric) -> None:
    """Equally close memories come in the order of their rows, also over blocks."""
    vectors = np.tile(np.array([[1, 2]], np.float32), (similarity.MEMORY_BLOCK + 10, 1))
    nearest = similarity.exact_search(metric, vectors[:2], vectors, 5)
    assert nearest.rows.tolist() == [[0, 1, 2, 3, 4]] * 2


@pytest.mark.parametrize("metric", METRICS)
def test_missing_vectors_are_never_near(metric: Metric) -> None:
    """Rows of NaN are not found, even where that leaves less than k; the rest is padding."""
    vectors = np.full((50, 2), np.nan, np.float32)
    vectors[[7, 40]] = [[1, 0], [0, 1]]
    nearest = similarity.exact_search(metric, np.array([[1, 0.1]], np.float32), vectors, 4)
    assert nearest.rows.tolist() == [[7, 40, -1, -1]]
    assert np.isnan(nearest.similarity[0]).tolist() == [False, False, True, True]


def test_query_of_zeros_finds_nothing() -> None:
    """Under cosine a query of zeros is close to nothing."""
    nearest = similarity.exact_search(Metric.COSINE, np.zeros((1, 2), np.float32), np.ones((9, 2), np.float32), 3)
    assert nearest.rows.tolist() == [[-1, -1, -1]]


@pytest.mark.parametrize(("queries", "vectors", "shape"), [(0, 5, (0, 3)), (2, 0, (2, 0)), (2, 2, (2, 2))])
def test_small_searches(queries: int, vectors: int, shape: tuple[int, int]) -> None:
    """No queries, no memories, or fewer than k: the answer has the shape there is."""
    found = similarity.exact_search(Metric.L2, sample(queries), sample(vectors), 3)
    assert found.rows.shape == found.similarity.shape == shape
