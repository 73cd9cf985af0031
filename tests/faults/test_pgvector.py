"""Each cause is named correctly when its fault is injected into a real PostgreSQL + pgvector."""

import dataclasses
import re

import msgspec
import numpy as np
import pytest

from memregress.golden import open as open_golden
from memregress.golden import write
from memregress.model import Metric
from memregress.testing import sets


def through_index(**settings):
    """Options of an application whose table is too large for plain scans, as production's is."""
    return {
        "settings": {"enable_seqscan": False, **{name.replace("__", "."): value for name, value in settings.items()}}
    }


def ids(*rows):
    return [f"m-{row:06d}" for row in rows]


def rewritten(golden, folder, queries, vectors=None):
    """The same memories with other queries, and with other vectors where some are given."""
    asked = golden.query_vectors[: len(queries)] if queries else []
    batches = list(golden.batches(size=len(golden)))
    if vectors is not None:
        batches = [dataclasses.replace(batch, vectors=vectors) for batch in batches]
    write(
        folder / "rewritten",
        name="rewritten",
        created_at=golden.manifest.created_at,
        captured_at=golden.manifest.captured_at,
        vectors=golden.manifest.vectors,
        memories=batches,
        queries=zip(queries, asked, strict=True),
    )
    return open_golden(folder / "rewritten")


def literal(vector):
    return "'[" + ",".join(repr(float(x)) for x in vector) + "]'"


def test_healthy_store_is_green(pgvector, small, broken):
    """Nothing is reported of a store that holds what was recorded."""
    report = pgvector(small)
    assert report.gate == "passed"
    assert broken(report) == []
    assert report.counts["ok"] == report.tested == report.total == 1_000
    assert report.target.index_checked == 1_000
    assert report.concerns == []


def test_healthy_index_is_green(pgvector, shared, broken):
    """Nothing is reported of a store whose searches all go through a healthy HNSW index."""
    report = pgvector(shared, options=through_index(hnsw__ef_search=200))
    assert report.gate == "passed"
    assert report.target.index_searches == report.target.searches == 4_100
    assert [m for m in broken(report) if m[2] != "MR702"] == []


def test_missing_row(pgvector, small, only):
    """A deleted row is missing, and only it."""
    only(pgvector(small, "DELETE FROM memories WHERE id = 'm-000123'"), ids(123), "missing", "MR202")


def test_null_vector(pgvector, small, only):
    """A row without its vector is missing, and the cause says that the row is there."""
    only(pgvector(small, "UPDATE memories SET embedding = NULL WHERE id = 'm-000123'"), ids(123), "missing", "MR201")


def test_zero_vector(pgvector, small, only):
    """A vector of zeros, which pgvector's cosine index does not hold, is altered."""
    zero = f"UPDATE memories SET embedding = {literal([0.0] * 32)} WHERE id = 'm-000123'"
    only(pgvector(small, zero), ids(123), "altered", "MR204")


def test_swapped_vectors(pgvector, small, only):
    """Two memories that hold each other's vectors are misattributed."""
    one, other = small.vectors([10, 20])
    swap = [
        f"UPDATE memories SET embedding = {literal(other)} WHERE id = 'm-000010'",
        f"UPDATE memories SET embedding = {literal(one)} WHERE id = 'm-000020'",
    ]
    only(pgvector(small, *swap), ids(10, 20), "misattributed", "MR205")


def test_shifted_contents(pgvector, small, only):
    """A content that belongs to another memory is misattributed too."""
    shift = "UPDATE memories m SET content = (SELECT content FROM memories WHERE id = 'm-000011') WHERE id = 'm-000010'"
    only(pgvector(small, shift), ids(10), "misattributed", "MR205")


@pytest.mark.parametrize(
    "alter",
    [
        pytest.param(lambda v: v.astype(np.float16).astype(np.float32), id="float16"),
        pytest.param(lambda v: np.round(v, 4), id="4 decimals"),
    ],
)
def test_lost_precision(pgvector, small, only, alter):
    """A vector that went through a lossy form is altered, and the rounding is named."""
    vector = alter(small.vectors([42])[0])
    report = pgvector(small, f"UPDATE memories SET embedding = {literal(vector)} WHERE id = 'm-000042'")
    only(report, ids(42), "altered", "MR207")
    assert "rounded to" in report.causes[0].evidence[0]


def test_padded_vector(pgvector, small, only):
    """A vector whose tail is zeros is altered: it was cut and padded."""
    vector = small.vectors([42])[0].copy()
    vector[24:] = 0
    report = pgvector(small, f"UPDATE memories SET embedding = {literal(vector)} WHERE id = 'm-000042'")
    only(report, ids(42), "altered", "MR206")
    assert "components 25 to 32 are 0" in report.causes[0].evidence[0]


