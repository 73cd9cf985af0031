"""The table that holds the memories: made by memregress or by the user's own DDL, and read from the catalogue."""

from __future__ import annotations

import dataclasses
import glob
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import psycopg2
from psycopg2 import sql
from psycopg2.extensions import connection as Connection  # noqa: N812  it is a class

from memregress import errors
from memregress.backends.pgvector.options import Columns, Options
from memregress.model import Metric, Shape

OPERATOR = {Metric.COSINE: "<=>", Metric.INNER_PRODUCT: "<#>", Metric.L2: "<->"}
OPCLASS = {Metric.COSINE: "cosine_ops", Metric.INNER_PRODUCT: "ip_ops", Metric.L2: "l2_ops"}
STORED_AS = {"vector": "float32", "halfvec": "float16"}
WIDTH = {"vector": 4, "halfvec": 2}
ROW_BYTES = 7_600
"""Of a page of 8 kB, what a vector may take if the rest of the row is to fit too (longer text moves out by itself)."""
NATIVE = {
    "id": ("text", "character varying"),
    "user": ("text", "character varying"),
    "content": ("text", "character varying"),
    "vector": ("vector", "halfvec"),
    "created_at": ("timestamp with time zone",),
    "expires_at": ("timestamp with time zone",),
    "metadata": ("jsonb",),
}
"""The column types that take our binary COPY as it is; others are filled by a cast from a temporary table."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table as the catalogue describes it; `types` maps the fields of `Columns` that it has to column types."""

    schema: str
    name: str
    columns: Mapping[str, str]
    types: Mapping[str, str]
    vector_type: str
    dimensions: int | None

    @property
    def qualified(self) -> sql.Composable:
        """Its name for a statement."""
        return sql.Identifier(self.schema, self.name)

    def column(self, field: str, alias: str = "m") -> sql.Composable:
        """A column for a statement, qualified so that it cannot be mistaken."""
        return sql.Identifier(alias, self.columns[field])

    def bare(self, field: str) -> sql.Composable:
        """A column's name alone, for DDL."""
        return sql.Identifier(self.columns[field])

    def native(self, field: str) -> bool:
        """Whether the column takes our binary format as it is."""
        return self.types[field].split("(")[0] in NATIVE[field]


def create(connection: Connection, *, space: str, shape: Shape, options: Options) -> None:
    """Make the space (a schema) and the table in it: the user's own DDL if they gave some, else ours."""
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [space])
        if cursor.fetchone():
            raise errors.ConfigError(
                f"the space {space!r} exists already: PostgreSQL has a schema of that name",
                "Choose another --space, replay what lies there with --in-place, or drop the schema first.",
            )
        cursor.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(space)))
        cursor.execute(sql.SQL("SET LOCAL search_path = {}, public").format(sql.Identifier(space)))
        if options.setup:
            _run_scripts(cursor, options.setup)
        else:
            cursor.execute(_create_table(options, shape))
            if options.storage == "plain" and shape.dimensions * WIDTH[options.type] <= ROW_BYTES:
                cursor.execute(_keep_in_row(options))


def _run_scripts(cursor: Any, patterns: Sequence[str]) -> None:
    for pattern in patterns:
        files = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207  an absolute pattern is welcome
        if not files:
            raise errors.ConfigError(
                f"[pgvector] setup: no file matches {pattern!r}", "Paths are relative to memregress.toml."
            )
        for file in files:
            try:
                cursor.execute(Path(file).read_text(encoding="utf-8"))
            except psycopg2.ProgrammingError as error:
                raise errors.ConfigError(
                    f"[pgvector] setup: {file}: {str(error).strip()}",
                    "Mend the statement; it runs in the run's own schema.",
                ) from error


def _create_table(options: Options, shape: Shape) -> sql.Composable:
    columns = options.columns
    return sql.SQL(
        "CREATE TABLE {} ({} text NOT NULL, {} text, {} text NOT NULL, {} {}, {} timestamptz, {} timestamptz,"
        " {} jsonb NOT NULL)"
    ).format(
        sql.Identifier(options.table),
        *(sql.Identifier(name) for name in (columns.id, columns.user, columns.content, columns.vector)),
        sql.SQL(f"{options.type}({shape.dimensions})"),
        *(sql.Identifier(name) for name in (columns.created_at, columns.expires_at, columns.metadata)),
    )


def _keep_in_row(options: Options) -> sql.Composable:
    statement = sql.SQL("ALTER TABLE {} ALTER {} SET STORAGE PLAIN")
    return statement.format(sql.Identifier(options.table), sql.Identifier(options.columns.vector))


def read(connection: Connection, *, space: str, options: Options) -> Table:
    """Find the table and its columns in the catalogue."""
    schema, _, name = options.table.rpartition(".")
    schema = schema or space
    with connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT attname, format_type(atttypid, atttypmod), atttypmod FROM pg_attribute"
            " WHERE attrelid = to_regclass(format('%%I.%%I', %s::text, %s::text)) AND attnum > 0 AND NOT attisdropped",
            [schema, name],
        )
        found = {column: (type_, modifier) for column, type_, modifier in cursor.fetchall()}
    if not found:
        raise errors.BackendError(
            f"there is no table {schema}.{name}", "Name it with `table` under [pgvector], and its schema with --space."
        )
    return _table(schema, name, found, options.columns)


def _table(schema: str, name: str, found: Mapping[str, tuple[str, int]], columns: Columns) -> Table:
    wanted = {field: column for field, column in msgspec.structs.asdict(columns).items() if column}
    for field, column in wanted.items():
        if column not in found:
            raise errors.ConfigError(
                f"table {schema}.{name} has no column {column!r} (for {field})",
                f'{errors.did_you_mean(column, found)}Set {field} under [pgvector.columns], to "" if there is none.',
            )
    for field in ("id", "vector"):
        if field not in wanted:
            raise errors.ConfigError(
                f"[pgvector.columns] {field} is empty", "A memory needs an id and a vector column."
            )
    types = {field: found[column][0] for field, column in wanted.items()}
    vector_type = types["vector"].split("(")[0].rpartition(".")[2]
    if vector_type not in STORED_AS:
        raise errors.ConfigError(
            f"column {columns.vector!r} of {schema}.{name} is of type {types['vector']}",
            "memregress reads columns of type vector and halfvec.",
        )
    modifier = found[columns.vector][1]
    return Table(
        schema=schema,
        name=name,
        columns=wanted,
        types={**types, "vector": vector_type},
        vector_type=vector_type,
        dimensions=modifier if modifier > 0 else None,
    )


def drop(connection: Connection, space: str) -> None:
    """Remove the space with all that is in it."""
    with connection, connection.cursor() as cursor:
        cursor.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(space)))


def copy_to_scratch(connection: Connection, table: Table, name: str) -> Table:
    """Copy the table to a temporary one of the session, so that its index can be built again beside the live one."""
    with connection, connection.cursor() as cursor:
        cursor.execute(
            sql.SQL("CREATE TEMP TABLE {} AS SELECT {} FROM {}").format(
                sql.Identifier(name),
                sql.SQL(", ").join(sql.Identifier(column) for column in table.columns.values()),
                table.qualified,
            )
        )
        cursor.execute("SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()")
        schema = cursor.fetchone()[0]
    return dataclasses.replace(table, schema=schema, name=name)
