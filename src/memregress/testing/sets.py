"""Golden sets made to measure: clustered vectors, as embeddings are, and queries whose answers are known exactly."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memregress import similarity
from memregress.golden import GoldenSet, Vectors, open, write  # noqa: A004  golden.open
from memregress.model import Expected, Floats, MemoryBatch, Metric, Query, Source

CAPTURED = datetime(2026, 6, 1, tzinfo=UTC)
TOPICS = ("billing", "delivery", "returns", "account")
K = 5


def make(
    path: Path,
    *,
    memories: int = 1_000,
    users: int = 50,
    dimensions: int = 32,
    queries: int = 100,
    metric: Metric = Metric.COSINE,
    clusters: int = 40,
    noise: float = 0.6,
    unit_length: bool = True,
    lifetimes: bool = True,
    content: str = "Order {row} is on its way, says note {row}.",
    seed: int = 1,
) -> GoldenSet:
    """Write a golden set and open it; the same arguments give the same set.

    Memories are dealt to users in turn (to none if `users` is 0). Queries are noisy copies of memories, asked by
    the memory's user; what they expect is the exact answer, cut where the next memory is clearly farther away.
    """
    generator = np.random.default_rng(seed)
    centres = generator.standard_normal((clusters, dimensions))
    vectors = _near(centres[generator.integers(0, clusters, memories)], noise, generator)
    if unit_length:
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    asked = generator.choice(memories, queries, replace=False) if queries else np.empty(0, np.int64)
    probes = _near(vectors[asked], 0.1 / np.sqrt(dimensions), generator)
    if unit_length:
        probes /= np.linalg.norm(probes, axis=1, keepdims=True)
    write(
        path,
        name=path.name,
        created_at=CAPTURED,
        captured_at=CAPTURED,
        vectors=Vectors(dimensions=dimensions, metric=metric, normalized=unit_length, model="synthetic"),
        memories=_batches(vectors, users, lifetimes=lifetimes, content=content),
        queries=zip(_queries(vectors, probes, asked, users, metric), probes, strict=True),
    )
    return open(path)


def user_of(row: int, users: int) -> str | None:
    """The user a memory is dealt to."""
    return f"u_{row % users:04d}" if users else None


def _near(points: npt.NDArray[np.floating], noise: float, generator: np.random.Generator) -> Floats:
    return (points + noise * generator.standard_normal(points.shape)).astype(np.float32)


def _batches(vectors: Floats, users: int, *, lifetimes: bool, content: str) -> Iterator[MemoryBatch]:
    for start in range(0, len(vectors), 2_000):
        rows = range(start, min(start + 2_000, len(vectors)))
        yield MemoryBatch(
            ids=[f"m-{row:06d}" for row in rows],
            vectors=vectors[start : start + 2_000],
            dimensions=np.full(len(rows), vectors.shape[1], np.int32),
            users=[user_of(row, users) for row in rows],
            contents=[content.format(row=row) for row in rows],
            created_at=[CAPTURED - timedelta(minutes=row) for row in rows],
            expires_at=[CAPTURED + timedelta(days=30) if lifetimes and row % 7 == 0 else None for row in rows],
            metadata=[{"topic": TOPICS[row % len(TOPICS)], "number": row, "tags": ["note"]} for row in rows],
        )


def _queries(vectors: Floats, probes: Floats, asked: np.ndarray, users: int, metric: Metric) -> Iterator[Query]:
    for number, row in enumerate(asked.tolist()):
        owned = np.arange(row % users, len(vectors), users) if users else np.arange(len(vectors))
        nearest = similarity.exact_search(metric, probes[number : number + 1], vectors[owned], K)
        yield Query(
            id=f"q-{number:04d}",
            text=f"Where is order {row}?",
            user=user_of(row, users),
            k=K,
            expected=[
                Expected(id=f"m-{owned[place]:06d}", similarity=round(float(value), 7), max_rank=K)
                for place, value in zip(nearest.rows[0].tolist(), nearest.similarity[0].tolist(), strict=True)
                if place >= 0
            ],
            source=Source.EXACT,
        )