def test_rescaled_vector(pgvector, small, only):
    """A vector of another length but the same direction is altered, although cosine search cannot tell."""
    report = pgvector(
        small, f"UPDATE memories SET embedding = {literal(small.vectors([42])[0] * 3)} WHERE id = 'm-000042'"
    )
    only(report, ids(42), "altered", "MR208")


def test_other_vector(pgvector, small, only):
    """A vector that is no memory's and no rounding of its own is altered, plainly."""
    vector = np.random.default_rng(9).standard_normal(32)
    only(
        pgvector(small, f"UPDATE memories SET embedding = {literal(vector)} WHERE id = 'm-000042'"),
        ids(42),
        "altered",
        "MR209",
    )


def test_every_vector_altered_is_one_finding(pgvector, small):
    """A systemic break is one cause with a thousand memories."""
    report = pgvector(small, "UPDATE memories SET embedding = embedding::halfvec::vector")
    assert [(cause.code, cause.count) for cause in report.causes] == [("MR207", 1_000)]


def test_wrong_user(pgvector, small, only):
    """A memory stored under another user is altered, and both users are named."""
    report = pgvector(small, "UPDATE memories SET user_id = 'u_0001' WHERE id = 'm-000042'")
    only(report, ids(42), "altered", "MR210")
    assert "'u_0042' and is stored under 'u_0001'" in report.causes[0].evidence[0]


def test_content_and_metadata(pgvector, small, broken):
    """Changed content and changed metadata are two causes."""
    report = pgvector(
        small,
        "UPDATE memories SET content = '' WHERE id = 'm-000001'",
        """UPDATE memories SET metadata = metadata || '{"number": "2"}' WHERE id = 'm-000002'""",
    )
    assert broken(report) == [("m-000001", "altered", "MR211"), ("m-000002", "altered", "MR212")]


def test_lifetimes(pgvector, small, only):
    """A memory that expires earlier, or never although it should, is expired."""
    report = pgvector(
        small,
        "UPDATE memories SET expires_at = expires_at - interval '5 hours' WHERE id = 'm-000007'",
        "UPDATE memories SET expires_at = NULL WHERE id = 'm-000014'",
        "UPDATE memories SET expires_at = '2026-06-01 00:00:01+00' WHERE id = 'm-000015'",
    )
    only(report, ids(7, 14, 15), "expired", "MR301")


def test_threshold(pgvector, small, broken):
    """A threshold above what was recorded hides memories, and the value that keeps them is named."""
    lowest = {expected.id: expected.similarity for query in small.queries for expected in query.expected}
    report = pgvector(small, min_similarity=0.3)
    hidden = {id_ for id_, verdict, cause in broken(report) if (verdict, cause) == ("hidden", "MR401")}
    assert hidden == {m.id for m in report.memories if m.verdict.broken}
    assert hidden
    assert all(lowest[id_] < 1.0 for id_ in hidden)
    assert "keeps them all" in report.causes[0].evidence[1]


def test_filter_that_excludes(pgvector, small, tmp_path, only):
    """A memory that its query's filter excludes is hidden: exact search finds it without the filter only."""
    query = msgspec.structs.replace(
        small.queries[0], filter={"topic": "nothing"}, expected=small.queries[0].expected[:1]
    )
    report = pgvector(rewritten(small, tmp_path, [query]))
    only(report, [query.expected[0].id], "hidden", "MR402")


def test_forbidden(pgvector, small, tmp_path, only):
    """A memory that a query must never return has leaked when it comes back."""
    query = small.queries[0]
    ids = [expected.id for expected in query.expected]
    forbidding = msgspec.structs.replace(query, expected=query.expected[:2], forbidden=ids[2:3])
    only(pgvector(rewritten(small, tmp_path, [forbidding])), ids[2:3], "leaked", "MR502")


def test_leak_across_users(pgvector, small, broken):
    """Without the user's condition in the search, memories leak to other users, and are named so."""
    report = pgvector(small, options={"columns": {"user": ""}})
    assert {(verdict, cause) for _, verdict, cause in broken(report)} == {("leaked", "MR501")}
    assert "was returned to user" in report.causes[0].evidence[0]


def test_dimension_mismatch(pgvector, small, tmp_path):
    """A column of other dimensions is one finding for all memories, and no search is tried."""
    ddl = tmp_path / "schema.sql"
    ddl.write_text(
        "CREATE TABLE memories (id text PRIMARY KEY, user_id text, content text, embedding vector(48),"
        " created_at timestamptz, expires_at timestamptz, metadata jsonb)"
    )
    report = pgvector(small, fill={"setup": [str(ddl)]})
    assert [(cause.code, cause.count) for cause in report.causes] == [("MR101", 1_000)]
    assert "48 dimensions" in report.causes[0].evidence[0]
    assert report.gate == "failed"


