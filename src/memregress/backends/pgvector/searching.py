"""Searches as the application would send them, at the speed of the server.

The queries of a batch go into a temporary table by binary COPY. A temporary PL/pgSQL function then runs, for each
of them, the application's one statement. PL/pgSQL prepares that statement with the query's vector, user and filter as
parameters, exactly as a client's prepared statement has them
(https://www.postgresql.org/docs/current/plpgsql-implementation.html#PLPGSQL-PLAN-CACHING), so the planner takes
production's path; only the round trips are gone.

Whether a search went through the vector index is counted by the server, per query: `pg_stat_get_xact_numscans`.
"""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from psycopg2 import sql
from psycopg2.extensions import connection as Connection  # noqa: N812  it is a class

from memregress import filters
from memregress.backends.pgvector import binary
from memregress.backends.pgvector.table import OPERATOR, ROW_BYTES, WIDTH, Table
from memregress.model import Filter, Hits, Metric, QueryBatch, Shape

REPLAN = {"plan_cache_mode": "force_custom_plan"}
"""A cached plan outlives a changed setting: a search that must avoid the index would silently go through it."""

JSONPATH = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}

_numbers = itertools.count()


@dataclass(frozen=True, kw_only=True, slots=True)
class Mode:
    """Settings of the transaction a search runs in, and the vector index whose scans are counted (0: none)."""

    settings: Mapping[str, str]
    index_oid: int = 0


class Statement(NamedTuple):
    """What tells one statement of an application from another; `k` is a literal, as it is in code."""

    by_user: bool
    filtered: bool
    k: int


class Searcher:
    """Runs searches on one connection and one table."""

    def __init__(self, connection: Connection, table: Table, shape: Shape, metric: Metric, *, read_only: bool) -> None:
        self.connection = connection
        self.table = table
        self.shape = shape
        self.metric = metric
        self.read_only = read_only
        self._queries = f"memregress_queries_{next(_numbers)}"
        self._functions: dict[tuple[Statement, int], str] = {}
        with connection, connection.cursor() as cursor:
            cursor.execute(self._create_queries())

    def _create_queries(self) -> str:
        fits = (self.table.dimensions or 0) * WIDTH[self.table.vector_type] <= ROW_BYTES
        storage = "PLAIN" if fits else "EXTERNAL"
        return (
            f"CREATE TEMP TABLE {self._queries} (n int, s int, v {self.table.vector_type}, u text, f jsonpath)"
            " ON COMMIT DELETE ROWS;"
            f"ALTER TABLE {self._queries} ALTER v SET STORAGE {storage}"
        )

    def search(self, queries: QueryBatch, mode: Mode) -> Hits:
        """Answer a batch in one transaction."""
        statements = [_statement(queries, row) for row in range(len(queries))]
        functions = {statement: self._function(statement, mode.index_oid) for statement in dict.fromkeys(statements)}
        numbers = {statement: number for number, statement in enumerate(functions)}
        self.connection.set_session(readonly=self.read_only)
        try:
            with self.connection, self.connection.cursor() as cursor:
                for setting in mode.settings.items():
                    cursor.execute("SELECT set_config(%s, %s, true)", setting)
                self._hand_over(cursor, queries, [numbers[statement] for statement in statements])
                answers: list[_Answer] = []
                for statement, name in functions.items():
                    cursor.callproc(f"pg_temp.{name}", [numbers[statement]])
                    answers += cursor.fetchall()
        finally:
            if not self.connection.closed:
                self.connection.set_session(readonly=False)
        return _hits(answers, len(queries), self.metric)

    def _hand_over(self, cursor: Any, queries: QueryBatch, statements: Sequence[int]) -> None:
        columns = [
            binary.integers(range(len(queries))),
            binary.integers(statements),
            binary.vectors(queries.vectors, [True] * len(queries), self.table.vector_type),
            binary.texts(queries.users),
            binary.paths([filter_path(filter_) if filter_ else None for filter_ in queries.filters]),
        ]
        cursor.copy_expert(
            f"COPY {self._queries} FROM STDIN (FORMAT binary)", io.BytesIO(binary.pack(columns)), 1 << 20
        )

    def _function(self, statement: Statement, index_oid: int) -> str:
        key = statement, index_oid
        if key not in self._functions:
            name = f"memregress_search_{next(_numbers)}"
            with self.connection, self.connection.cursor() as cursor:
                cursor.execute(self._define(name, statement, index_oid))
            self._functions[key] = name
        return self._functions[key]

    def _define(self, name: str, statement: Statement, index_oid: int) -> sql.Composable:
        return sql.SQL(
            "CREATE FUNCTION pg_temp.{name}(mr_s int) RETURNS TABLE (mr_n int, mr_ids text[], mr_d float8[], mr_i bool)"
            " LANGUAGE plpgsql AS $memregress$\n"
            "#variable_conflict use_column\n"
            "DECLARE mr record; mr_scans bigint;\n"
            "BEGIN\n"
            "  FOR mr IN SELECT q.n, q.v, q.u, q.f FROM pg_temp.{queries} q WHERE q.s = mr_s LOOP\n"
            "    mr_scans := pg_stat_get_xact_numscans({oid});\n"
            "    SELECT array_agg(hit.id), array_agg(hit.d) INTO mr_ids, mr_d FROM ({select}) hit;\n"
            "    mr_n := mr.n; mr_i := pg_stat_get_xact_numscans({oid}) > mr_scans;\n"
            "    RETURN NEXT;\n"
            "  END LOOP;\n"
            "END $memregress$"
        ).format(
            name=sql.Identifier(name),
            queries=sql.Identifier(self._queries),
            oid=sql.Literal(index_oid),
            select=self.select(statement, vector=sql.SQL("mr.v"), user=sql.SQL("mr.u"), path=sql.SQL("mr.f")),
        )

    def select(
        self, statement: Statement, *, vector: sql.Composable, user: sql.Composable, path: sql.Composable
    ) -> sql.Composable:
        """The application's statement: its filters, ordered by distance, cut at `k`."""
        distance = sql.SQL("{} " + OPERATOR[self.metric] + " {}").format(self.table.column("vector"), vector)
        return sql.SQL(
            "SELECT {id}::text AS id, {distance} AS d FROM {table} m{where} ORDER BY {distance} LIMIT {k}"
        ).format(
            id=self.table.column("id"),
            distance=distance,
            table=self.table.qualified,
            where=self._where(statement, user, path),
            k=sql.Literal(statement.k),
        )

    def _where(self, statement: Statement, user: sql.Composable, path: sql.Composable) -> sql.Composable:
        conditions: list[sql.Composable] = []
        if statement.by_user and "user" in self.table.columns:
            conditions.append(sql.SQL("{} = {}").format(self.table.column("user"), self._typed(user, "user")))
        if self.shape.lifetimes and "expires_at" in self.table.columns:
            alive = sql.SQL("({0} IS NULL OR {0} > {1})")
            conditions.append(alive.format(self.table.column("expires_at"), sql.Literal(self.shape.clock)))
        if statement.filtered and "metadata" in self.table.columns:
            conditions.append(sql.SQL("{}::jsonb @@ {}").format(self.table.column("metadata"), path))
        return sql.SQL(" WHERE ") + sql.SQL(" AND ").join(conditions) if conditions else sql.SQL("")

    def _typed(self, value: sql.Composable, field: str) -> sql.Composable:
        if self.table.native(field):
            return value
        return sql.SQL("{}::{}").format(value, sql.SQL(self.table.types[field]))


