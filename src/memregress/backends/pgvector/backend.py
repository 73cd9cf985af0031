"""The adapter: memregress's protocols on a PostgreSQL server with pgvector."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import psycopg2.errors
from psycopg2.extensions import connection as Connection  # noqa: N812  it is a class

from memregress import errors
from memregress.backends import Effort
from memregress.backends.pgvector import connection as connections
from memregress.backends.pgvector import facts, indexing, loading, searching
from memregress.backends.pgvector import table as tables
from memregress.backends.pgvector.options import THOROUGH, Options
from memregress.model import Hits, IndexInfo, MemoryBatch, QueryBatch, Rejected, Shape

EXACT = {"enable_indexscan": "off", "enable_seqscan": "on", "enable_bitmapscan": "on", **searching.REPLAN}
THROUGH_INDEX = {"enable_seqscan": "off", "enable_bitmapscan": "off", "enable_sort": "off", **searching.REPLAN}
SCRATCH = "memregress_rebuilt"


class PgvectorBackend:
    """Searchable, Loadable, Inspectable, ExactSearchable, Tunable and Rebuildable."""

    def __init__(self, url: str, *, space: str, shape: Shape, options: Options, in_place: bool) -> None:
        self.space = space
        self._shape = shape
        self._options = options
        self._in_place = in_place
        self._metric = options.metric or shape.metric
        self._where = connections.place(url)
        self._loaded = 0
        self._url = url
        self._pool = connections.Pool([self._connect() for _ in range(options.connections)])
        self._searchers: dict[tuple[int, str], searching.Searcher] = {}
        self._table: tables.Table | None = None
        self._index: facts.VectorIndex | None = None
        self._scratch: tuple[tables.Table, int] | None = None

    def __repr__(self) -> str:
        return f"PgvectorBackend({self._where}, space={self.space!r})"

    def _connect(self) -> Connection:
        connection = connections.connect(self._url, timeout=self._options.timeout)
        with self._doing("preparing the session"):
            _require_extension(connection, create=not self._in_place)
            if self._options.settings is not None:
                _apply(connection, self._options.settings)
            elif not (self._in_place or self._options.setup):
                _apply_known(connection, THOROUGH[self._options.index])
        return connection

    @contextlib.contextmanager
    def _doing(self, what: str) -> Iterator[None]:
        with connections.translated(what, self._where):
            yield

    # Loadable

    def create(self) -> None:
        """Make the schema and the table in it."""
        with self._doing("creating its space"):
            self._pool.run_one(
                lambda connection: tables.create(connection, space=self.space, shape=self._shape, options=self._options)
            )

    def load(self, batches: Iterable[MemoryBatch]) -> list[Rejected]:
        """Copy all batches, on every connection at once."""
        table = self.table
        with self._doing("loading memories"):
            refused = self._pool.stream(
                lambda connection, part: loading.copy(connection, table, part), self._parts(batches, table)
            )
            return list(itertools.chain.from_iterable(refused))

    def _parts(self, batches: Iterable[MemoryBatch], table: tables.Table) -> Iterator[loading.Part]:
        for batch in batches:
            self._loaded += len(batch)
            yield from loading.parts(batch, table)

    def index(self) -> None:
        """Build keys and the vector index, and gather statistics."""
        with self._doing("building the index"):
            self._pool.run_one(
                lambda connection: indexing.build(
                    connection, self.table, self._options, metric=self._metric, rows=self._loaded
                )
            )
        self._index = None

    def drop(self) -> None:
        """Drop the schema, over a connection of its own: one that was interrupted may be in the midst of something."""
        fresh = functools.partial(connections.connect, self._url, timeout=self._options.timeout)
        with self._doing("dropping its space"), contextlib.closing(fresh()) as connection:
            tables.drop(connection, self.space)

    def close(self) -> None:
        """Close the connections; temporary tables and functions go with them."""
        self._pool.close()

    # Inspectable

    @property
    def table(self) -> tables.Table:
        """The table as the catalogue describes it, read once."""
        if self._table is None:
            with self._doing("reading the catalogue"):
                self._table = self._pool.run_one(
                    lambda connection: tables.read(connection, space=self.space, options=self._options)
                )
        return self._table

    def fetch(self, ids: Sequence[str]) -> MemoryBatch:
        """Read rows back by id."""
        with self._doing("reading memories back"):
            return self._pool.run_one(lambda connection: loading.fetch(connection, self.table, ids))

    def describe(self) -> IndexInfo:
        """Gather the facts of server, table and index."""
        table = self.table
        with self._doing("reading the catalogue"):
            found = self._pool.run_one(lambda connection: facts.indexes(connection, table))
            self._index = facts.serving(found, self._metric)
            return self._pool.run_one(lambda connection: facts.describe(connection, table, self._metric, self._index))

    # Searchable, ExactSearchable, Tunable, Rebuildable

    def search(self, queries: QueryBatch) -> Hits:
        """Search as the application does, under the session's own settings."""
        return self._search(queries, self.table, searching.Mode(settings={}, index_oid=self._oid))

    def search_exact(self, queries: QueryBatch) -> Hits:
        """Search with index scans switched off, and prove by the server's count that the index was not used."""
        hits = self._search(queries, self.table, searching.Mode(settings=EXACT, index_oid=self._oid))
        if hits.used_index is not None and hits.used_index.any():
            raise errors.BackendError(
                f"PostgreSQL at {self._where} used the vector index though index scans are off",
                "Look for a SET clause on a function or role that switches them on again.",
            )
        return hits

    def search_index(self, queries: QueryBatch, *, wide: bool) -> Hits:
        """Search through the vector index whatever the planner prefers."""
        settings = {**THROUGH_INDEX, **(self._widest() if wide else {})}
        return self._search(queries, self.table, searching.Mode(settings=settings, index_oid=self._oid))

    def effort(self) -> Effort | None:
        """`hnsw.ef_search`, or `ivfflat.probes`."""
        (name, widest), *_ = self._widest().items()
        now = self.describe().settings.get(name)
        return Effort(name, now, int(widest)) if isinstance(now, int) else None

    def search_at(self, queries: QueryBatch, effort: int) -> Hits:
        """Search through the vector index with this many candidates, or lists."""
        settings = {**THROUGH_INDEX, **dict.fromkeys(self._widest(), str(effort))}
        return self._search(queries, self.table, searching.Mode(settings=settings, index_oid=self._oid))

    def search_rebuilt(self, queries: QueryBatch, *, wide: bool = False) -> Hits:
        """Search through the same index built afresh over a temporary copy of the rows."""
        table, oid = self._rebuilt()
        settings = {**THROUGH_INDEX, **(self._widest() if wide else {})}
        return self._search(queries, table, searching.Mode(settings=settings, index_oid=oid), connections_=1)

    def _search(
        self, queries: QueryBatch, table: tables.Table, mode: searching.Mode, connections_: int | None = None
    ) -> Hits:
        parts = _split(len(queries), connections_ or len(self._pool.connections))
        batches = [queries.take(range(part.start, part.stop)) for part in parts]
        with self._doing("searching"):
            answers = self._pool.run(
                lambda connection, batch: self._searcher(connection, table).search(batch, mode), batches
            )
        return _join(answers)

    def _searcher(self, connection: Connection, table: tables.Table) -> searching.Searcher:
        key = id(connection), table.name
        if key not in self._searchers:
            self._searchers[key] = searching.Searcher(
                connection, table, self._shape, self._metric, read_only=self._in_place
            )
        return self._searchers[key]

    @property
    def _oid(self) -> int:
        if self._index is None:
            self.describe()
        return self._index.oid if self._index else 0

    def _widest(self) -> dict[str, str]:
        """The most thorough search the index and the server's version allow."""
        if self._index is not None and self._index.kind == "ivfflat":
            return {"ivfflat.probes": str(self._index.parameters.get("lists", 100))}
        return {"hnsw.ef_search": "1000"}

    def _rebuilt(self) -> tuple[tables.Table, int]:
        if self._scratch is None:
            with self._doing("building a second index for comparison"):
                self._scratch = self._pool.run_one(self._build_scratch)
        return self._scratch

    def _build_scratch(self, connection: Connection) -> tuple[tables.Table, int]:
        index = self._index
        if index is None:
            raise errors.BackendError("there is no vector index to build again", "Nothing to do.")
        table = tables.copy_to_scratch(connection, self.table, SCRATCH)
        facts.build_like(connection, table, index)
        return table, facts.indexes(connection, table)[0].oid


