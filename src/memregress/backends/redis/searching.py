"""Searches as an application sends them: one FT.SEARCH each, pipelined.

https://redis.io/docs/latest/develop/ai/search-and-query/query/vector-search/. Distances on Redis's scale: 1 minus the
cosine, 1 minus the inner product, and the square of the Euclidean distance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from redis import exceptions

from memregress import errors
from memregress.backends.redis import labels, vectors
from memregress.backends.redis.connection import Command, Pool
from memregress.backends.redis.facts import Index
from memregress.backends.redis.keys import Keys
from memregress.model import Filter, Hits, Metric, QueryBatch

PIPELINE = 100
DISTANCE = "memregress_distance"
EFFORT = {"svs-vamana": "SEARCH_WINDOW_SIZE"}
"""What the candidates of a search are called, where it is not EF_RUNTIME."""


class Conditions(Protocol):
    """What turns a user and a filter into an expression."""

    def expression(self, user: str | None, filter_: Filter | None, parameters: dict[str, Any], /) -> str:
        """Return the expression and note its parameters; empty if every document may be found."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mode:
    """How to search; without anything as the application does."""

    ef: int | None = None
    exact: bool = False
    """Compare with every vector that passes the filter."""
    force: bool = False
    """Go through the index even where the server would rather compare what passes the filter."""
    index: str | None = None
    """Another index than the live one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """Searches one index."""

    pool: Pool
    index: Index
    conditions: Conditions
    keys: Keys
    metric: Metric

    def answer(self, queries: QueryBatch, mode: Mode) -> Hits:
        """Answer each query; `used_index` is true where the server cannot have gone round the approximate index.

        With a filter the server itself chooses between the index and comparing what passes, and does not say.
        """
        blobs = vectors.encode(queries.vectors, self.index.type)
        commands = [self._command(queries, row, blobs[row], mode) for row in range(len(queries))]
        batches = [commands[start : start + PIPELINE] for start in range(0, len(commands), PIPELINE)]
        ids: list[list[str]] = []
        similarity: list[list[float]] = []
        for answers in self.pool.pipelines(batches):
            for answer in answers:
                found = self._hits(answer)
                ids.append([id_ for id_, _ in found])
                similarity.append([value for _, value in found])
        approximate = self.index.kind != "flat" and not mode.exact
        plain = [user is None and not filter_ for user, filter_ in zip(queries.users, queries.filters, strict=True)]
        return Hits(ids=ids, similarity=similarity, used_index=(np.array(plain, np.bool_) | mode.force) & approximate)

    @property
    def everything(self) -> str:
        """A condition that every document meets: the server compares one by one only where there is a condition."""
        tag = next((name for name, facts in self.index.attributes.items() if facts["type"] == "TAG"), None)
        if tag is None:
            raise errors.BackendError(
                f"the index {self.index.name} has no TAG field, so it cannot be searched exactly", "Add one to it."
            )
        return f"-@{labels.escaped(tag)}:{{{labels.NOBODY}}}"

    def _command(self, queries: QueryBatch, row: int, blob: bytes, mode: Mode) -> Command:
        parameters: dict[str, Any] = {"memregress_vector": blob}
        condition = self.conditions.expression(queries.users[row], queries.filters[row], parameters)
        options = f" {EFFORT.get(self.index.kind, 'EF_RUNTIME')} {mode.ef}" if mode.ef else ""
        if mode.force and condition:
            options += " HYBRID_POLICY BATCHES"
        if mode.exact and self.index.kind != "flat":
            condition, options = condition or self.everything, " HYBRID_POLICY ADHOC_BF"
        k = queries.k[row]
        nearest = f"[KNN {k} @{labels.escaped(self.index.vector)} $memregress_vector{options} AS {DISTANCE}]"
        patience = ("TIMEOUT", 0) if mode.exact or mode.force else ()  # a control of ours may take its time
        named = [word for pair in parameters.items() for word in pair]
        return (
            "FT.SEARCH", mode.index or self.index.name, f"({condition or '*'})=>{nearest}",
            "PARAMS", len(named), *named, "SORTBY", DISTANCE, "LIMIT", 0, k, "RETURN", 1, DISTANCE,
            "DIALECT", 2, *patience,
        )  # fmt: skip

    def _hits(self, answer: Any) -> list[tuple[str, float]]:
        if isinstance(answer, exceptions.RedisError):
            raise answer
        if warnings := answer.get(b"warning"):
            raise errors.BackendError(
                f"Redis gave up a search early: {b', '.join(warnings).decode(errors='replace')}",
                "Raise the search engine's TIMEOUT (FT.CONFIG SET TIMEOUT): what it answers until then is a part only.",
            )
        return list(self._found(answer[b"results"]))

    def _found(self, results: list[dict[bytes, Any]]) -> Iterator[tuple[str, float]]:
        for result in results:
            key, distance = result[b"id"].decode(errors="replace"), result[b"extra_attributes"].get(DISTANCE.encode())
            yield self.keys.id(key), math.nan if distance is None else _similarity(self.metric, float(distance))


def _similarity(metric: Metric, distance: float) -> float:
    if metric is Metric.L2:
        return -math.sqrt(max(0.0, distance))
    return 1.0 - distance
