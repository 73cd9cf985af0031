"""Faults of a Redis server, its keys and its databases: each put into a real one, each called by its name."""

import contextlib
import time

import pytest
import redis as client

from memregress import errors

KEY = "{space}:m-000042"


def vector(golden, row):
    return golden.vectors([row])[0]


def create(connection, name, prefix, *fields, algorithm="HNSW", dimensions=32, more=(), head=()):
    """An index with the fields of memregress's own documents, or others."""
    settings = ["TYPE", "FLOAT32", "DIM", dimensions, "DISTANCE_METRIC", "COSINE", *more]
    tags = ("memregress_user", "TAG", "CASESENSITIVE", "memregress_labels", "TAG", "CASESENSITIVE")
    connection.execute_command(
        "FT.CREATE", name, "ON", "HASH", "PREFIX", 1, prefix, *head, "SCHEMA", *(fields or tags),
        "embedding", "VECTOR", algorithm, len(settings), *settings,
    )  # fmt: skip


def recreate(*fields, prefix="{space}:", **given):
    """Drop the index, documents stay, and create another one."""

    def fault(connection, space):
        connection.execute_command("FT.DROPINDEX", space)
        create(connection, space, prefix.format(space=space), *fields, **given)

    return fault


def keys_of(connection, space):
    return {key.decode().removeprefix(f"{space}:") for key in connection.keys(f"{space}:*")}


@contextlib.contextmanager
def changed(connection, **settings):
    """Settings of the server for a while."""
    before = {name: connection.config_get(name)[name] for name in settings}
    try:
        for name, value in settings.items():
            connection.config_set(name, value)
        yield
    finally:
        for name, value in reversed(before.items()):
            connection.config_set(name, value)


@pytest.fixture
def evicting(redis):
    """A server that has just thrown keys out, and would again; its counters are set back at the end."""
    connection = redis.args[1]
    stack = contextlib.ExitStack()

    def evict(policy, share):
        def fault(opened, space):
            connection.config_resetstat()
            stack.callback(connection.config_resetstat)
            used = connection.info()["used_memory"]
            stack.enter_context(changed(connection, **{"maxmemory-policy": policy, "maxmemory": used - share}))
            with contextlib.suppress(client.exceptions.OutOfMemoryError):
                connection.set("one more", "x")
            connection.config_set("maxmemory", 0)
            connection.delete("one more")
            connection.config_set("maxmemory", used * 4)  # nothing more goes, and the policy stays in force

        return fault

    with stack:
        yield evict


@pytest.mark.parametrize("policy", ["allkeys-random", "volatile-random"])
def test_evicted(redis, small, evicting, broken, policy):
    """What the server threw out is missing, and that it does so is why."""
    before, left = set(small.ids), set()
    space = []
    report = redis(
        small,
        evicting(policy, 60_000),
        lambda connection, name: (space.append(name), left.update(keys_of(connection, name))),
    )
    gone = before - left
    assert gone
    assert broken(report) == [(id_, "missing", "MR251") for id_ in sorted(gone)]
    assert any(policy in line for line in report.causes[0].evidence)


def test_missing_beyond_what_was_evicted(redis, small, evicting, broken):
    """A deleted memory that has no lifetime is not evicted where only keys with a lifetime are."""
    ends = next(small.batches(size=len(small))).expires_at
    immortal = next(id_ for id_, end in zip(small.ids, ends, strict=True) if end is None)
    report = redis(small, evicting("volatile-random", 60_000), ("DEL", f"{{space}}:{immortal}"))
    causes = {id_: cause for id_, _, cause in broken(report)}
    assert causes.pop(immortal) == "MR202"
    assert causes


def test_the_tail_that_memory_refused(redis, small, only):
    """An importer that passes over the server's refusal leaves out everything after it."""
    written = []

    def migrate(connection, space):
        documents = {id_: connection.hgetall(f"{space}:{id_}") for id_ in small.ids}
        ends = {id_: connection.pexpiretime(f"{space}:{id_}") for id_ in small.ids}
        connection.delete(*(f"{space}:{id_}" for id_ in small.ids))
        limit = connection.info()["used_memory"] + 300_000
        with changed(connection, maxmemory=limit), contextlib.suppress(client.exceptions.OutOfMemoryError):
            for id_, document in documents.items():
                connection.hset(f"{space}:{id_}", mapping=document)
                written.append(id_)
        for id_ in written:
            if ends[id_] > 0:
                connection.pexpireat(f"{space}:{id_}", ends[id_])

    report = redis(small, migrate)
    assert 0 < len(written) < len(small)
    only(report, small.ids[len(written) :], "missing", "MR202")
    assert f"from {small.ids[len(written)]} to the end" in report.causes[0].evidence[1]