def test_wrong_metric(pgvector, small):
    """Searches by another metric are one finding that names both metrics."""
    report = pgvector(small, options={"metric": "l2"})
    assert [(cause.code, cause.count) for cause in report.causes] == [("MR102", 1_000)]
    assert report.causes[0].evidence[0] == "recorded by cosine, searched by l2"
    assert {m.verdict.value for m in report.memories} == {"drifted"}


def test_wrong_operator_class(pgvector, small, broken):
    """An index for another operator breaks nothing here, and is a concern that says why it is not used."""
    report = pgvector(
        small,
        "DROP INDEX memories_embedding_idx",
        "CREATE INDEX other ON memories USING hnsw (embedding vector_l2_ops)",
    )
    assert broken(report) == []
    assert [concern.code for concern in report.concerns] == ["MR803"]
    assert "vector_l2_ops" in report.concerns[0].evidence[0]


def test_absent_index(pgvector, small, broken):
    """A missing index is a concern, not a broken memory."""
    report = pgvector(small, "DROP INDEX memories_embedding_idx")
    assert (broken(report), [concern.code for concern in report.concerns]) == ([], ["MR801"])
    assert report.gate == "passed"


def test_invalid_index(pgvector, small, broken):
    """An index that a failed build left behind is a concern."""
    report = pgvector(
        small, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'memories_embedding_idx'::regclass"
    )
    assert (broken(report), [concern.code for concern in report.concerns]) == ([], ["MR802"])


IVF = (
    "CREATE TABLE memories (id text PRIMARY KEY, user_id text, content text, embedding vector(48),"
    " created_at timestamptz, expires_at timestamptz, metadata jsonb);"
    "CREATE INDEX memories_embedding_idx ON memories USING ivfflat (embedding vector_cosine_ops) WITH (lists = 64);"
)


def test_ivfflat_built_before_the_data(pgvector, shared, tmp_path):
    """An IVFFlat index built on the empty table is stale: a fresh build finds what it misses."""
    ddl = tmp_path / "schema.sql"
    ddl.write_text(IVF)
    report = pgvector(shared, fill={"setup": [str(ddl)]}, options=through_index(ivfflat__probes=3))
    assert {cause.code for cause in report.causes} == {"MR704"}
    assert report.gate == "failed"
    assert "REINDEX" in report.causes[0].remedy


def test_too_few_probes(pgvector, shared):
    """An IVFFlat index built on the data, searched in one list, is searched with too little effort."""
    report = pgvector(shared, fill={"index": "ivfflat", "lists": 200}, options=through_index(ivfflat__probes=1))
    assert {cause.code for cause in report.causes} == {"MR702"}
    assert report.gate == "failed"
    least = int(re.search(r"SET ivfflat.probes = (\d+);", report.causes[0].remedy)[1])
    assert 1 < least < 200
    assert f"{least} finds 100 " in " ".join(report.causes[0].evidence)


def test_too_small_ef_search(pgvector, shared):
    """An HNSW index searched with a tiny candidate list is searched with too little effort."""
    report = pgvector(shared, options=through_index(hnsw__ef_search=5), max_index_misses=0.0)
    assert {cause.code for cause in report.causes} == {"MR702"}
    assert report.gate == "failed"
    least = int(re.search(r"SET hnsw.ef_search = (\d+);", report.causes[0].remedy)[1])
    assert 5 < least < 1_000
    report = pgvector(shared, options=through_index(hnsw__ef_search=4 * least), max_index_misses=0.0)
    assert report.gate == "passed"


def test_fewer_candidates_than_hits(pgvector, tmp_path):
    """Where the candidate list is shorter than k, the search ends early for want of effort, not of a filter."""
    golden = sets.make(tmp_path / "alive", memories=1_000, users=0)
    report = pgvector(golden, options=through_index(hnsw__ef_search=2), max_index_misses=0.0)
    assert {cause.code for cause in report.causes} == {"MR702"}


@pytest.mark.parametrize("metric", ["l2", "inner_product"])
@pytest.mark.parametrize("unit_length", [True, False])
@pytest.mark.parametrize("type_", ["vector", "halfvec"])
def test_other_metrics(pgvector, tmp_path, broken, metric, unit_length, type_):
    """Sets of the other metrics, with unit vectors or not, in full or half precision, are green; a lost one is not."""
    golden = sets.make(tmp_path / "set", metric=Metric(metric), unit_length=unit_length, memories=500, users=25)
    report = pgvector(golden, fill={"type": type_})
    assert (report.gate, broken(report)) == ("passed", [])
    report = pgvector(golden, "UPDATE memories SET embedding = NULL WHERE id = 'm-000042'", fill={"type": type_})
    assert broken(report) == [("m-000042", "missing", "MR201")]


