"""The Milvus backend: what the protocols of `memregress.backends` ask, answered by a collection."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from memregress import errors
from memregress.backends import Effort
from memregress.backends.milvus import collection, connection, filtering, searching
from memregress.backends.milvus.collection import OWN, Collection
from memregress.backends.milvus.indexing import of_search, widest
from memregress.backends.milvus.options import Options
from memregress.backends.milvus.rows import parts
from memregress.backends.milvus.store import Store
from memregress.model import Hits, IndexInfo, MemoryBatch, QueryBatch, Shape

TOGETHER = 500
"""Rows read by their keys in one call."""
TWIN = "_rebuilt"


def connect(url: str, *, space: str, shape: Shape, options: Options, in_place: bool = False) -> FlatBackend:
    """Open the store at a URL (``http://host:19530``), or in a file (``folder/name.db``).

    In place, `space` is the name of the collection that is replayed; else of a new one.

    Raises:
        BackendUnavailable: no server answers there, or in place it has no such collection, or it is not loaded.
        ConfigError: the URL is not one of Milvus.
    """
    where = connection.place(url)
    pool = connection.Pool(url, connections=options.connections, timeout=options.timeout)
    try:
        if not in_place:
            made = FlatBackend if options.index == "flat" else OwnApproximateBackend
            return made(pool=pool, where=where, space=space, shape=shape, options=options, there=None)
        with connection.doing("reading the collection", where):
            there = _there(pool, space, where)
        found = FlatBackend if there.kind in ("flat", "none") else ApproximateBackend
        return found(pool=pool, where=where, space=space, shape=shape, options=options, there=there)
    except BaseException:
        pool.close()
        raise


def _there(pool: connection.Pool, space: str, where: str) -> Collection:
    if not pool.ask("has_collection", space):
        names = ", ".join(sorted(pool.ask("list_collections"))[:20])
        raise errors.BackendUnavailable(
            f"Milvus at {where} has no collection {space!r}", f"Give one as --space: {names or 'it has none'}."
        )
    if not collection.loaded(pool, space):
        raise errors.BackendUnavailable(
            f"the collection {space} of Milvus at {where} is not loaded, so it serves no search",
            f'client.load_collection("{space}"), and wait until it is; in place memregress changes nothing.',
        )
    return collection.read(pool, space)


class FlatBackend(Store):
    """A FLAT index, or none: it compares a query with every vector."""

    # Inspectable

    def fetch(self, ids: Sequence[str]) -> MemoryBatch:
        """Read rows back by their keys, as they are at `Strong`."""
        rows = self._rows
        with connection.doing("reading memories back", self._where):
            found = self._pool.stream(self._fetch, list(parts(list(ids), TOGETHER)))
            return rows.decode([row for part in found for row in part])

    def _fetch(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        words = f"{self._ready.key} in [{', '.join(map(filtering.quoted, ids))}]"
        found: list[dict[str, Any]] = list(
            self._pool.ask(
                "query", self._space, filter=words, output_fields=self._rows.names, consistency_level="Strong"
            )
        )
        return found if self._pool.lite else [*found, *self._more_copies(ids, words, found)]

    def _more_copies(self, ids: Sequence[str], words: str, found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Rows again, as often as their keys were inserted beyond once: a query returns one row of each key."""
        if self._count(words) == len(found):
            return []
        by_id = {str(row[self._ready.key]): row for row in found}
        return [
            row
            for id_ in ids
            if (row := by_id.get(id_)) is not None
            for _ in range(self._count(f"{self._ready.key} == {filtering.quoted(id_)}") - 1)
        ]

    def _count(self, words: str) -> int:
        """Count rows without waiting: what was just read at `Strong` is there."""
        fields, level = ["count(*)"], "Eventually"
        answer = self._pool.ask("query", self._space, filter=words, output_fields=fields, consistency_level=level)
        return int(answer[0]["count(*)"])

    def describe(self) -> IndexInfo:
        """Tell the facts of server, collection and index, once it is built."""
        with connection.doing("reading the collection", self._where):
            if self._ready.index:
                collection.indexed(self._pool, self._space)
            there = self._collection = collection.read(self._pool, self._space)
            version = self._pool.ask("get_server_version")
            rows = collection.count(self._pool, self._space)
            growing, _ = collection.segments(self._pool, self._space)
        fields = self._rows.fields
        names = {name: getattr(fields, name) for name in fields.__struct_fields__}
        settings = {**self._parameters, "consistency": self._consistency.lower()}
        settings |= {"growing_rows": growing} if growing else {}
        settings |= {"collection.ttl.seconds": there.ttl} if there.ttl else {}
        return IndexInfo(
            server=f"Milvus {str(version).removeprefix('v')}",
            location=self._space,
            rows=rows,
            stored_as="int8" if there.kind == "ivf_sq8" else "float32",
            dimensions=there.dimensions,
            metric=there.metric,
            kind="ivf" if there.kind.startswith("ivf") else there.kind,
            index=there.index.get("index_name"),
            index_metric=there.metric if there.index else None,
            parameters=there.parameters,
            settings=settings,
            not_stored=[name for name, field in names.items() if not field],
            names=names,
        )

    # Searchable, ExactSearchable

    def search(self, queries: QueryBatch) -> Hits:
        """Search as the application does."""
        return self._search(queries, self._mode())

    def search_exact(self, queries: QueryBatch) -> Hits:
        """Compare with every vector that passes the filter, all of them read from the store."""
        with connection.doing("searching", self._where):
            return self._searches.exact(queries, self._space)

    def _search(self, queries: QueryBatch, mode: searching.Mode) -> Hits:
        with connection.doing("searching", self._where):
            return self._searches.answer(queries, mode)

    def _mode(self, *, forced: bool = False, **more: Any) -> searching.Mode:
        return searching.Mode(
            **{
                "name": self._space,
                "parameters": self._parameters,
                "consistency": self._consistency,
                "approximate": self._ready.kind not in ("flat", "none"),
                "forced": forced,
                **more,
            }
        )

    # What is behind it

    @property
    def _consistency(self) -> str:
        """An own collection that was seen whole changes no more: nothing is to be waited for."""
        return (self._options.consistency or ("strong" if self._in_place else "eventually")).capitalize()

    @property
    def _parameters(self) -> dict[str, Any]:
        return of_search(self._options, self._ready, own=not self._in_place)

    @functools.cached_property
    def _searches(self) -> searching.Search:
        rows, there = self._rows, self._ready
        conditions: filtering.Conditions = filtering.Theirs(rows.fields.user, rows.fields.metadata, there)
        if rows.own:
            conditions = filtering.Own(rows.fields.user, rows.fields.metadata, self._known)
        return searching.Search(
            pool=self._pool,
            key=there.key,
            vector=there.vector,
            metric=there.metric,
            conditions=conditions,
            always=" and ".join(self._always()),
        )

    def _always(self) -> Iterator[str]:
        if self._shape.lifetimes and self._rows.fields.expires_at:
            yield f"{self._rows.fields.expires_at} > {self._rows.stamp(self._shape.clock)}"
        if self._bare or (self._in_place and self._rows.own):
            yield f'{OWN}["vector"] == true'


class ApproximateBackend(FlatBackend):
    """An index that may miss memories."""

    # Tunable

    def search_index(self, queries: QueryBatch, *, wide: bool) -> Hits:
        """Search through the index; `wide` as thoroughly as it allows."""
        return self._search(queries, self._through(self._space, wide=wide))

    def _through(self, name: str, *, wide: bool) -> searching.Mode:
        effort = widest(self._ready, collection.count(self._pool, name)) if wide else self._parameters
        return self._mode(forced=True, name=name, parameters=effort)

    # Sweepable

    def effort(self) -> Effort | None:
        """`ef` or `nprobe`, where a search gives one."""
        widest_ = widest(self._ready, collection.count(self._pool, self._space))
        name = next((name for name in self._parameters if name in widest_), None)
        return Effort(name, self._parameters[name], max(widest_[name], self._parameters[name])) if name else None

    def search_at(self, queries: QueryBatch, effort: int) -> Hits:
        """Search through the index with this effort."""
        return self._search(queries, self._mode(forced=True, parameters=dict.fromkeys(self._parameters, effort)))


class OwnApproximateBackend(ApproximateBackend):
    """An index of the run's own, which can be built once more."""

    # Rebuildable

    def search_rebuilt(self, queries: QueryBatch, *, wide: bool = False) -> Hits:
        """Search another index of the same kind over the same rows."""
        return self._search(queries, self._through(self._twin, wide=wide))

    @functools.cached_property
    def _twin(self) -> str:
        name = f"{self._space}{TWIN}"
        with connection.doing("building the index afresh", self._where):
            self._make(name)
            rows = list(searching.every(self._pool, self._space, "", self._rows.names))
            for part in parts(rows, TOGETHER):
                self._pool.ask("insert", name, list(part))
        self._build(name)
        return name
