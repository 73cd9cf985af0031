"""The Redis backend: what the protocols of `memregress.backends` ask, answered by documents and a search index."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from redis import exceptions

from memregress import errors
from memregress.backends import Effort
from memregress.backends.redis import (
    connection,
    facts,
    filtering,
    indexing,
    keys,
    labels,
    reading,
    searching,
)
from memregress.backends.redis.documents import Documents, Hashes, Json
from memregress.backends.redis.options import THOROUGH_EF, Options
from memregress.model import Hits, IndexInfo, MemoryBatch, QueryBatch, Rejected, Shape

WIDEST = 20_000
DEFAULT_EF = 10


class FlatBackend:
    """A FLAT index: it compares a query with every vector."""

    def __init__(
        self,
        *,
        pool: connection.Pool,
        where: str,
        space: str,
        shape: Shape,
        options: Options,
        index: facts.Index | None,
    ) -> None:
        self._pool = pool
        self._where = where
        self._space = space
        self._shape = shape
        self._options = options
        self._index = index
        self._in_place = index is not None
        self._known = filtering.Known(complete=not self._in_place)
        self._indexes: list[str] = []
        if index is None:
            prefix = f"{space}:"
        else:
            prefix = next(iter(index.prefixes), "") if options.prefix is None else options.prefix
        self._keys = keys.Keys(pool, space=space, prefix=prefix)
        if self._in_place:
            with connection.doing("reading the index", where):
                self._keys.recall()

    # Loadable

    def create(self) -> None:
        """Make sure that nothing lies under the space's name, and note by how much its times are shifted."""
        with connection.doing("creating its space", self._where):
            if not self._keys.claim(self._shape.clock):
                raise errors.ConfigError(
                    f"the space exists already: {self._keys.prefix}* in Redis at {self._where}",
                    "Choose another --space, replay what lies there with --in-place, or remove it.",
                )

    def load(self, batches: Iterable[MemoryBatch]) -> list[Rejected]:
        """Write all memories, and return those that the server refused to write."""
        with connection.doing("loading memories", self._where):
            return self._keys.write(self._noted(batches), self._documents, self._shape.clock)

    def _noted(self, batches: Iterable[MemoryBatch]) -> Iterator[MemoryBatch]:
        for batch in batches:
            for metadata in batch.metadata:
                self._known.add(metadata)
            yield batch

    def index(self) -> None:
        """Create the index over what was loaded, and wait until the server has gone through all of it."""
        self._index = self._build(self._space)

    def _build(self, name: str) -> facts.Index:
        with connection.doing("building the index", self._where):
            self._indexes.append(name)
            indexing.create(self._pool, self._creation(name), self._options.index, self._where)
            return facts.built(self._pool, name, timeout=self._options.timeout)

    def _creation(self, name: str) -> list[Any]:
        return indexing.creation(
            name,
            self._keys.prefix,
            self._documents,
            self._options,
            dimensions=self._shape.dimensions,
            metric=self._options.metric or self._shape.metric,
            numbers=sorted(self._known.numbers),
        )

    def drop(self) -> None:
        """Remove the indexes this run made, and the documents it wrote; no key is taken for ours by its name."""
        with connection.doing("dropping its space", self._where):
            self._keys.remove()  # first: documents are what must not stay
            for name in self._indexes:
                self._drop_index(name)
        self._indexes = []

    def _drop_index(self, name: str) -> None:
        try:
            self._pool.ask("FT.DROPINDEX", name)
        except exceptions.NoPermissionError:
            raise
        except exceptions.ResponseError:
            if name in self._there():  # else it never came to be, which servers word in several ways
                raise

    def _there(self) -> list[str]:
        return [found.decode(errors="replace") for found in self._pool.ask("FT._LIST")]

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    # Inspectable, Refusing, Locating

    def fetch(self, ids: Sequence[str]) -> MemoryBatch:
        """Read documents back by key, with what is left of their lifetimes."""
        with connection.doing("reading memories back", self._where):
            return reading.fetch(self._pool, self._keys, self._documents, ids)

    def refused(self, ids: Sequence[str]) -> list[Rejected]:
        """Return which of the stored documents the index does not hold; where all counts agree, none is asked about."""
        with connection.doing("counting what the index holds", self._where):
            index = self._index = facts.read(self._pool, self._ready.name)
            return reading.refused(self._pool, self._keys, index, self._options.fields.vector, ids)

    def elsewhere(self, ids: Sequence[str]) -> tuple[MemoryBatch, list[str]]:
        """Look for missing memories under other keys."""
        with connection.doing("looking for missing memories", self._where):
            try:
                return reading.elsewhere(self._pool, self._keys, self._documents, ids)
            except exceptions.NoPermissionError:  # who may not look through all keys is not told where they lie
                return reading.nothing(), []

    def describe(self) -> IndexInfo:
        """Tell the facts of server and index, once it is built."""
        with connection.doing("reading the index", self._where):
            index = self._index = facts.built(self._pool, self._ready.name, timeout=self._options.timeout)
            server, watched = facts.server(self._pool)
            ef = self._ef or facts.graph(self._pool, index).get("EF_RUNTIME")
        fields = self._options.fields
        names = {name: getattr(fields, name) for name in fields.__struct_fields__}
        return IndexInfo(
            server=server,
            location=f"{self._keys.prefix}*",
            rows=index.rows,
            stored_as=index.type,
            dimensions=index.dimensions,
            metric=index.metric,
            kind=index.kind,
            index=index.name,
            index_metric=index.metric,
            parameters=index.parameters,
            settings=({"EF_RUNTIME": ef} if ef else {}) | watched,
            not_stored=self._not_stored(names),
            names={**names, "id": "key", "expires_at": "PEXPIRETIME"},
        )

    def _not_stored(self, names: Mapping[str, str]) -> list[str]:
        """Fields that cannot be compared: those without a name, and lifetimes shifted by nobody knows how much."""
        lost = ["expires_at"] if self._own and not self._keys.dated else []
        return [*(name for name, there in names.items() if not there), *lost]

    # Searchable, ExactSearchable

    def search(self, queries: QueryBatch) -> Hits:
        """Search as the application does."""
        return self._search(queries, searching.Mode(ef=self._ef))

    def search_exact(self, queries: QueryBatch) -> Hits:
        """Compare with every vector that passes the filter."""
        return self._search(queries, searching.Mode(exact=True))

    def _search(self, queries: QueryBatch, mode: searching.Mode) -> Hits:
        search = searching.Search(
            pool=self._pool,
            index=self._ready,
            conditions=self._conditions,
            keys=self._keys,
            metric=self._ready.metric,
        )
        with connection.doing("searching", self._where):
            found = search.answer(queries, mode)
            self._index = facts.same(self._pool, self._ready)
            return found

    # What is behind it

    @property
    def _ready(self) -> facts.Index:
        if self._index is None:
            raise errors.BackendUnavailable(f"there is no index {self._space} yet", "Load the golden set first.")
        return self._index

    @property
    def _ef(self) -> int | None:
        """Candidates that a search asks for; None leaves it to the index."""
        if self._ready.kind == "flat":
            return None
        return self._options.ef_runtime or (None if self._in_place else THOROUGH_EF)

    @property
    def _own(self) -> bool:
        """Whether the documents are memregress's, of this run or of an earlier one."""
        return not self._in_place or labels.USER in self._ready.attributes

    @functools.cached_property
    def _documents(self) -> Documents:
        kind: str = self._options.documents
        type_: str = self._options.type
        if self._in_place:
            kind, type_ = ("json" if self._ready.documents == "json" else "hash"), self._ready.type
        if kind == "json":
            return Json(fields=self._options.fields, dimensions=self._shape.dimensions)
        dimensions = self._ready.dimensions if self._in_place else self._shape.dimensions
        return Hashes(fields=self._options.fields, type=type_, dimensions=dimensions)

    @functools.cached_property
    def _conditions(self) -> searching.Conditions:
        if self._own:
            if self._in_place:
                self._known.numbers = indexing.numbers(self._ready)
            return filtering.Own(self._known)
        return filtering.Theirs(self._options.fields.user, self._ready.attributes)