def test_filter_after_the_search(pgvector, crowded):
    """A filter that leaves few of the index's candidates starves the search; it is unreachable, not hidden."""
    report = pgvector(crowded, options=through_index(hnsw__ef_search=40, enable_sort=False, enable_bitmapscan=False))
    assert report.causes[0].code == "MR701"
    assert {m.verdict.value for m in report.memories} == {"unreachable"}
    assert "iterative_scan" in report.causes[0].remedy


def test_partial_index(pgvector, shared, broken):
    """A partial index whose condition the searches do not state serves none of them: a concern that says why."""
    report = pgvector(
        shared,
        "DROP INDEX memories_embedding_idx",
        "ALTER TABLE memories ADD migrated bool NOT NULL DEFAULT true",
        "CREATE INDEX memories_embedding_idx ON memories USING hnsw (embedding vector_cosine_ops) WHERE migrated",
    )
    assert (broken(report), [concern.code for concern in report.concerns]) == ([], ["MR803"])
    assert "rows with migrated" in report.concerns[0].evidence[0]


def test_a_row_the_index_does_not_hold(pgvector, shared, only):
    """A row that the live index has lost is found by exact search and by a fresh build, and only it is broken."""
    report = pgvector(
        shared,
        "DROP INDEX memories_embedding_idx",
        "CREATE INDEX memories_embedding_idx ON memories USING hnsw (embedding vector_cosine_ops)"
        " WHERE id <> 'm-000123'",
        "UPDATE pg_index SET indpred = NULL WHERE indexrelid = 'memories_embedding_idx'::regclass",
        options={"settings": {"hnsw.ef_search": 400}},
    )
    only(report, ids(123), "unreachable", "MR703")


def test_an_island_of_the_graph(pgvector, tmp_path):
    """Memories that many equal vectors cut off from the graph are reached by no search through it."""
    golden = sets.make(tmp_path / "equal", memories=3_000, users=0, lifetimes=False, dimensions=32, queries=0)
    vectors = golden.vectors(range(len(golden))).copy()
    vectors[:2_000] = vectors[0]
    equal = rewritten(golden, tmp_path, [], vectors=vectors)
    report = pgvector(
        equal,
        "DROP INDEX memories_embedding_idx",
        "CREATE TABLE ordered (LIKE memories INCLUDING ALL)",
        "CREATE INDEX memories_embedding_idx ON ordered USING hnsw (embedding vector_cosine_ops)",
        "INSERT INTO ordered SELECT * FROM memories ORDER BY id",
        "ALTER TABLE memories RENAME TO loaded",
        "ALTER TABLE ordered RENAME TO memories",
        options=through_index(hnsw__ef_search=40),
    )
    assert "MR705" in {cause.code for cause in report.causes}
    assert {cause.code for cause in report.causes} <= {"MR705", "MR702"}


def test_rows_that_are_no_memories(pgvector, small, broken):
    """Strangers' rows that fill the first hits are named as the reason, and their ids shown."""
    query = small.queries[0]
    victim = query.expected[-1].id
    report = pgvector(
        small,
        *(
            f"INSERT INTO memories SELECT 'stranger-{number}', user_id, content, embedding, created_at, expires_at,"
            f" metadata FROM memories WHERE id = '{query.expected[0].id}'"
            for number in range(3)
        ),
    )
    assert (victim, "outranked", "MR602") in broken(report)
    assert {cause for _, _, cause in broken(report)} == {"MR602"}
    assert "stranger-" in report.causes[0].evidence[0]


def test_duplicated_rows(pgvector, small, broken):
    """Copies that fill the first hits push other memories out, and are named as the reason."""
    report = pgvector(
        small,
        "ALTER TABLE memories DROP CONSTRAINT memories_pkey",
        *["INSERT INTO memories SELECT * FROM memories WHERE id = 'm-000123'"] * 3,
    )
    assert {cause for _, _, cause in broken(report)} <= {"MR601"}


def test_two_faults_at_once(pgvector, small, broken):
    """Two faults from different rungs are both named."""
    report = pgvector(
        small,
        "DELETE FROM memories WHERE id = 'm-000001'",
        "UPDATE memories SET user_id = 'u_0009' WHERE id = 'm-000042'",
    )
    assert broken(report) == [("m-000001", "missing", "MR202"), ("m-000042", "altered", "MR210")]
