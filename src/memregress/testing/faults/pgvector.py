"""Faults of PostgreSQL with pgvector: statements that a migration, an operator or a failed build ran."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psycopg2

from memregress import gate
from memregress.golden import GoldenSet
from memregress.model import Verdict
from memregress.testing.faults.fault import Fault, Place, all_of, only

INDEX = "CREATE INDEX memories_embedding_idx ON memories USING"
DROP = "DROP INDEX memories_embedding_idx"


def sql(*statements: str) -> Callable[[Place, GoldenSet], None]:
    """Run statements where the memories lie, each in a transaction of its own."""

    def harm(place: Place, _: GoldenSet) -> None:
        with contextlib.closing(psycopg2.connect(place.url)) as connection:
            connection.autocommit = True
            with connection.cursor() as cursor:
                for statement in (f"SET search_path = {place.space}, public", *statements):
                    cursor.execute(statement)

    return harm


def through_index(**given: Any) -> Mapping[str, Any]:
    """Options of an application whose table is too large for plain scans, as production's is."""
    return {"settings": {"enable_seqscan": False, **{name.replace("__", "."): value for name, value in given.items()}}}


def rebuilt_over(*statements: str) -> Sequence[str]:
    """Move the rows to a table of the same name whose index was made beforehand by `statements`."""
    return (
        DROP,
        "ALTER TABLE memories RENAME TO loaded",
        "CREATE TABLE memories (LIKE loaded INCLUDING DEFAULTS)",
        *statements,
        "INSERT INTO memories SELECT * FROM loaded ORDER BY id",
        "ALTER TABLE memories ADD PRIMARY KEY (id)",
        "DROP TABLE loaded",
        "ANALYZE memories",
    )


UNREACHABLE = Verdict.UNREACHABLE
LUCK = ("MR702", *gate.LUCK)
"""Now and then a build of a graph leaves out a memory, too, or needs more effort for one."""

FAULTS: tuple[Fault, ...] = (
    Fault(name="healthy-halfvec", story="nothing is wrong, in half precision", fill={"type": "halfvec"}),
    Fault(name="healthy-ivfflat", story="nothing is wrong, in lists that are all searched", golden="shared",
          fill={"index": "ivfflat", "lists": 20}, options=through_index(ivfflat__probes=20)),
    Fault(name="wrong-operator", story="searches order by Euclidean distance", verdict=Verdict.DRIFTED, cause="MR102",
          rows=all_of, options={"metric": "l2"}),
    Fault(name="other-dimensions", story="the column was made for another model", verdict=Verdict.MISSING,
          cause="MR101", rows=all_of,
          harm=sql("TRUNCATE memories", "ALTER TABLE memories ALTER embedding TYPE vector(48)")),
    Fault(name="naive-times", story="expiry is a timestamp without zone, of Tokyo", verdict=Verdict.EXPIRED,
          cause="MR303", rows=lambda golden: range(0, len(golden), 7),
          harm=sql("ALTER TABLE memories ALTER expires_at TYPE timestamp USING expires_at AT TIME ZONE 'Asia/Tokyo'")),
    Fault(name="duplicated", story="an import ran again over a table without a key", verdict=Verdict.OUTRANKED,
          cause="MR601", harm=sql("ALTER TABLE memories DROP CONSTRAINT memories_pkey",
          "INSERT INTO memories SELECT m.* FROM memories m, generate_series(1, 5) WHERE user_id = 'u_0013'")),
    Fault(name="user-not-asked", story="searches lack the condition on the user", verdict=Verdict.LEAKED,
          cause="MR501", options={"columns": {"user": ""}}),
    Fault(name="index-lost-row", story="the live index does not hold one row", verdict=UNREACHABLE, cause="MR703",
          golden="shared", rows=only(123), options=through_index(hnsw__ef_search=400), harm=sql(
              DROP, f"{INDEX} hnsw (embedding vector_cosine_ops) WHERE id <> 'm-000123'",
              "UPDATE pg_index SET indpred = NULL WHERE indexrelid = 'memories_embedding_idx'::regclass")),
    Fault(name="index-before-data", story="the IVFFlat index was built on the empty table", verdict=UNREACHABLE,
          cause="MR704", golden="shared", options=through_index(ivfflat__probes=3),
          harm=sql(*rebuilt_over(f"{INDEX} ivfflat (embedding vector_cosine_ops) WITH (lists = 64)"))),
    Fault(name="few-probes", story="one of 200 lists is searched", cause="MR702", golden="shared", verdict=UNREACHABLE,
          fill={"index": "ivfflat", "lists": 200}, options=through_index(ivfflat__probes=1)),
    Fault(name="small-ef-search", story="five candidates are looked at", cause="MR702", also=LUCK, golden="shared",
          verdict=UNREACHABLE, options=through_index(hnsw__ef_search=5), settings={"max_index_misses": 0.0}),
    Fault(name="filter-starves", story="the filter is applied to 40 candidates of all users", cause="MR701",
          also=LUCK, golden="crowded", verdict=UNREACHABLE,
          options=through_index(hnsw__ef_search=40, enable_sort=False, enable_bitmapscan=False)),
    # Several places of the graph: by the luck of the build, a single one may lie where no search comes through.
    Fault(name="dead-entries", story="400 rows near each of ten memories were deleted, and nothing vacuumed",
          verdict=UNREACHABLE, cause="MR706", also=LUCK, golden="shared", options=through_index(hnsw__ef_search=40),
          harm=sql(
              "ALTER TABLE memories SET (autovacuum_enabled = off)",
              "INSERT INTO memories SELECT 'old-' || n || id, user_id, content, embedding, created_at, expires_at,"
              " metadata FROM memories, generate_series(1, 400) n WHERE id LIKE 'm-000_23'",
              "DELETE FROM memories WHERE id LIKE 'old-%'")),
    Fault(name="index-absent", story="the index was not created", concern="MR801", harm=sql(DROP)),
    Fault(name="index-invalid", story="a concurrent build failed", concern="MR802", harm=sql(
              "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'memories_embedding_idx'::regclass")),
    Fault(name="wrong-operator-class", story="the index is for another operator", concern="MR803",
          harm=sql(DROP, f"{INDEX} hnsw (embedding vector_l2_ops)")),
    Fault(name="partial-index", story="the index is for a condition that searches do not state", concern="MR803",
          golden="shared", harm=sql(DROP, "ALTER TABLE memories ADD migrated bool NOT NULL DEFAULT true",
                                    f"{INDEX} hnsw (embedding vector_cosine_ops) WHERE migrated")),
    Fault(name="table-gone", story="the table was renamed", error="memories",
          harm=sql("ALTER TABLE memories RENAME TO old_memories")),
)  # fmt: skip
