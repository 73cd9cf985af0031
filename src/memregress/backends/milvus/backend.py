"""The Milvus backend: what the protocols of `memregress.backends` ask, answered by a collection."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from pymilvus import MilvusClient
from pymilvus.exceptions import MilvusException

from memregress import errors
from memregress.backends.milvus import collection, connection, filtering, searching
from memregress.backends.milvus.collection import OWN, Collection
from memregress.backends.milvus.indexing import create, of_search, parameters, widest
from memregress.backends.milvus.options import Fields, Options
from memregress.backends.milvus.rows import UNITS, Rows, parts
from memregress.model import Hits, IndexInfo, MemoryBatch, QueryBatch, Rejected, Shape

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


class FlatBackend:
    """A FLAT index, or none: it compares a query with every vector."""

    def __init__(
        self,
        *,
        pool: connection.Pool,
        where: str,
        space: str,
        shape: Shape,
        options: Options,
        there: Collection | None,
    ) -> None:
        self._pool = pool
        self._where = where
        self._space = space
        self._shape = shape
        self._options = options
        self._in_place = there is not None
        self._collection = there
        self._known = filtering.Known()
        self._bare = False
        """Whether a memory without a vector was loaded: it is kept with zeros, and no search may find it."""
        self._made: list[str] = []

    # Loadable

    def create(self) -> None:
        """Create the run's own collection."""
        with connection.doing("creating its space", self._where):
            if self._pool.ask("has_collection", self._space):
                raise errors.ConfigError(
                    f"the space exists already: the collection {self._space} of Milvus at {self._where}",
                    "Choose another --space, replay what lies there with --in-place, or remove it.",
                )
            self._make(self._space)

    def _make(self, name: str) -> None:
        self._made.append(name)
        create(self._pool, name, self._options, dimensions=self._shape.dimensions)

    def load(self, batches: Iterable[MemoryBatch]) -> list[Rejected]:
        """Insert all memories, and return those that a field cannot hold."""
        with connection.doing("loading memories", self._where):
            found = self._pool.stream(self._insert, self._noted(batches))
            return [rejected for refused in found for rejected in refused]

    def _noted(self, batches: Iterable[MemoryBatch]) -> Iterator[MemoryBatch]:
        for batch in batches:
            self._bare |= not batch.dimensions.all()
            for metadata in batch.metadata:
                self._known.add(metadata)
            yield batch

    def _insert(self, batch: MemoryBatch) -> list[Rejected]:
        rows, refused = self._rows.encode(batch)
        if rows:
            refused += self._send(rows)
        return refused

    def _send(self, rows: Sequence[dict[str, Any]]) -> list[Rejected]:
        """Insert rows; where the server refuses them, halve down to the one that it means."""
        try:
            self._pool.ask("insert", self._space, rows)
        except MilvusException as error:
            if connection.is_lost(error):
                raise
            if len(rows) == 1:
                return [Rejected(id=rows[0][self._rows.fields.id], reason=connection.first_line(error))]
            middle = len(rows) // 2
            return [*self._send(rows[:middle]), *self._send(rows[middle:])]
        return []

    def index(self) -> None:
        """Seal what was loaded, build the index, and return when all of it is searched through it."""
        self._build(self._space)
        self._collection = collection.read(self._pool, self._space)

    def _build(self, name: str) -> None:
        options, exact = self._options, self._options.index == "flat"
        with connection.doing("building the index", self._where):
            if not exact:  # growing segments are compared one by one, which is what flat does; to seal takes seconds
                self._pool.ask("flush", name)
            params = MilvusClient.prepare_index_params()
            params.add_index(
                options.fields.vector,
                index_type=options.index.upper(),
                metric_type=collection.NAMES[options.metric or self._shape.metric],
                params=parameters(options),
            )
            self._pool.ask("create_index", name, params, sync=False)
            collection.indexed(self._pool, name)
            self._pool.ask("load_collection", name, _async=True)
            collection.loading(self._pool, name)
            rows = collection.count(self._pool, name)
            if not exact:
                collection.settled(self._pool, name, rows)

    def drop(self) -> None:
        """Drop the collections that this run made."""
        with connection.doing("dropping its space", self._where):
            for name in self._made:
                self._pool.ask("drop_collection", name)
        self._made = []

    def close(self) -> None:
        """Close the connection."""
        self._pool.close()

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
        return found

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
            stored_as="float32",
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
    def _ready(self) -> Collection:
        if self._collection is None:
            self._collection = collection.read(self._pool, self._space)
        return self._collection

    @property
    def _consistency(self) -> str:
        """An own collection that was seen whole changes no more: nothing is to be waited for."""
        return (self._options.consistency or ("strong" if self._in_place else "eventually")).capitalize()

    @property
    def _parameters(self) -> dict[str, Any]:
        return of_search(self._options, self._ready, own=not self._in_place)

    @functools.cached_property
    def _rows(self) -> Rows:
        known = self._ready if self._in_place else None
        return Rows(
            fields=self._options.fields if known is None or known.own else _fields(self._options.fields, known),
            dimensions=self._shape.dimensions if known is None else known.dimensions,
            unit=UNITS[self._options.times],
            own=known is None or known.own,
        )

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


def _fields(wanted: Fields, there: Collection) -> Fields:
    """The names of an application's fields; those that the collection does not have are nobody's."""
    known = {"id": there.key, "vector": there.vector}
    for name in wanted.__struct_fields__:
        field = getattr(wanted, name)
        known.setdefault(name, field if field in there.types or (field and there.dynamic) else "")
    return msgspec.convert(known, Fields)


class ApproximateBackend(FlatBackend):
    """An index that may miss memories."""

    # Tunable

    def search_index(self, queries: QueryBatch, *, wide: bool) -> Hits:
        """Search through the index; `wide` as thoroughly as it allows."""
        return self._search(queries, self._through(self._space, wide=wide))

    def _through(self, name: str, *, wide: bool) -> searching.Mode:
        effort = widest(self._ready, collection.count(self._pool, name)) if wide else self._parameters
        return self._mode(forced=True, name=name, parameters=effort)


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