@pytest.mark.parametrize("fault", ["delete", "expire"])
def test_gone_during_the_run(redis, small, only, fault):
    """Read back, and gone before it was searched for."""
    connection = redis.args[1]

    def meddle(progress):
        if progress.stage == "probe":
            for key in connection.keys("fault_*:m-000042"):
                connection.delete(key) if fault == "delete" else connection.pexpire(key, 1)
                while connection.exists(key):  # a key that is over is swept when somebody asks for it
                    time.sleep(0.001)

    only(redis(small, progress=meddle), ["m-000042"], "missing", "MR252")


def test_keys_outside_the_prefix(redis, small, only):
    """A migration that wrote under another prefix: stored, and where no search looks."""
    ids = [f"m-{row:06d}" for row in (3, 7, 42)]
    report = redis(small, *(("RENAME", f"{{space}}:{id_}", f"memory:{id_}") for id_ in ids))
    only(report, ids, "unreachable", "MR250")
    assert "memory:m-000003" in report.causes[0].evidence[0]


def test_another_document_of_that_name(redis, small, only):
    """A key that ends like the memory's, and holds something else, is not the memory."""
    report = redis(small, ("DEL", KEY), ("HSET", "session:m-000042", "content", "something else"))
    only(report, ["m-000042"], "missing", "MR202")


def test_a_key_of_another_type(redis, small, only):
    """The key is there, and no document of the index."""
    report = redis(small, ("DEL", KEY), ("SET", KEY, "text"))
    only(report, ["m-000042"], "unreachable", "MR213")
    assert "the key holds a string, the index takes hash documents" in report.causes[0].evidence[1]


def test_an_index_with_a_filter(redis, small, only):
    """An index may take only some of the documents."""
    report = redis(
        small,
        recreate("content", "TEXT", "SORTABLE", "UNF", *TAGS, head=("FILTER", f"@content!='{content(small, 42)}'")),
    )
    only(report, ["m-000042"], "unreachable", "MR213")
    assert "FILTER" in report.causes[0].evidence[1]


TAGS = ("memregress_user", "TAG", "CASESENSITIVE", "memregress_labels", "TAG", "CASESENSITIVE")


def content(golden, row):
    return next(golden.batches([row])).contents[0]


@pytest.mark.parametrize("near", [True, False], ids=["near", "far"])
def test_writes_of_another_database(redis, small, only, near):
    """An index takes what is written to the same keys in any logical database; what is stored stays right."""
    other = vector(small, 42) + (0.1 * vector(small, 7) if near else -2 * vector(small, 42))

    def bleed(connection, space):
        document = connection.hgetall(f"{space}:m-000042")
        document[b"embedding"] = other.astype("<f4").tobytes()
        with second_database(connection) as staging:
            staging.hset(f"{space}:m-000042", mapping=document)

    report = redis(small, bleed)
    only(report, ["m-000042"], "drifted" if near else "unreachable", "MR750")
    assert "db1 (1 keys)" in " ".join(report.causes[0].evidence)


def test_whom_a_foreign_vector_pushes_down_is_not_broken(redis, small):
    """Another database puts one memory on top of another's searches: only the one is wrong, in the index."""
    user = small.queries[0].user
    theirs = [row for row, owner in enumerate(small.users) if owner == user]
    wanted = {item.id for item in small.queries[0].expected}
    row = next(row for row in theirs if small.ids[row] not in wanted)

    def bleed(connection, space):
        document = connection.hgetall(f"{space}:{small.ids[row]}")
        document[b"embedding"] = small.query_vectors[0].tobytes()
        with second_database(connection) as staging:
            staging.hset(f"{space}:{small.ids[row]}", mapping=document)

    report = redis(small, bleed)
    assert [(memory.id, memory.cause) for memory in report.memories if memory.verdict.broken] == [
        (small.ids[row], "MR750")
    ]


@contextlib.contextmanager
def second_database(connection):
    """A connection to database 1 of the same server."""
    settings = connection.get_connection_kwargs() | {"db": 1}
    pool = client.ConnectionPool(connection_class=connection.connection_pool.connection_class, **settings)
    with contextlib.closing(client.Redis(connection_pool=pool)) as opened:
        yield opened
    pool.disconnect()


def test_flushing_another_database_drops_the_index(redis, small):
    """No verdict, but one error that says that the documents are still there."""

    def flush(connection, _):
        with second_database(connection) as staging:
            staging.set("x", 1)
            staging.flushdb()

    with pytest.raises(errors.BackendUnavailable, match="has no index") as caught:
        redis(small, flush)
    assert "FLUSHDB in any database" in caught.value.remedy


def test_an_index_dropped_with_its_documents(redis, small):
    """Created again it is empty: all are missing, for one reason."""

    def drop(connection, space):
        connection.execute_command("FT.DROPINDEX", space, "DD")
        create(connection, space, f"{space}:")

    report = redis(small, drop)
    assert [(cause.code, cause.count) for cause in report.causes] == [("MR202", len(small))]
