"""What the catalogue says of the vector index: kind, metric, validity, predicate, parameters and settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg2 import sql
from psycopg2.extensions import connection as Connection  # noqa: N812  it is a class

from memregress.backends.pgvector.table import OPERATOR, STORED_AS, Table
from memregress.model import IndexInfo, Metric

OPCLASS_METRIC = {"cosine": Metric.COSINE, "ip": Metric.INNER_PRODUCT, "l2": Metric.L2}
SETTINGS = {
    "hnsw": ("hnsw.ef_search", "hnsw.iterative_scan"),
    "ivfflat": ("ivfflat.probes", "ivfflat.iterative_scan"),
}
INDEXES = """
SELECT c.oid, c.relname, am.amname, oc.opcname, i.indisvalid AND i.indisready,
       pg_get_expr(i.indpred, i.indrelid), coalesce(c.reloptions, '{}'), i.indkey[0] = 0,
       pg_get_indexdef(c.oid, 1, false)
  FROM pg_index i
  JOIN pg_class c ON c.oid = i.indexrelid
  JOIN pg_am am ON am.oid = c.relam
  JOIN pg_opclass oc ON oc.oid = i.indclass[0]
 WHERE i.indrelid = to_regclass(format('%%I.%%I', %(schema)s::text, %(table)s::text))
   AND am.amname IN ('hnsw', 'ivfflat')
   AND (i.indkey[0] = 0 OR i.indkey[0] = (
        SELECT attnum FROM pg_attribute WHERE attrelid = i.indrelid AND attname = %(column)s))
 ORDER BY c.oid
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorIndex:
    """One index of the vector column, as the catalogue has it."""

    oid: int
    name: str
    kind: str
    opclass: str
    valid: bool
    predicate: str | None
    parameters: Mapping[str, Any]
    expression: str | None

    @property
    def metric(self) -> Metric | None:
        """The metric its operator class serves."""
        return OPCLASS_METRIC.get(self.opclass.split("_")[1])


def indexes(connection: Connection, table: Table) -> list[VectorIndex]:
    """The vector indexes of the table's vector column."""
    names = {"schema": table.schema, "table": table.name, "column": table.columns["vector"]}
    with connection, connection.cursor() as cursor:
        cursor.execute(INDEXES, names)
        return [
            VectorIndex(
                oid=oid,
                name=name,
                kind=kind,
                opclass=opclass,
                valid=valid,
                predicate=predicate,
                parameters=_parameters(options),
                expression=definition if is_expression else None,
            )
            for oid, name, kind, opclass, valid, predicate, options, is_expression, definition in cursor.fetchall()
        ]


def _parameters(options: list[str]) -> dict[str, Any]:
    pairs = (option.split("=", 1) for option in options)
    return {name: int(value) if value.isdecimal() else value for name, value in pairs}


def serving(found: list[VectorIndex], metric: Metric) -> VectorIndex | None:
    """The index that searches by this metric use; where none fits, the first there is."""
    return min(found, key=lambda index: _why_unusable(index, metric) is not None or not index.valid, default=None)


def _why_unusable(index: VectorIndex, metric: Metric) -> str | None:
    if index.metric is not metric:
        return f"it is built with {index.opclass}, which the operator {OPERATOR[metric]} of the searches does not use"
    if index.predicate is not None:
        return f"it is partial, for rows with {index.predicate}, and the searches do not ask for that"
    if index.expression is not None:
        return f"it indexes the expression {index.expression}, and the searches order by the column"
    return None


def describe(connection: Connection, table: Table, metric: Metric, index: VectorIndex | None) -> IndexInfo:
    """Gather the facts of server, table, index and settings."""
    with connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('server_version'), extversion FROM pg_extension WHERE extname = 'vector'"
        )
        postgres, pgvector = cursor.fetchone()
        cursor.execute(sql.SQL("SELECT count(*) FROM {}").format(table.qualified))
        rows = cursor.fetchone()[0]
        cursor.execute("SELECT pg_stat_get_dead_tuples(%s::regclass)", [table.qualified.as_string(cursor)])
        dead = cursor.fetchone()[0]
        settings = _settings(cursor, index.kind if index else None)
    return IndexInfo(
        server=f"PostgreSQL {postgres.split()[0]}, pgvector {pgvector}",
        location=f"{table.schema}.{table.name}",
        rows=rows,
        dead=dead or 0,
        stored_as=STORED_AS[table.vector_type],
        dimensions=table.dimensions,
        metric=metric,
        not_stored=[
            field for field in ("user", "content", "created_at", "expires_at", "metadata") if field not in table.columns
        ],
        settings=settings,
        names=dict(table.columns),
        **_index_facts(index, metric),
    )


def _index_facts(index: VectorIndex | None, metric: Metric) -> dict[str, Any]:
    if index is None:
        return {}
    return {
        "kind": index.kind,
        "index": index.name,
        "index_metric": index.metric,
        "valid": index.valid,
        "predicate": index.predicate,
        "parameters": dict(index.parameters),
        "unusable": _why_unusable(index, metric),
    }


def _settings(cursor: Any, kind: str | None) -> dict[str, Any]:
    """Effective settings; the library must be loaded for them to exist."""
    names = list(SETTINGS.get(kind or "", ()))
    cursor.execute("SELECT '[1]'::vector; SELECT name, setting FROM pg_settings WHERE name = ANY (%s)", [names])
    return {name: int(value) if value.isdecimal() else value for name, value in cursor.fetchall()}


def build_like(connection: Connection, table: Table, index: VectorIndex) -> None:
    """Build an index of the same kind, operator class and parameters on another table."""
    options = ", ".join(f"{name} = {value}" for name, value in index.parameters.items())
    with connection, connection.cursor() as cursor:
        cursor.execute(
            sql.SQL("CREATE INDEX ON {} USING {} ({} {}){}").format(
                table.qualified,
                sql.Identifier(index.kind),
                table.bare("vector"),
                sql.Identifier(index.opclass),
                sql.SQL(f" WITH ({options})" if options else ""),
            )
        )
        cursor.execute(sql.SQL("ANALYZE {}").format(table.qualified))
