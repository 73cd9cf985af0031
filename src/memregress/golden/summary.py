"""The facts of a golden set in one record: how many, whose, compared how, and what its queries ask for."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import msgspec

from memregress.golden.golden_set import GoldenSet
from memregress.golden.manifest import Policy
from memregress.model import Memory, Metric


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Counts are of memories or queries; `users` counts the distinct ones."""

    name: str
    digest: str
    captured_at: datetime
    dimensions: int
    metric: Metric
    model: str | None
    memories: int
    users: int
    most_of_one_user: int
    without_vector: int
    with_lifetime: int
    queries: int
    queries_by_source: dict[str, int]
    queries_with_filter: int
    queries_with_labels: int
    must_be_found: int
    forbidden: int
    policy: Policy


def summarize(golden: GoldenSet) -> Summary:
    """Count what is in a golden set; reads the memories once."""
    owned = Counter(user for user in golden.users if user is not None)
    queries = golden.queries
    return Summary(
        name=golden.manifest.name,
        digest=golden.digest,
        captured_at=golden.manifest.captured_at,
        dimensions=golden.shape.dimensions,
        metric=golden.shape.metric,
        model=golden.manifest.vectors.model,
        memories=len(golden),
        users=len(owned),
        most_of_one_user=max(owned.values(), default=0),
        without_vector=int((~golden.has_vector).sum()),
        with_lifetime=sum(time is not None for batch in golden.batches() for time in batch.expires_at),
        queries=len(queries),
        queries_by_source=dict(sorted(Counter(query.source.value for query in queries).items())),
        queries_with_filter=sum(bool(query.filter) for query in queries),
        queries_with_labels=sum(bool(query.labels) for query in queries),
        must_be_found=sum(expected.must for query in queries for expected in query.expected),
        forbidden=sum(len(query.forbidden) for query in queries),
        policy=golden.manifest.policy,
    )


def memory(golden: GoldenSet, row: int) -> Memory:
    """Return the memory of one row, with its content."""
    batch = next(golden.batches([row]))
    return Memory(
        id=batch.ids[0],
        user=batch.users[0],
        content=batch.contents[0],
        created_at=batch.created_at[0],
        expires_at=batch.expires_at[0],
        metadata=batch.metadata[0],
        vector=bool(golden.has_vector[row]),
    )
