"""The pgvector adapter on a real server: it stores what it is given, searches exactly, and touches nothing else."""

import contextlib
import itertools
import uuid
from datetime import UTC, datetime, timedelta

import msgspec
import numpy as np
import psycopg2
import pytest

from memregress import errors, filters, similarity
from memregress.backends import pgvector
from memregress.model import MemoryBatch, Metric, Shape
from memregress.testing.conformance import FILTERS, HOSTILE, queries

CLOCK = datetime(2026, 6, 1, tzinfo=UTC)
COUNT, DIMENSIONS = 300, 24
_numbers = itertools.count()


def shape(metric=Metric.COSINE, *, users=True, lifetimes=True):
    return Shape(dimensions=DIMENSIONS, metric=metric, clock=CLOCK, users=users, lifetimes=lifetimes)


def memories(count=COUNT, *, ids=None, users=None):
    generator = np.random.default_rng(5)
    return MemoryBatch(
        ids=ids or [f"m{row}" for row in range(count)],
        vectors=generator.standard_normal((count, DIMENSIONS)).astype(np.float32),
        dimensions=np.full(count, DIMENSIONS, np.int32),
        users=users or [f"u{row % 7}" for row in range(count)],
        contents=[f"memory {row} ü" for row in range(count)],
        created_at=[CLOCK - timedelta(microseconds=row) for row in range(count)],
        expires_at=[CLOCK + timedelta(seconds=row - 20) if row % 5 == 0 else None for row in range(count)],
        metadata=[
            {"n": row, "tags": ["a", "b"] if row % 2 else [], "t": f"{row:03d}", "yes": row % 3 == 0, "none": None}
            for row in range(count)
        ],
    )


@pytest.fixture
def connect(pgvector_url):
    """Open a store with a space of its own, dropped afterwards."""
    with contextlib.ExitStack() as stack:

        def opened(*, batch=None, space=None, url=pgvector_url, in_place=False, of=None, **options):
            backend = pgvector.connect(
                url,
                space=space or f"conform_{next(_numbers)}",
                shape=of or shape(),
                options=msgspec.convert(options, pgvector.Options),
                in_place=in_place,
            )
            stack.callback(backend.close)
            if not in_place:
                backend.create()
                stack.callback(backend.drop)
            if batch is not None:
                assert backend.load([batch]) == []
                backend.index()
            return backend

        yield opened


