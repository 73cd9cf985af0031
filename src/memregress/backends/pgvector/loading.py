"""Filling the table: binary COPY, and a row the server refuses is found and named, not the whole batch lost."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
PART_BYTES = 400_000
"""Of vectors in one COPY."""
CHUNK = 1 << 16
"""Bytes handed to the driver at once: between two chunks it waits for Python's lock."""
STAGING = "memregress_staging"
PLAIN = {
    "id": "text",
    "user": "text",
    "content": "text",
    "created_at": "timestamptz",
    "expires_at": "timestamptz",
    "metadata": "jsonb",
}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Part:
    """Some memories, and their rows as a COPY stream."""

    batch: MemoryBatch
    data: bytes


def encode(batch: MemoryBatch, table: Table) -> Part:
    """Encode memories for the table."""
    return Part(batch=batch, data=binary.memories(batch, table.vector_type, list(table.columns)))


def parts(batch: MemoryBatch, table: Table) -> Iterator[Part]:
    """Encode a batch in parts that a processor's cache holds: what is copied on to the driver is then still in it."""
    rows = max(1, PART_BYTES // max(1, batch.vectors[:1].nbytes))
    for start in range(0, len(batch), rows):
        yield encode(part(batch, slice(start, start + rows)), table)


def copy(session: Connection, table: Table, encoded: Part) -> list[Rejected]:
    """Copy a part and return the refused memories with the server's reason; each statement commits by itself."""
    session.autocommit = True  # a transaction of its own is two more round trips, in which both sides idle
    try:
        loader = _Loader(session, table)
        loader.take(encoded)
    finally:
        session.autocommit = False
    return loader.rejected


class _Loader:
    """Copies a part whole, or in halves down to the single row where the server refuses."""

    def __init__(self, session: Connection, table: Table) -> None:
        self.session = session
        self.cursor = session.cursor()
        self.table = table
        self.rejected: list[Rejected] = []
        self.refusals = 0
        self.direct = all(table.native(field) for field in table.columns)

    def take(self, encoded: Part) -> None:
        try:
            self._copy(io.BytesIO(encoded.data))
        except connections.DATA_ERRORS as error:
            self._refused(encoded.batch, str(error).strip().splitlines()[0])
        else:
            self.refusals = 0

    def _refused(self, batch: MemoryBatch, reason: str) -> None:
        if len(batch) == 1 or self.refusals >= PATIENCE:
            self.refusals += len(batch)
            self.rejected += [Rejected(id=id_, reason=reason) for id_ in batch.ids]
            return
        for half in _halves(batch):
            self.take(encode(half, self.table))

    def _copy(self, data: io.BytesIO) -> None:
        if self.direct:
            self.cursor.copy_expert(self._statement(self.table.qualified), data, size=CHUNK)
            return
        with self.session:
            self.cursor.execute(self._create_staging())
            self.cursor.copy_expert(self._statement(sql.Identifier(STAGING)), data, size=CHUNK)
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
