"""The Redis backend on real servers, beyond what every backend must do: spaces, lifetimes, in place, and its errors."""

import contextlib
import itertools
import socket
import time
from datetime import timedelta

import numpy as np
import pytest
import redis as client
from redis import exceptions

from memregress import errors, instances
from memregress.backends import redis, registry
from memregress.testing.conformance import CLOCK, HOSTILE, memories, queries, shape

_numbers = itertools.count()


@pytest.fixture(
    params=[
        pytest.param("embedded", marks=pytest.mark.store),
        pytest.param("container", marks=[pytest.mark.store, pytest.mark.docker]),
    ]
)
def url(request):
    return request.getfixturevalue(f"{request.param}_redis")


@pytest.fixture
def connection(url):
    with contextlib.closing(client.Redis.from_url(url)) as opened:
        yield opened
        opened.flushall()


@pytest.fixture
def connect(url, connection):
    """Open a space of its own, filled; or one that is there."""
    with contextlib.ExitStack() as stack:

        def opened(batch=None, *, space=None, in_place=False, of=None, **options):
            backend = redis.connect(
                url, space=space or f"redis_{next(_numbers)}", shape=of or shape(), options=redis.Options(**options),
                in_place=in_place,
            )  # fmt: skip
            stack.callback(backend.close)
            if batch is not None:
                backend.create()
                assert backend.load([batch]) == []
                backend.index()
            return backend

        yield opened


def test_lifetimes_are_the_servers(connect, connection):
    """A memory goes when its time has come, to the millisecond, however long ago the golden set was captured."""
    batch = memories(3)
    batch.expires_at[:] = [CLOCK + timedelta(milliseconds=1_234), None, CLOCK + timedelta(days=400)]
    backend = connect(batch, space="lives")
    first = backend.fetch(batch.ids)
    found = dict(zip(first.ids, first.expires_at, strict=True))
    assert found == dict(zip(batch.ids, batch.expires_at, strict=True))
    assert connection.pttl("lives:m1") == -1
    assert 0 < connection.pttl("lives:m0") - 86_400_000 < 60_000
    again = connect(space="lives", in_place=True).fetch(batch.ids)
    assert dict(zip(again.ids, again.expires_at, strict=True)) == found


def test_numbers_beyond_a_double(connect):
    """An integer that a double cannot hold is still equal to itself, and bounds beyond a double are no error."""
    batch = memories(3)
    batch.metadata[1]["n"] = 10**400
    backend = connect(batch, index="flat", of=shape(lifetimes=False))
    for filter_, ids in (
        ({"n": 10**400}, ["m1"]),
        ({"n": {"lt": 10**401}}, ["m0", "m2"]),
        ({"n": {"gt": -(10**401)}}, ["m0", "m2"]),
    ):
        assert sorted(backend.search(queries(memories(1), filter_=filter_)).ids[0]) == ids


@pytest.mark.parametrize("type_", ["float32", "float64", "float16", "bfloat16"])
def test_types(connect, type_):
    """Vectors come back as the type holds them."""
    batch = memories(50)
    found = connect(batch, type=type_).fetch(batch.ids)
    close = {"float16": 1e-3, "bfloat16": 8e-3}.get(type_, 0)
    np.testing.assert_allclose(found.vectors, batch.vectors, rtol=close, atol=close / 100)


def test_a_space_that_exists_is_refused(connect, connection):
    """Keys and indexes of the user's are never taken for ours, and never deleted."""
    connection.set("mine[1]:x", "1")
    with pytest.raises(errors.ConfigError, match="exists already"):
        connect(memories(3), space="mine[1]")
    assert connection.get("mine[1]:x") == b"1"
    connect(memories(3), space="mine1")  # the brackets are no pattern


def test_drop_leaves_nothing_and_others_alone(connect, connection):
    """Refused and unindexed documents go as well; what has the prefix and is not ours stays."""
    batch = memories(20)
    backend = connect(batch, space="gone")
    connection.hset("gone:m3", "embedding", b"refused")
    connection.set("gone:theirs", "1")
    assert [item.id for item in backend.refused(batch.ids)] == ["m3"]
    backend.search_rebuilt(queries(batch))
    backend.drop()
    assert connection.keys("*") == [b"gone:theirs"]
    assert connection.execute_command("FT._LIST") == []


def test_in_place_never_writes(connect, connection):
    """Neither documents nor indexes nor lifetimes change."""
    batch = memories()
    connect(batch, space="untouched")

    def everything():
        keys = sorted(connection.keys("*"))
        return [(key, connection.dump(key), connection.pexpiretime(key)) for key in keys], connection.execute_command(
            "FT._LIST"
        )

    before = everything()
    backend = connect(space="untouched", in_place=True)
    backend.describe()
    backend.search(queries(batch, users=batch.users))
    backend.search_exact(queries(batch))
    backend.search_index(queries(batch), wide=True)
    backend.fetch(batch.ids)
    backend.refused(batch.ids)
    assert everything() == before
    assert not hasattr(backend, "search_rebuilt")