@pytest.fixture
def execute(pgvector_url):
    """Run a statement on a connection of its own."""

    def run(statement, *values):
        with (
            contextlib.closing(psycopg2.connect(pgvector_url)) as connection,
            connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    return run


def allowed(batch, row, user, filter_):
    expiry = batch.expires_at[row]
    alive = expiry is None or expiry > CLOCK
    return alive and (user is None or batch.users[row] == user) and filters.matches(filter_, batch.metadata[row])


@pytest.mark.parametrize("type_", ["vector", "halfvec"])
@pytest.mark.parametrize("metric", list(Metric))
def test_search_is_exact_without_an_index(connect, metric, type_):
    """Ids, order and similarities are those of exact computation over what was stored, for every metric and type."""
    batch = memories()
    backend = connect(batch=batch, of=shape(metric), index="none", type=type_)
    stored = batch.vectors if type_ == "vector" else batch.vectors.astype(np.float16).astype(np.float32)
    hits = backend.search(queries(batch, users=batch.users))
    for row in range(COUNT):
        rows = [other for other in range(COUNT) if allowed(batch, other, batch.users[row], None)]
        exact = similarity.exact_search(metric, stored[row : row + 1], stored[rows], 10)
        assert hits.ids[row] == [f"m{rows[place]}" for place in exact.rows[0].tolist()]
        np.testing.assert_allclose(hits.similarity[row], exact.similarity[0], rtol=1e-5, atol=2e-6)
    assert not hits.used_index.any()


@pytest.mark.parametrize(
    "filter_",
    FILTERS,
    ids=str,
)
def test_filters_mean_what_memregress_means(connect, filter_):
    """Every condition selects exactly the memories that `memregress.filters` says."""
    batch = memories()
    backend = connect(batch=batch, index="none")
    found = backend.search(queries(loaded(batch, 1), filter_=filter_, k=COUNT)).ids[0]
    assert sorted(found) == sorted(batch.ids[row] for row in range(COUNT) if allowed(batch, row, None, filter_))


def loaded(batch, count):
    """The first memories of a batch."""
    return pgvector.loading.part(batch, slice(0, count))


def test_what_is_fetched_is_what_was_loaded(connect):
    """Vectors come back bit for bit, times to the microsecond, and every field as it was; absent ids do not."""
    batch = memories()
    backend = connect(batch=batch)
    found = backend.fetch([*batch.ids, "absent"])
    order = [found.ids.index(id_) for id_ in batch.ids]
    assert len(found) == COUNT
    np.testing.assert_array_equal(found.vectors[order], batch.vectors)
    for field in ("users", "contents", "created_at", "expires_at", "metadata"):
        assert [getattr(found, field)[place] for place in order] == getattr(batch, field)


@pytest.mark.parametrize("index", ["hnsw", "ivfflat", "none"])
def test_hostile_ids_and_users(connect, index):
    """Every id and user is found again under its own user and under no other."""
    batch = memories(len(HOSTILE), ids=[f"id {text}" for text in HOSTILE], users=HOSTILE)
    backend = connect(batch=batch, of=shape(lifetimes=False), index=index)
    assert backend.search(queries(batch, users=HOSTILE)).ids == [[id_] for id_ in batch.ids]
    assert sorted(backend.fetch(batch.ids).ids) == sorted(batch.ids)


def test_memories_without_vector_or_user(connect):
    """A memory without a vector is stored without one, and comes last, without a similarity, where rows are scanned."""
    batch = memories(4, users=[None, None, "a", "a"])
    batch.vectors[1] = np.nan
    batch.dimensions[1] = 0
    backend = connect(batch=batch, of=shape(lifetimes=False))
    found = backend.fetch(batch.ids)
    assert dict(zip(found.ids, found.dimensions.tolist(), strict=True)) == {"m0": 24, "m1": 0, "m2": 24, "m3": 24}
    hits = backend.search(queries(loaded(batch, 1)))
    assert (sorted(hits.ids[0][:3]), hits.ids[0][3:]) == (["m0", "m2", "m3"], ["m1"])
    assert np.isnan(hits.similarity[0]).tolist() == [False, False, False, True]


def test_duplicate_rows_are_all_fetched(connect, execute):
    """An id that lies in the table twice comes back twice."""
    backend = connect(batch=memories(5), space="twice")
    execute(
        "ALTER TABLE twice.memories DROP CONSTRAINT memories_pkey;"
        "INSERT INTO twice.memories SELECT * FROM twice.memories WHERE id = 'm3'"
    )
    assert sorted(backend.fetch(["m3", "m4"]).ids) == ["m3", "m3", "m4"]


def test_refused_rows_are_named_with_the_reason(connect, tmp_path):
    """A row that the user's own constraint refuses is reported; all others are stored."""
    ddl = tmp_path / "schema.sql"
    ddl.write_text(
        f"CREATE TABLE memories (id text PRIMARY KEY, user_id text, content text CHECK (content NOT LIKE '%7 ü'),"
        f" embedding vector({DIMENSIONS}), created_at timestamptz, expires_at timestamptz, metadata jsonb)"
    )
    backend = connect(setup=[str(ddl)])
    rejected = backend.load([memories(100)])
    assert sorted(item.id for item in rejected) == sorted(f"m{row}" for row in range(7, 100, 10))
    assert all("violates check constraint" in item.reason for item in rejected)
    assert len(backend.fetch([f"m{row}" for row in range(100)])) == 90


def test_numbers_beyond_half_precision_are_refused(connect):
    """A component that a halfvec cannot hold is refused by the server and reported, not stored as something else."""
    batch = memories(3)
    batch.vectors[1, 0] = 70_000
    backend = connect(type="halfvec")
    (rejected,) = backend.load([batch])
    assert (rejected.id, "infinite" in rejected.reason.lower()) == ("m1", True)


def test_tables_of_other_names_and_types(connect, tmp_path):
    """Memories go into the user's own table: other names, uuid ids, json metadata, varchar users, no expiry column."""
    ddl = tmp_path / "schema.sql"
    ddl.write_text(
        f"CREATE TABLE app_memory (key uuid PRIMARY KEY, tenant varchar(40), body text, vec vector({DIMENSIONS}),"
        " at timestamptz DEFAULT now(), payload json); CREATE INDEX ON app_memory USING hnsw (vec vector_cosine_ops)"
    )
    batch = memories(50, ids=[str(uuid.UUID(int=row)) for row in range(50)])
    backend = connect(
        batch=batch,
        of=shape(lifetimes=False),
        setup=[str(tmp_path / "*.sql")],
        table="app_memory",
        columns={
            "id": "key", "user": "tenant", "content": "body", "vector": "vec",
            "created_at": "at", "expires_at": "", "metadata": "payload",
        },
    )  # fmt: skip
    info = backend.describe()
    assert (info.kind, info.not_stored, info.rows) == ("hnsw", ["expires_at"], 50)
    assert [ids[0] for ids in backend.search(queries(batch, users=batch.users)).ids] == batch.ids
    assert backend.search(queries(loaded(batch, 1), filter_={"n": 3})).ids == [[batch.ids[3]]]
    found = backend.fetch(batch.ids[:2])
    assert sorted(found.ids) == sorted(batch.ids[:2])
    assert {metadata["n"] for metadata in found.metadata} == {0, 1}


def test_exact_search_proves_that_it_avoided_the_index(connect):
    """After many searches through the index on the same connection, the exact search still does not use it."""
    batch = memories()
    backend = connect(
        batch=batch, of=shape(users=False, lifetimes=False), settings={"enable_seqscan": False, "hnsw.ef_search": 10}
    )
    assert backend.search(queries(batch)).used_index.all()
    hits = backend.search_exact(queries(batch))
    assert not hits.used_index.any()
    exact = similarity.exact_search(Metric.COSINE, batch.vectors, batch.vectors, 10)
    assert hits.ids == [[f"m{row}" for row in rows] for rows in exact.rows.tolist()]


@pytest.mark.parametrize("index", ["hnsw", "ivfflat"])
def test_the_index_can_be_forced_widened_and_rebuilt(connect, index):
    """Searches that the planner would answer by a scan can go through the index, also at its widest and rebuilt."""
    batch = memories()
    backend = connect(batch=batch, of=shape(lifetimes=False), index=index)
    assert not backend.search(queries(batch, users=batch.users)).used_index.any()
    for hits in (
        backend.search_index(queries(batch), wide=False),
        backend.search_index(queries(batch), wide=True),
        backend.search_rebuilt(queries(batch)),
    ):
        assert hits.used_index.all()
        assert [ids[0] for ids in hits.ids] == batch.ids


def test_describe(connect):
    """Server, index, parameters and the settings in force are those of the server."""
    backend = connect(batch=memories(), m=8, ef_construction=40, settings={"hnsw.ef_search": 77})
    info = backend.describe()
    assert info.server.startswith("PostgreSQL 16")
    assert "pgvector 0.8.5" in info.server
    assert (info.kind, info.rows, info.dimensions, info.stored_as) == ("hnsw", COUNT, DIMENSIONS, "float32")
    assert info.parameters == {"m": 8, "ef_construction": 40}
    assert info.settings["hnsw.ef_search"] == 77


def test_in_place_never_writes(connect, execute):
    """What lies in a table is the same after an in-place replay, and a write is refused by the server itself."""
    batch = memories()
    connect(batch=batch, space="untouched")
    before = execute("SELECT xmin::text, md5(m::text) FROM untouched.memories m ORDER BY id")
    backend = connect(space="untouched", in_place=True)
    backend.search(queries(batch, users=batch.users))
    backend.search_exact(queries(loaded(batch, 5)))
    backend.search_index(queries(batch), wide=True)
    backend.search_rebuilt(queries(loaded(batch, 5)))
    backend.fetch(batch.ids)
    assert execute("SELECT xmin::text, md5(m::text) FROM untouched.memories m ORDER BY id") == before


def test_a_space_that_exists_is_refused(connect, execute):
    """A schema of the user's is never reused, and never dropped."""
    execute("CREATE SCHEMA mine; CREATE TABLE mine.things ()")
    try:
        with pytest.raises(errors.ConfigError, match="exists already"):
            connect(space="mine")
        assert execute("SELECT count(*) FROM mine.things") == [(0,)]
    finally:
        execute("DROP SCHEMA mine CASCADE")


def test_drop_removes_its_own_space_only(connect, execute):
    """After the drop nothing of the run is left, and another run's space is."""
    connect(batch=memories(5), space="other_run")
    backend = connect(batch=memories(5), space="this_run")
    backend.drop()
    left = execute("SELECT nspname FROM pg_namespace WHERE nspname IN ('other_run', 'this_run')")
    assert left == [("other_run",)]


@pytest.mark.parametrize("settings", [{"hnsw.ef_serach": 100}, {"hnsw.ef_search": 5_000}, {"ivfflat.probes": "many"}])
def test_settings_are_checked(connect, settings):
    """A misspelt or impossible setting is an error; a server that has not loaded the library would take it."""
    with pytest.raises(errors.ConfigError, match=r"pgvector\.settings"):
        connect(settings=settings)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"columns": {"content": "txt"}}, "no column 'txt'"),
        ({"table": "memoirs"}, "no table"),
        ({"columns": {"vector": "content"}}, "of type text"),
        ({"columns": {"id": ""}}, "needs an id"),
    ],
)
def test_layouts_that_do_not_fit(connect, options, says):
    """A table or column that is not there is named, with the place to mend it."""
    connect(batch=memories(5), space=f"layout_{abs(hash(says)) % 1000}")
    space = f"layout_{abs(hash(says)) % 1000}"
    with pytest.raises(errors.MemregressError, match=says) as caught:
        connect(space=space, in_place=True, **options).describe()
    assert caught.value.remedy


