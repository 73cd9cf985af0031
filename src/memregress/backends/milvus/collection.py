"""A collection as the server describes it: its fields, its vector index, and how far index and loading are.

https://milvus.io/docs/manage-collections.md. What the server calls "Finished" is not: rows that wait for the index are
counted apart, and loaded segments tell whether they are searched through it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import grpc
from pymilvus import DataType
from pymilvus.exceptions import MilvusException

from memregress import errors
from memregress.backends.milvus.connection import Pool
from memregress.model import Metric

METRICS = {"COSINE": Metric.COSINE, "IP": Metric.INNER_PRODUCT, "L2": Metric.L2}
NAMES = {metric: name for name, metric in METRICS.items()}
PAUSE = 0.1
"""Seconds between two questions how far the server is."""
PATIENCE = 10
"""Times the time-out of an answer that index and loading may take."""
OWN = "memregress"
"""The field by which memregress knows its own collections."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Collection:
    """One collection."""

    name: str
    key: str
    """The field of the primary key."""
    vector: str
    dimensions: int
    types: Mapping[str, DataType]
    lengths: Mapping[str, int]
    """Of VARCHAR fields, in bytes."""
    dynamic: bool
    consistency: str
    ttl: int | None
    """Seconds after which the server drops any row."""
    index: Mapping[str, Any]
    """The vector index, as the server describes it."""

    @property
    def own(self) -> bool:
        """Whether memregress made it."""
        return OWN in self.types

    @property
    def metric(self) -> Metric:
        """What the index compares by."""
        return METRICS.get(str(self.index.get("metric_type", "")), Metric.COSINE)

    @property
    def kind(self) -> str:
        """The kind of vector index, in lower case; ``none`` without one."""
        return str(self.index.get("index_type", "none")).lower()

    @property
    def parameters(self) -> dict[str, Any]:
        """How the index was built."""
        known = ("M", "efConstruction", "nlist")
        found = {**self.index, **(self.index.get("params") or {})}
        return {name: int(found[name]) for name in known if str(found.get(name, "")).isdecimal()}


def read(pool: Pool, name: str) -> Collection:
    """Describe a collection.

    Raises:
        MilvusException: there is none of that name.
        BackendError: it has no vector field that can be replayed, or more than one.
    """
    found = pool.ask("describe_collection", name)
    types = {field["name"]: field["type"] for field in found["fields"]}
    vector = _vector(name, types)
    properties = found.get("properties") or {}
    ttl = str(properties.get("collection.ttl.seconds", "")) if isinstance(properties, dict) else ""
    by_name = {field["name"]: field for field in found["fields"]}
    return Collection(
        name=name,
        key=next(field["name"] for field in found["fields"] if field.get("is_primary")),
        vector=vector,
        dimensions=int(by_name[vector]["params"]["dim"]),
        types=types,
        lengths={field: int(by_name[field]["params"].get("max_length", 0)) for field in types},
        dynamic=bool(found.get("enable_dynamic_field")),
        consistency=str(found.get("consistency_level_name") or found.get("consistency_level", "")),
        ttl=int(ttl) if ttl.isdecimal() else None,
        index=_index(pool, name, vector),
    )


def _vector(name: str, types: Mapping[str, DataType]) -> str:
    found = [field for field, type_ in types.items() if type_ == DataType.FLOAT_VECTOR]
    if len(found) == 1:
        return found[0]
    raise errors.BackendError(
        f"the collection {name} has {len(found)} fields of float vectors: {', '.join(found) or 'none'}",
        "memregress replays a collection with one.",
    )


def _index(pool: Pool, name: str, vector: str) -> Mapping[str, Any]:
    for index in pool.ask("list_indexes", name):
        found: Mapping[str, Any] | None = pool.ask("describe_index", name, index)
        if found and found.get("field_name", vector) == vector:
            return found
    return {}


def count(pool: Pool, name: str) -> int:
    """Count the rows that are visible at `Strong`; the server's statistics count what is gone, too."""
    answer = pool.ask("query", name, filter="", output_fields=["count(*)"], consistency_level="Strong")
    return int(answer[0]["count(*)"])


def indexed(pool: Pool, name: str) -> None:
    """Wait until no row waits for the index.

    Raises:
        BackendError: the build failed, or is not done in time; what would be answered meanwhile proves nothing.
    """
    until = time.monotonic() + PATIENCE * pool.timeout
    while True:
        index = read(pool, name).index
        if index.get("state") == "Failed":
            why = index.get("index_state_fail_reason") or index.get("reason") or "no reason given"
            raise errors.BackendError(f"Milvus could not build the index of {name}: {why}", "See the server's log.")
        pending = int(index.get("pending_index_rows") or 0)
        if index and not pending and index.get("state") in ("Finished", None):
            return
        if time.monotonic() > until:
            raise _late(f"{pending:,} rows of {name} still wait for the index")
        time.sleep(PAUSE)


def loading(pool: Pool, name: str) -> None:
    """Wait until a collection is loaded.

    Raises:
        BackendError: not in time.
    """
    until = time.monotonic() + PATIENCE * pool.timeout
    while not loaded(pool, name):
        if time.monotonic() > until:
            raise _late(f"{name} is not loaded yet")
        time.sleep(PAUSE)


def settled(pool: Pool, name: str, rows: int) -> None:
    """Wait until every row lies in a sealed segment that is loaded: growing ones are searched without the index.

    Raises:
        BackendError: not in time.
    """
    until = time.monotonic() + PATIENCE * pool.timeout
    while True:
        growing, sealed = segments(pool, name)
        if sealed is None or (not growing and sealed >= rows):
            return
        if time.monotonic() > until:
            raise _late(f"{growing:,} rows of {name} lie in growing segments, {sealed:,} of {rows:,} in sealed ones")
        time.sleep(PAUSE)


def segments(pool: Pool, name: str) -> tuple[int, int | None]:
    """Return the rows in loaded segments that grow, and in sealed ones; None where the server has none (Lite)."""
    if pool.lite:
        return 0, None
    try:
        loaded = pool.ask("list_loaded_segments", name)
    except (grpc.RpcError, MilvusException, AttributeError):
        return 0, None
    growing = sum(int(one.num_rows) for one in loaded if "growing" in str(one.state).lower())
    return growing, sum(int(one.num_rows) for one in loaded) - growing


def _late(what: str) -> errors.BackendError:
    return errors.BackendError(
        f"Milvus is not ready: {what}", "Wait for it, or raise `timeout` (seconds) under [milvus] in memregress.toml."
    )


def loaded(pool: Pool, name: str) -> bool:
    """Whether a collection is loaded, and so can be searched."""
    return str(pool.ask("get_load_state", name).get("state")).endswith("Loaded")