def test_documents_the_server_refuses_to_write(connect, connection, url):
    """Where memory runs out, each document that was not written is named, with the server's words."""
    batch = memories(200)
    backend = redis.connect(url, space="full", shape=shape(), options=redis.Options(connections=1))
    backend.create()
    try:
        connection.config_set("maxmemory", connection.info()["used_memory"] + 60_000)
        rejected = backend.load([batch])
        assert 0 < len(rejected) <= 200
        assert all("OOM" in item.reason or "maxmemory" in item.reason for item in rejected)
    finally:
        connection.config_set("maxmemory", 0)
        backend.drop()
        backend.close()


def test_an_index_still_being_built_is_no_verdict(connect, connection):
    """What a half-built index answers proves nothing: an error with the share that is done."""
    generator = np.random.default_rng(1)
    pipeline = connection.pipeline(transaction=False)
    for row in range(20_000):
        pipeline.hset(f"slow:{row}", "embedding", generator.standard_normal(24).astype("<f4").tobytes())
    pipeline.execute()
    connection.execute_command(
        "FT.CREATE", "slow", "ON", "HASH", "PREFIX", 1, "slow:", "SCHEMA", "embedding", "VECTOR", "HNSW", 10,
        "TYPE", "FLOAT32", "DIM", 24, "DISTANCE_METRIC", "L2", "M", 64, "EF_CONSTRUCTION", 400,
    )  # fmt: skip
    with pytest.raises(errors.BackendError, match="still being built"):
        connect(space="slow", in_place=True, timeout=0.3)