def test_a_setup_that_fails_names_file_and_reason(connect, tmp_path, execute):
    """The user's own DDL is quoted with the server's words; nothing of it stays."""
    ddl = tmp_path / "broken.sql"
    ddl.write_text("CREATE TABLE memories (id text, embedding vectr(3))")
    with pytest.raises(errors.ConfigError, match=r"broken\.sql.*vectr"):
        connect(setup=[str(ddl)], space="halfway")
    assert execute("SELECT 1 FROM pg_namespace WHERE nspname = 'halfway'") == []
    with pytest.raises(errors.ConfigError, match="no file matches"):
        connect(setup=[str(tmp_path / "none*.sql")])


def test_a_closed_port():
    """A server that does not answer is named without the password."""
    with pytest.raises(errors.BackendUnavailable, match="localhost:1/app") as caught:
        pgvector.connect("postgresql://u:s3cret@localhost:1/app", space="s", shape=shape(), options=pgvector.Options())
    assert "s3cret" not in str(caught.value)
    assert caught.value.remedy


def test_a_url_of_something_else():
    """What is no PostgreSQL URL is the user's error, and is not printed."""
    with pytest.raises(errors.ConfigError) as caught:
        pgvector.connect("redis://:s3cret@localhost", space="s", shape=shape(), options=pgvector.Options())
    assert "s3cret" not in str(caught.value)


@pytest.mark.docker
@pytest.mark.store
def test_a_wrong_password(container_pgvector):
    """A refused log-in says so, and holds no password."""
    url = container_pgvector.replace("memregress@", "wrong@")
    with pytest.raises(errors.BackendUnavailable, match="password authentication failed") as caught:
        pgvector.connect(url, space="s", shape=shape(), options=pgvector.Options())
    assert "wrong@" not in str(caught.value)
    assert "user and password" in caught.value.remedy


@pytest.mark.store
def test_a_database_without_the_extension(embedded_pgvector, tmp_path):
    """In place the extension is not created for the user: the error says how to."""
    with contextlib.closing(psycopg2.connect(embedded_pgvector)) as connection:
        connection.autocommit = True
        connection.cursor().execute("DROP DATABASE IF EXISTS bare")
        connection.cursor().execute("CREATE DATABASE bare")
    url = psycopg2.extensions.make_dsn(embedded_pgvector, dbname="bare")
    with pytest.raises(errors.BackendError, match="not created in this database") as caught:
        pgvector.connect(url, space="s", shape=shape(), options=pgvector.Options(), in_place=True)
    assert "CREATE EXTENSION vector" in caught.value.remedy
