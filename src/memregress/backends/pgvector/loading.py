"""Filling the table: binary COPY, and a row the server refuses is found and named, not the whole batch lost."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from psycopg2 import sql
from psycopg2.extensions import connection as Connection  # noqa: N812  it is a class

from memregress.backends.pgvector import binary
from memregress.backends.pgvector import connection as connections
from memregress.backends.pgvector.table import Table
from memregress.model import MemoryBatch, Rejected

PATIENCE = 40
"""After so many refusals in a row without one row taken, the reason is taken to hold for the rest of the batch."""
STAGING = "memregress_staging"
PLAIN = {
    "id": "text",
    "user": "text",
    "content": "text",
    "created_at": "timestamptz",
    "expires_at": "timestamptz",
    "metadata": "jsonb",
}


def copy(session: Connection, table: Table, batch: MemoryBatch) -> list[Rejected]:
    """Copy a batch in one transaction and return the refused memories with the server's reason."""
    with session:
        loader = _Loader(session, table)
        loader.take(batch)
    return loader.rejected


class _Loader:
    """Copies a batch whole, or in halves down to the single row where the server refuses."""

    def __init__(self, connection: Connection, table: Table) -> None:
        self.cursor = connection.cursor()
        self.table = table
        self.rejected: list[Rejected] = []
        self.refusals = 0
        self.direct = all(table.native(field) for field in table.columns)

    def take(self, batch: MemoryBatch) -> None:
        self.cursor.execute("SAVEPOINT batch")
        try:
            self._copy(batch)
        except connections.DATA_ERRORS as error:
            self.cursor.execute("ROLLBACK TO SAVEPOINT batch")
            self._refused(batch, str(error).strip().splitlines()[0])
        else:
            self.refusals = 0

    def _refused(self, batch: MemoryBatch, reason: str) -> None:
        if len(batch) == 1 or self.refusals >= PATIENCE:
            self.refusals += len(batch)
            self.rejected += [Rejected(id=id_, reason=reason) for id_ in batch.ids]
            return
        for half in _halves(batch):
            self.take(half)

    def _copy(self, batch: MemoryBatch) -> None:
        fields = list(self.table.columns)
        data = io.BytesIO(binary.memories(batch, self.table.vector_type, fields))
        if self.direct:
            self.cursor.copy_expert(self._statement(self.table.qualified), data, size=1 << 16)
            return
        self.cursor.execute(self._create_staging())
        self.cursor.copy_expert(self._statement(sql.Identifier(STAGING)), data, size=1 << 16)
        self.cursor.execute(self._transfer())
        self.cursor.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(STAGING)))

    def _statement(self, target: sql.Composable) -> sql.Composable:
        return sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(target, self._names())

    def _names(self) -> sql.Composable:
        return sql.SQL(", ").join(sql.Identifier(column) for column in self.table.columns.values())

    def _create_staging(self) -> sql.Composable:
        types = {**PLAIN, "vector": self.table.vector_type}
        columns = [
            sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(types[field]))
            for field, column in self.table.columns.items()
        ]
        return sql.SQL("CREATE TEMP TABLE {} ({}) ON COMMIT DROP").format(
            sql.Identifier(STAGING), sql.SQL(", ").join(columns)
        )

    def _transfer(self) -> sql.Composable:
        """Cast as the application's own INSERT would."""
        casts = [
            sql.SQL("{}::{}").format(sql.Identifier(column), sql.SQL(self.table.types[field]))
            for field, column in self.table.columns.items()
        ]
        return sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {}").format(
            self.table.qualified, self._names(), sql.SQL(", ").join(casts), sql.Identifier(STAGING)
        )


def _halves(batch: MemoryBatch) -> Iterator[MemoryBatch]:
    middle = len(batch) // 2
    yield part(batch, slice(0, middle))
    yield part(batch, slice(middle, None))


def part(batch: MemoryBatch, rows: slice) -> MemoryBatch:
    """A contiguous part of a batch."""
    return MemoryBatch(
        ids=batch.ids[rows],
        vectors=np.ascontiguousarray(batch.vectors[rows]),
        dimensions=batch.dimensions[rows],
        users=batch.users[rows],
        contents=batch.contents[rows],
        created_at=batch.created_at[rows],
        expires_at=batch.expires_at[rows],
        metadata=batch.metadata[rows],
    )


def fetch(connection: Connection, table: Table, ids: Sequence[str]) -> MemoryBatch:
    """Read the rows of the given ids back, vectors bit for bit."""
    fields = [field for field in binary_order() if field in table.columns]
    with connection, connection.cursor() as cursor:
        statement = cursor.mogrify(_select(table, fields), [list(ids)])
        stream = io.BytesIO()
        cursor.copy_expert(b"COPY (" + statement + b") TO STDOUT (FORMAT binary)", stream, size=1 << 20)
    return _decode(stream.getvalue(), table, fields)


def binary_order() -> tuple[str, ...]:
    """The order in which fields are read back."""
    return ("id", "vector", "user", "content", "created_at", "expires_at", "metadata")


def _select(table: Table, fields: Sequence[str]) -> sql.Composable:
    plain = {**PLAIN, "vector": table.vector_type, "metadata": "text"}
    columns = [sql.SQL("{}::{}").format(table.column(field), sql.SQL(plain[field])) for field in fields]
    return sql.SQL("SELECT {} FROM {} m WHERE {} = ANY (%s::text[]::{}[])").format(
        sql.SQL(", ").join(columns), table.qualified, table.column("id"), sql.SQL(table.types["id"])
    )


def _decode(stream: bytes, table: Table, fields: Sequence[str]) -> MemoryBatch:
    columns: dict[str, list[bytes | None]] = {field: [] for field in fields}
    for row in binary.rows(stream):
        for field, value in zip(fields, row, strict=True):
            columns[field].append(value)
    count = len(columns["id"])
    absent: list[bytes | None] = [None] * count
    found = [binary.vector(field, table.vector_type) for field in columns["vector"]]
    vectors = np.zeros((count, max((len(vector) for vector in found), default=0)), np.float32)
    for row_number, vector in enumerate(found):
        vectors[row_number, : len(vector)] = vector
    return MemoryBatch(
        ids=[_text(value) or "" for value in columns["id"]],
        vectors=vectors,
        dimensions=np.array([len(vector) for vector in found], np.int32),
        users=[_text(value) for value in columns.get("user", absent)],
        contents=[_text(value) or "" for value in columns.get("content", absent)],
        created_at=[binary.time(value) for value in columns.get("created_at", absent)],
        expires_at=[binary.time(value) for value in columns.get("expires_at", absent)],
        metadata=[msgspec.json.decode(value) if value else {} for value in columns.get("metadata", absent)],
    )


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()