def test_a_closed_port():
    """A server that does not answer is named without the password."""
    with pytest.raises(errors.BackendUnavailable, match=r"127\.0\.0\.1:1") as caught:
        redis.connect("redis://u:s3cret@127.0.0.1:1/0", space="s", shape=shape(), options=redis.Options())
    assert "s3cret" not in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://:s3cret@localhost",
        "redis://:s3cret@h:port",
        "redis://:s3cret@h/0?decode_responses=true",
        "redis://:s3cret@h/0?foo=1",
        "unix:///x?protocol=2&password=s3cret",
    ],
)
def test_a_url_of_something_else(url):
    """What is no URL of Redis is the user's error, and is not printed."""
    with pytest.raises(errors.ConfigError) as caught:
        redis.connect(url, space="s", shape=shape(), options=redis.Options())
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["redis", "rediss"])
def test_a_server_that_hangs(scheme, monkeypatch):
    """One that takes a connection and never answers, TLS or not, is given up in seconds."""
    monkeypatch.setattr(redis.backend.connection, "CONNECT_SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}/0"
        started = time.monotonic()
        with pytest.raises(errors.BackendUnavailable, match="no connection to Redis"):
            redis.connect(url, space="s", shape=shape(), options=redis.Options())
    assert time.monotonic() - started < 20


def as_user(url, name, password):
    """The URL of a server with a log-in."""
    if url.startswith("unix:"):
        return f"{url}&username={name}&password={password}"
    return url.replace("redis://", f"redis://{name}:{password}@")


def test_drop_is_told_what_it_may_not(connection, url):
    """Documents are removed even where the index may not be dropped, which is said and not passed over."""
    connection.execute_command("ACL", "SETUSER", "careful", "on", ">pw", "~*", "+@all", "-FT.DROPINDEX")
    try:
        options = redis.Options()
        backend = redis.connect(as_user(url, "careful", "pw"), space="denied", shape=shape(), options=options)
        with contextlib.closing(backend):
            backend.create()
            backend.load([memories(5)])
            backend.index()
            with pytest.raises(errors.BackendUnavailable, match="does not permit dropping"):
                backend.drop()
        assert connection.keys("denied:*") == []
        assert b"denied" in connection.execute_command("FT._LIST")
    finally:
        connection.execute_command("ACL", "DELUSER", "careful")


def test_an_applications_own_users(connect, connection, url):
    """Users of an application's index are passed as parameters: nothing in one is a wildcard, or another's name."""
    users = [user for user in HOSTILE if user.strip() == user and user and len(user) < 100]
    batch = memories(len(users), users=users)
    for row, user in enumerate(users):
        connection.hset(
            f"app:{batch.ids[row]}", mapping={"the-user": user, "number": row, "vector": batch.vectors[row].tobytes()}
        )
    connection.execute_command(
        "FT.CREATE", "app", "ON", "HASH", "PREFIX", 1, "app:", "SCHEMA", "the-user", "TAG", "SEPARATOR", "\x1f",
        "CASESENSITIVE", "number", "NUMERIC", "vector", "VECTOR", "FLAT", 6, "TYPE", "FLOAT32", "DIM", 24,
        "DISTANCE_METRIC", "COSINE",
    )  # fmt: skip
    fields = redis.options.Fields(user="the-user", vector="vector", content="", metadata="", created_at="")
    backend = connect(space="app", in_place=True, fields=fields, of=shape(lifetimes=False))
    assert backend.search(queries(batch, users=users)).ids == [[id_] for id_ in batch.ids]
    assert backend.search_exact(queries(batch, users=users)).ids == [[id_] for id_ in batch.ids]
    one = queries(memories(1), users=[""], k=99)
    assert backend.search(one).ids == [[]]
    for filter_, rows in (
        ({"number": 3}, [3]),
        ({"number": {"in": [1, "2", None, True]}}, [1]),
        ({"number": {"in": []}}, []),
        ({"number": {"gt": 3, "lte": 5}}, [4, 5]),
        ({"number": {"gt": "inf"}}, []),
        ({"the-user": {"in": [users[0], None]}}, [0]),
        ({"the-user": {"in": []}}, []),
    ):
        found = backend.search(queries(memories(1), filter_=filter_, k=99)).ids[0]
        assert sorted(found) == sorted(batch.ids[row] for row in rows), filter_
    with pytest.raises(errors.ConfigError, match="does not have as TAG or NUMERIC"):
        backend.search(queries(memories(1), filter_={"colour": "red"}))


def test_an_index_that_this_server_has_not(connect, connection):
    """A kind of index that came later is asked for by name: what it needs is said, and nothing stays."""
    with pytest.raises(errors.BackendUnavailable, match="no index of the kind svs-vamana") as caught:
        connect(memories(5), index="svs-vamana")
    assert "Redis 8.2" in caught.value.remedy
    assert connection.execute_command("FT._LIST") == []


def test_more_than_a_page(connect):
    """FT.SEARCH pages by ten; what is asked for is what comes, nearest first."""
    batch = memories(60)
    backend = connect(batch)
    found = backend.search(queries(batch, k=25))
    assert {len(ids) for ids in found.ids} == {25}
    assert all(values == sorted(values, reverse=True) for values in found.similarity)


def test_ranges_over_too_many_texts_are_refused(connect, monkeypatch):
    """Where not every value is remembered, a range over them is an error, not an answer that leaves some out."""
    monkeypatch.setattr(redis.backend.filtering, "DISTINCT", 50)
    backend = connect(memories(200), index="flat")
    with pytest.raises(errors.ConfigError, match="more than 50 values"):
        backend.search(queries(memories(1), filter_={"t": {"gt": "100"}}))


def test_lifetimes_that_nobody_can_tell(connect, connection):
    """If it is lost by how much times are shifted, lifetimes are not compared, and that is said."""
    connect(memories(5), space="undated")
    connection.delete("memregress:shift:undated")
    assert connect(space="undated", in_place=True).describe().not_stored == ["expires_at"]


def test_a_wrong_password(connection, url):
    """A refused log-in says so, and holds no password."""
    connection.config_set("requirepass", "right")
    try:
        wrong = as_user(url, "default", "s3cret")
        with pytest.raises(errors.BackendUnavailable, match="does not let us in") as caught:
            redis.connect(wrong, space="s", shape=shape(), options=redis.Options())
        assert "s3cret" not in str(caught.value)
        with pytest.raises(errors.BackendUnavailable, match="does not let us in"):
            redis.connect(url, space="s", shape=shape(), options=redis.Options())
    finally:
        connection.config_set("requirepass", "")


@pytest.mark.store
def test_a_server_that_dies():
    """Killed under a load or a search it is an error within the deadline, whatever is in flight."""
    for stage in ("load", "search"):
        with instances.open(instances.choose(registry.find("redis"), embedded=True)) as url:
            backend = redis.connect(url, space="dying", shape=shape(), options=redis.Options())
            with contextlib.closing(backend), contextlib.closing(client.Redis.from_url(url)) as killer:
                batch = memories()
                backend.create()
                backend.load([batch])
                backend.index()
                with contextlib.suppress(exceptions.ConnectionError):
                    killer.shutdown(nosave=True)
                with pytest.raises(errors.BackendUnavailable, match=r"was lost while|no connection"):
                    backend.load([batch]) if stage == "load" else backend.search(queries(batch))


@pytest.mark.store
def test_no_search_engine(embedded_redis, monkeypatch):
    """A plain Redis says what it lacks."""
    server = registry.find("redis").load_server()
    program, _ = server._programs()  # noqa: SLF001  the same server, without its modules
    monkeypatch.setattr(server, "_programs", lambda: (program, []))
    monkeypatch.setattr(server, "trouble", lambda url: "" if _pings(url) else "not yet")
    with (
        server.serve(deadline=20) as url,
        pytest.raises(errors.BackendUnavailable, match="has no search engine") as caught,
    ):
        redis.connect(url, space="s", shape=shape(), options=redis.Options())
    assert "Redis Stack" in caught.value.remedy


def _pings(url):
    try:
        with contextlib.closing(client.Redis.from_url(url)) as opened:
            return opened.ping()
    except exceptions.RedisError:
        return False
