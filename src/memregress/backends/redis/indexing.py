"""FT.CREATE: the index that a run makes over its documents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from redis import exceptions

from memregress import errors
from memregress.backends.redis import labels
from memregress.backends.redis.connection import Pool
from memregress.backends.redis.documents import Documents
from memregress.backends.redis.facts import Index
from memregress.backends.redis.options import Options
from memregress.model import Metric

METRICS = {Metric.COSINE: "COSINE", Metric.INNER_PRODUCT: "IP", Metric.L2: "L2"}

NEWER = {"svs-vamana": "the search engine of Redis 8.2 or later"}
"""Kinds that not every server has."""


def creation(
    name: str,
    prefix: str,
    documents: Documents,
    options: Options,
    *,
    dimensions: int,
    metric: Metric,
    numbers: Sequence[str],
) -> list[Any]:
    """Return the command that creates an index over the keys that begin with `prefix`."""
    settings: list[Any] = ["TYPE", options.type.upper(), "DIM", dimensions, "DISTANCE_METRIC", METRICS[metric]]
    if options.index == "svs-vamana":
        settings += ["GRAPH_MAX_DEGREE", options.m, "CONSTRUCTION_WINDOW_SIZE", options.ef_construction]
    if options.index == "hnsw":
        settings += ["M", options.m, "EF_CONSTRUCTION", options.ef_construction]
    fields = [word for field in documents.schema(numbers) for word in field]
    vector = [*documents.vector(), "VECTOR", options.index.upper(), len(settings), *settings]
    return ["FT.CREATE", name, "ON", options.documents.upper(), "PREFIX", 1, prefix, "SCHEMA", *fields, *vector]


def create(pool: Pool, command: Sequence[Any], kind: str, where: str) -> None:
    """Create an index.

    Raises:
        BackendUnavailable: the server does not know this kind.
    """
    try:
        pool.ask(*command)
    except exceptions.ResponseError as error:
        if kind in NEWER and "vector similarity algorithm" in str(error):
            raise errors.BackendUnavailable(
                f"Redis at {where} has no index of the kind {kind}: {error}",
                f'It needs {NEWER[kind]}; else write index = "hnsw" under [redis] in memregress.toml.',
            ) from error
        raise


def numbers(index: Index) -> set[str]:
    """Return the keys that an index of memregress's own has numbers of."""
    head = labels.number("")
    found = (name.removeprefix(head) for name in index.attributes if name.startswith(head))
    return {bytes.fromhex(name).decode() for name in found}


def pattern(prefix: str) -> str:
    """Return a prefix for SCAN, in which some characters have a meaning."""
    return re.sub(r"([*?\[\]\\])", r"\\\1", prefix)