_Answer = tuple[int, list[str] | None, list[float | None] | None, bool]


def _statement(queries: QueryBatch, row: int) -> Statement:
    return Statement(by_user=queries.users[row] is not None, filtered=bool(queries.filters[row]), k=queries.k[row])


def filter_path(filter_: Filter) -> str:
    """Translate a filter to a jsonpath predicate.

    In jsonpath's lax mode a comparison with an array holds if it holds for an item, and never between different
    JSON types, which is what `memregress.filters` means. The operator ``@@`` has statistics, so that the planner
    knows how few rows a filter leaves (a function such as `jsonb_path_match` is taken to leave a third).
    """
    parts: list[str] = []
    for condition in filters.conditions(filter_):
        path = f"$.{json.dumps(condition.key)}"
        if condition.test == "in":
            tests = [f"{path} == {json.dumps(value)}" for value in condition.operand]
            parts.append(f"({' || '.join(tests) or '1 == 0'})")
        else:
            parts.append(f"({path} {JSONPATH[condition.test]} {json.dumps(condition.operand)})")
    return " && ".join(parts) or "1 == 1"


def _hits(answers: Sequence[_Answer], count: int, metric: Metric) -> Hits:
    ids: list[list[str]] = [[] for _ in range(count)]
    similarity: list[list[float]] = [[] for _ in range(count)]
    used_index = np.zeros(count, np.bool_)
    offset = 1.0 if metric is Metric.COSINE else 0.0
    for row, found, distances, through_index in answers:
        ids[row] = found or []
        similarity[row] = [np.nan if distance is None else offset - distance for distance in distances or []]
        used_index[row] = through_index
    return Hits(ids=ids, similarity=similarity, used_index=used_index)