def _require_extension(connection: Connection, *, create: bool) -> None:
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT installed_version FROM pg_available_extensions WHERE name = 'vector'")
        row = cursor.fetchone()
        if row and row[0]:
            return
        if row and create:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
            return
    missing = "is not created in this database" if row else "is not installed on this server"
    raise errors.BackendError(
        f"the extension vector {missing}",
        "Run CREATE EXTENSION vector; in this database."
        if row
        else "Install pgvector on the server, or use an image that has it, e.g. pgvector/pgvector:pg16.",
    )


def _apply(connection: Connection, settings: Mapping[str, str | int | float | bool]) -> None:
    """Set the session's settings once the library is loaded: before that, a misspelt name would be taken silently."""
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT '[1]'::vector")
        for name, value in settings.items():
            text = ("on" if value else "off") if isinstance(value, bool) else str(value)
            try:
                cursor.execute("SELECT set_config(%s, %s, false)", [name, text])
            except psycopg2.Error as error:
                raise errors.ConfigError(
                    f"[pgvector.settings] {name} = {value!r}: {str(error).strip().splitlines()[0]}",
                    "Settings of pgvector are, e.g., hnsw.ef_search, ivfflat.probes, hnsw.iterative_scan.",
                ) from error


def _apply_known(connection: Connection, settings: Mapping[str, str]) -> None:
    """Set those settings that this version of the library has."""
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT '[1]'::vector")
        names = list(settings)
        cursor.execute(
            "SELECT set_config(name, %s::jsonb ->> name, false) FROM pg_settings WHERE name = ANY (%s)",
            [json.dumps(dict(settings)), names],
        )


def _split(count: int, parts: int) -> list[slice]:
    """Cut `count` rows into at most `parts` contiguous slices of nearly equal length."""
    bounds = np.linspace(0, count, min(parts, max(count, 1)) + 1).astype(int).tolist()
    return [slice(start, stop) for start, stop in itertools.pairwise(bounds)]


def _join(parts: Sequence[Hits]) -> Hits:
    return Hits(
        ids=[ids for part in parts for ids in part.ids],
        similarity=[similarity for part in parts for similarity in part.similarity],
        used_index=np.concatenate([part.used_index for part in parts if part.used_index is not None]),
    )