class ApproximateBackend(FlatBackend):
    """An HNSW index, which may miss memories."""

    # Tunable

    def search_index(self, queries: QueryBatch, *, wide: bool) -> Hits:
        """Search through the index; `wide` with as many candidates as there are documents, up to 20,000."""
        ef = min(max(self._ready.rows, *queries.k, 1), WIDEST) if wide else self._ef
        return self._search(queries, searching.Mode(ef=ef, force=True))

    # Sweepable

    def effort(self) -> Effort | None:
        """`EF_RUNTIME`, which an index has 10 of unless told."""
        now = self._ef or facts.graph(self._pool, self._ready).get("EF_RUNTIME") or DEFAULT_EF
        return Effort("EF_RUNTIME", int(now), min(max(self._ready.rows, int(now)), WIDEST))

    def search_at(self, queries: QueryBatch, effort: int) -> Hits:
        """Search through the index with this many candidates."""
        return self._search(queries, searching.Mode(ef=effort, force=True))


class OwnApproximateBackend(ApproximateBackend):
    """An HNSW index of the run's own, which can be built once more."""

    # Rebuildable

    def search_rebuilt(self, queries: QueryBatch, *, wide: bool = False) -> Hits:
        """Search another index of the same kind over the same documents."""
        ef = min(max(self._ready.rows, *queries.k, 1), WIDEST) if wide else self._ef
        return self._search(queries, searching.Mode(ef=ef, force=True, index=self._twin))

    @functools.cached_property
    def _twin(self) -> str:
        return self._build(f"{self._space}_rebuilt").name
