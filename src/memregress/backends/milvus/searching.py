"""Searches as an application sends them; those with one filter and one k share a call.

https://milvus.io/docs/single-vector-search.md. Scores on Milvus's scale: the cosine, the inner product, and the square
of the Euclidean distance.
"""

from __future__ import annotations

import collections
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from memregress import similarity
from memregress.backends.milvus.connection import Pool
from memregress.backends.milvus.filtering import Conditions
from memregress.backends.milvus.rows import parts
from memregress.model import Floats, Hits, Metric, QueryBatch

TOGETHER = 200
"""Searches in one call."""
PAGE = 2_000
"""Rows read in one call of an iterator."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mode:
    """How to search."""

    name: str
    parameters: Mapping[str, Any]
    consistency: str
    approximate: bool
    forced: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """Searches collections of one layout."""

    pool: Pool
    key: str
    vector: str
    metric: Metric
    conditions: Conditions
    always: str
    """A condition that every hit must meet, or none."""
    read: dict[str, tuple[list[str], Floats]] = field(default_factory=dict)
    """Keys and vectors that meet an expression, for exact search; the last few only."""

    def answer(self, queries: QueryBatch, mode: Mode) -> Hits:
        """Answer each query; `used_index` is true where the server cannot have gone round the approximate index.

        With a filter the server itself chooses between the index and comparing what passes, and does not say.
        """
        groups = self._groups(queries)
        calls = [(words, k, part) for (words, k), rows in groups.items() for part in parts(rows, TOGETHER)]
        ids: list[list[str]] = [[] for _ in range(len(queries))]
        scores: list[list[float]] = [[] for _ in range(len(queries))]
        answers = self.pool.stream(lambda call: self._call(queries, mode, *call), calls)
        for (_, _, rows), found in zip(calls, answers, strict=True):
            for row, hits in zip(rows, found, strict=True):
                ids[row] = [str(hit.get(self.key, hit.get("id"))) for hit in hits]
                scores[row] = [self._similarity(float(hit["distance"])) for hit in hits]
        plain = [user is None and not filter_ for user, filter_ in zip(queries.users, queries.filters, strict=True)]
        used = (np.array(plain, np.bool_) | mode.forced) & mode.approximate
        return Hits(ids=ids, similarity=scores, used_index=used)

    def _groups(self, queries: QueryBatch) -> dict[tuple[str, int], list[int]]:
        words: dict[tuple[str | None, bytes], str] = {}
        groups: dict[tuple[str, int], list[int]] = collections.defaultdict(list)
        for row, (user, filter_, k) in enumerate(zip(queries.users, queries.filters, queries.k, strict=True)):
            asked = user, msgspec.json.encode(filter_)
            if asked not in words:
                words[asked] = self._expression(self.conditions.expression(user, filter_))
            groups[words[asked], k].append(row)
        return groups

    def _expression(self, condition: str) -> str:
        return " and ".join(f"({words})" for words in (condition, self.always) if words)

    def _call(self, queries: QueryBatch, mode: Mode, words: str, k: int, rows: Sequence[int]) -> Any:
        return self.pool.ask(
            "search",
            mode.name,
            data=list(queries.vectors[list(rows)]),
            anns_field=self.vector,
            filter=words,
            limit=k,
            output_fields=[self.key],
            search_params={"params": _wide_enough(mode.parameters, k)},
            consistency_level=mode.consistency,
        )

    def _similarity(self, score: float) -> float:
        return -math.sqrt(max(0.0, score)) if self.metric is Metric.L2 else score

    def exact(self, queries: QueryBatch, name: str) -> Hits:
        """Read what the server says meets each filter, and compare with all of it here."""
        ids: list[list[str]] = [[] for _ in range(len(queries))]
        scores: list[list[float]] = [[] for _ in range(len(queries))]
        for (words, k), rows in self._groups(queries).items():
            keys, vectors = self._matching(name, words)
            if not keys:
                continue
            found = similarity.exact_search(self.metric, queries.vectors[rows], vectors, min(k, len(keys)))
            for row, places, values in zip(rows, found.rows.tolist(), found.similarity.tolist(), strict=True):
                kept = [(keys[place], value) for place, value in zip(places, values, strict=True) if place >= 0]
                ids[row], scores[row] = [id_ for id_, _ in kept], [value for _, value in kept]
        return Hits(ids=ids, similarity=scores, used_index=np.zeros(len(queries), np.bool_))

    def _matching(self, name: str, words: str) -> tuple[list[str], Floats]:
        if words not in self.read:
            if len(self.read) >= 2:
                self.read.pop(next(reversed(self.read)))
            rows = list(every(self.pool, name, words, [self.key, self.vector]))
            vectors = np.array([row[self.vector] for row in rows], np.float32)
            self.read[words] = [str(row[self.key]) for row in rows], vectors
        return self.read[words]


def _wide_enough(parameters: Mapping[str, Any], k: int) -> dict[str, Any]:
    """Milvus refuses an `ef` below k."""
    return {**parameters, "ef": max(int(parameters["ef"]), k)} if "ef" in parameters else dict(parameters)


def every(pool: Pool, name: str, words: str, fields: Sequence[str]) -> Any:
    """Yield all rows that meet an expression, as they are at `Strong`."""
    iterator = pool.client.query_iterator(
        name,
        batch_size=PAGE,
        filter=words,
        output_fields=list(fields),
        consistency_level="Strong",
        timeout=pool.timeout,
    )
    try:
        while page := iterator.next():
            yield from page
    finally:
        iterator.close()
