"""Building the indexes of a table: key, user, and the vector index, after the data."""

from __future__ import annotations

import math
from typing import Any

import psycopg2
from psycopg2 import sql
from psycopg2.extensions import connection as Connection  # noqa: N812  it is a class

from memregress.backends.pgvector.options import Options
from memregress.backends.pgvector.table import OPCLASS, Table
from memregress.model import Metric


def build(connection: Connection, table: Table, options: Options, *, metric: Metric, rows: int) -> None:
    """Key, user index and vector index of our own table, then statistics; a user's own DDL is left as it is."""
    with connection, connection.cursor() as cursor:
        if not options.setup:
            cursor.execute(sql.SQL("ALTER TABLE {} ADD PRIMARY KEY ({})").format(table.qualified, table.bare("id")))
            cursor.execute(sql.SQL("CREATE INDEX ON {} ({})").format(table.qualified, table.bare("user")))
            _build_vector_index(cursor, table, options, metric=metric, rows=rows)
    _analyze(connection, table)


def _analyze(connection: Connection, table: Table) -> None:
    with connection, connection.cursor() as cursor:
        cursor.execute(sql.SQL("ANALYZE {}").format(table.qualified))


def _build_vector_index(cursor: Any, table: Table, options: Options, *, metric: Metric, rows: int) -> None:
    if options.index == "none":
        return
    if options.index == "hnsw":
        parameters = f"m = {options.m}, ef_construction = {options.ef_construction}"
    else:
        parameters = f"lists = {options.lists or max(10, rows // 1000)}"
    statement = sql.SQL("CREATE INDEX ON {} USING {} ({} {}) WITH ({})").format(
        table.qualified,
        sql.SQL(options.index),
        table.bare("vector"),
        sql.SQL(f"{table.vector_type}_{OPCLASS[metric]}"),
        sql.SQL(parameters),
    )
    memory = options.build_memory or f"{build_megabytes(table, rows)}MB"
    _build(cursor, statement, memory)


def _build(cursor: Any, statement: sql.Composable, memory: str) -> None:
    """Build with the memory the graph needs, or with the server's own setting where shared memory is too small."""
    cursor.execute("SAVEPOINT build")
    cursor.execute("SELECT set_config('maintenance_work_mem', %s, true)", [memory])
    try:
        cursor.execute(statement)
    except psycopg2.OperationalError as error:
        if "shared memory" not in str(error):
            raise
        cursor.execute("ROLLBACK TO SAVEPOINT build")
        cursor.execute(statement)


def build_megabytes(table: Table, rows: int) -> int:
    """Memory for an index build: vectors and graph with a margin; between 64 MB and 1 GB."""
    per_row = (table.dimensions or 0) * (2 if table.vector_type == "halfvec" else 4) + 700
    return min(1024, max(64, math.ceil(rows * per_row * 1.3 / 2**20)))
