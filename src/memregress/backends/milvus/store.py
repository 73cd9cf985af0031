"""A collection of the run's own, or one that is there: how it is filled, and how its rows are read."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from pymilvus import MilvusClient
from pymilvus.exceptions import MilvusException

from memregress import errors
from memregress.backends.milvus import collection, connection, filtering
from memregress.backends.milvus.collection import Collection
from memregress.backends.milvus.indexing import create, parameters
from memregress.backends.milvus.options import Fields, Options
from memregress.backends.milvus.rows import UNITS, Rows
from memregress.model import MemoryBatch, Rejected, Shape


class Store:
    """What all kinds of index have in common."""

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
            return list(itertools.chain.from_iterable(found))

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

    # What is behind it

    @property
    def _ready(self) -> Collection:
        if self._collection is None:
            self._collection = collection.read(self._pool, self._space)
        return self._collection

    @functools.cached_property
    def _rows(self) -> Rows:
        known = self._ready if self._in_place else None
        return Rows(
            fields=self._options.fields if known is None or known.own else _fields(self._options.fields, known),
            dimensions=self._shape.dimensions if known is None else known.dimensions,
            unit=UNITS[self._options.times],
            own=known is None or known.own,
        )


def _fields(wanted: Fields, there: Collection) -> Fields:
    """The names of an application's fields; those that the collection does not have are nobody's."""
    known = {"id": there.key, "vector": there.vector}
    for name in wanted.__struct_fields__:
        field = getattr(wanted, name)
        known.setdefault(name, field if field in there.types or (field and there.dynamic) else "")
    return msgspec.convert(known, Fields)
