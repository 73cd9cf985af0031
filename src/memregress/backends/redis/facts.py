"""What the server says of itself and of an index: FT.INFO, INFO, and how far indexing is.

https://redis.io/docs/latest/commands/ft.info/
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from redis import exceptions

from memregress import errors
from memregress.backends.redis.connection import Pool
from memregress.model import Metric

METRICS = {"COSINE": Metric.COSINE, "IP": Metric.INNER_PRODUCT, "L2": Metric.L2}
PAUSE = 0.02
"""Seconds between two questions whether the index is built."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Index:
    """One index, as the server describes it."""

    name: str
    documents: str
    prefixes: tuple[str, ...]
    attributes: dict[str, dict[str, Any]]
    """By the name a query uses, with the server's own words."""
    vector: str
    """The attribute that holds the vector."""
    rows: int
    failures: int
    error: str
    error_key: str
    indexing: bool
    percent: float
    uses: int
    """Searches since it was created."""
    filter: str
    """Which documents it takes of those with its prefix; empty for all."""

    @property
    def kind(self) -> str:
        """The kind of vector index: ``flat`` or ``hnsw``."""
        return str(self.attributes[self.vector].get("algorithm", "FLAT")).lower()

    @property
    def type(self) -> str:
        """The type of a vector's components."""
        return str(self.attributes[self.vector].get("data_type", "FLOAT32")).lower()

    @property
    def dimensions(self) -> int:
        """Of the vectors it takes."""
        return int(self.attributes[self.vector]["dim"])

    @property
    def metric(self) -> Metric:
        """What it compares by."""
        return METRICS[str(self.attributes[self.vector]["distance_metric"])]

    @property
    def parameters(self) -> dict[str, Any]:
        """How it was built."""
        found = self.attributes[self.vector]
        return {name: found[name] for name in ("M", "ef_construction") if name in found}


def read(pool: Pool, name: str) -> Index:
    """Describe an index.

    Raises:
        redis.exceptions.ResponseError: there is none of that name.
        BackendError: it has no vector field, or more than one.
    """
    info = {_text(key): value for key, value in pool.ask("FT.INFO", name).items()}
    definition = _strings(info["index_definition"])
    attributes = {_text(one[b"attribute"]): _strings(one) for one in info["attributes"]}
    trouble = _strings(info.get("Index Errors", {}))
    return Index(
        name=name,
        documents=str(definition["key_type"]).lower(),
        prefixes=tuple(map(_text, definition["prefixes"])),
        attributes=attributes,
        vector=_vector(name, attributes),
        rows=int(info["num_docs"]),
        failures=int(info.get("hash_indexing_failures", 0)),
        error=str(trouble.get("last indexing error", "")),
        error_key=str(trouble.get("last indexing error key", "")),
        indexing=bool(int(info.get("indexing", 0))),
        percent=float(info.get("percent_indexed", 1)),
        uses=int(info.get("number_of_uses", 0)),
        filter=str(definition.get("filter", "")),
    )


def _vector(name: str, attributes: dict[str, dict[str, Any]]) -> str:
    found = [attribute for attribute, facts in attributes.items() if facts["type"] == "VECTOR"]
    if len(found) == 1:
        return found[0]
    raise errors.BackendError(
        f"the index {name} has {len(found)} vector fields: {', '.join(found) or 'none'}",
        "memregress replays an index with one; create one that has the field alone.",
    )


def built(pool: Pool, name: str, *, timeout: float) -> Index:
    """Wait until the server has gone through all documents, and describe the index.

    Raises:
        BackendError: it has not, within `timeout` seconds; what it would answer meanwhile proves nothing.
    """
    until = time.monotonic() + timeout
    while (index := read(pool, name)).indexing or index.percent < 1 or graph(pool, index).get("BACKGROUND_INDEXING"):
        if time.monotonic() > until:
            raise errors.BackendError(
                f"the index {name} is still being built: {index.percent:.0%} after {timeout:.0f} s",
                "Wait for it, or raise `timeout` (seconds) under [redis] in memregress.toml.",
            )
        time.sleep(PAUSE)
    return index


def same(pool: Pool, before: Index) -> Index:
    """Describe the index anew, and make sure that it is the one that `before` was, and whole.

    Raises:
        BackendError: it was dropped and created again, or is being built again; what it answered proves nothing.
    """
    now = read(pool, before.name)
    if now.indexing or now.uses < before.uses:
        raise errors.BackendError(
            f"the index {before.name} was created again while it was searched",
            "Let nothing drop or overwrite it during a replay: some libraries do each time a process starts.",
        )
    return now


def server(pool: Pool) -> tuple[str, dict[str, Any]]:
    """Return name and versions of the server, and the facts that tell why documents may be gone."""
    info = pool.client.info()
    modules = {_text(one[b"name"]): int(one[b"ver"]) for one in pool.ask("MODULE", "LIST")}
    search = modules.get("search")
    words = [f"Redis {info['redis_version']}", *([f"RediSearch {_version(search)}"] if search else [])]
    watched = ("maxmemory", "evicted_keys", "expired_keys")
    facts = {key: info[key] for key in watched if info.get(key)}
    if "maxmemory" in facts:
        facts["maxmemory_policy"] = info["maxmemory_policy"]
    if others := _others(info, pool.client.get_connection_kwargs().get("db", 0)):
        facts["other_databases"] = others
    return ", ".join(words), facts


def _others(info: dict[str, Any], db: int) -> str:
    """The logical databases beside ours that hold keys: an index takes in what is written to any of them."""
    found = {name: held for name, held in info.items() if re.fullmatch(r"db\d+", name) and name != f"db{db or 0}"}
    return ", ".join(f"{name} ({held['keys']:,} keys)" for name, held in found.items())


def graph(pool: Pool, index: Index) -> dict[str, Any]:
    """Return what a debug command tells of the vector index, where it may be asked; its parts side by side.

    ``EF_RUNTIME`` is the number of candidates kept in a search, ``BACKGROUND_INDEXING`` whether vectors still wait to
    be linked into the graph: until then they are compared one by one, and recall is better than it will be.
    """
    try:
        answer = pool.ask("FT.DEBUG", "VECSIM_INFO", index.name, index.vector)
    except exceptions.ResponseError:
        return {}
    return dict(_flat(answer))


def _flat(answer: Any) -> Iterator[tuple[str, Any]]:
    pairs = answer.items() if isinstance(answer, dict) else zip(answer[::2], answer[1::2], strict=False)
    for name, value in pairs:
        if isinstance(value, (dict, list)):
            yield from _flat(value)
        else:
            yield _text(name), value


def _version(number: int) -> str:
    return f"{number // 10_000}.{number // 100 % 100}.{number % 100}"


def _strings(pairs: dict[bytes, Any]) -> dict[str, Any]:
    return {_text(key): _text(value) if isinstance(value, bytes) else value for key, value in pairs.items()}


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
