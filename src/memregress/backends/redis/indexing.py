"""FT.CREATE: the index that a run makes over its documents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from memregress.backends.redis import labels
from memregress.backends.redis.documents import Documents
from memregress.backends.redis.facts import Index
from memregress.backends.redis.options import Options
from memregress.model import Metric

METRICS = {Metric.COSINE: "COSINE", Metric.INNER_PRODUCT: "IP", Metric.L2: "L2"}


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
    if options.index == "hnsw":
        settings += ["M", options.m, "EF_CONSTRUCTION", options.ef_construction]
    fields = [word for field in documents.schema(numbers) for word in field]
    vector = [*documents.vector(), "VECTOR", options.index.upper(), len(settings), *settings]
    return ["FT.CREATE", name, "ON", options.documents.upper(), "PREFIX", 1, prefix, "SCHEMA", *fields, *vector]


def numbers(index: Index) -> set[str]:
    """Return the keys that an index of memregress's own has numbers of."""
    head = labels.number("")
    found = (name.removeprefix(head) for name in index.attributes if name.startswith(head))
    return {bytes.fromhex(name).decode() for name in found}


def pattern(prefix: str) -> str:
    """Return a prefix for SCAN, in which some characters have a meaning."""
    return re.sub(r"([*?\[\]\\])", r"\\\1", prefix)
