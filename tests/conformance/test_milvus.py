"""The Milvus backend on real servers, beyond what every backend must do: spaces, other layouts, and its errors."""

import contextlib
import itertools
import socket

import numpy as np
import pytest
from pymilvus import DataType, MilvusClient

from memregress import errors
from memregress.backends import milvus
from memregress.backends.milvus import connection as connections
from memregress.testing.conformance import CLOCK, memories, queries, shape

_numbers = itertools.count()


@pytest.fixture(params=["embedded", pytest.param("container", marks=pytest.mark.docker)])
def url(request):
    return request.getfixturevalue(f"{request.param}_milvus")


@pytest.fixture
def client(url):
    with contextlib.closing(connections.connect(url)) as opened:
        yield opened


@pytest.fixture
def connect(url):
    """Open a space of its own, filled; or one that is there."""
    with contextlib.ExitStack() as stack:

        def opened(batch=None, *, space=None, in_place=False, of=None, **options):
            backend = milvus.connect(
                url, space=space or f"milvus_{next(_numbers)}", shape=of or shape(), options=milvus.Options(**options),
                in_place=in_place,
            )  # fmt: skip
            stack.callback(backend.close)
            if batch is not None:
                backend.create()
                stack.callback(backend.drop)
                assert backend.load([batch]) == []
                backend.index()
            return backend

        yield opened


def application(client, name, batch, *, extra=()):
    """A collection as an application makes it: other names, times in seconds, one dynamic field."""
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=True)
    schema.add_field("pk", DataType.VARCHAR, is_primary=True, max_length=100)
    schema.add_field("tenant", DataType.VARCHAR, max_length=100)
    schema.add_field("text", DataType.VARCHAR, max_length=1_000)
    schema.add_field("until", DataType.INT64)
    schema.add_field("vec", DataType.FLOAT_VECTOR, dim=batch.vectors.shape[1])
    client.create_collection(name, schema=schema)
    rows = [
        {
            "pk": batch.ids[row],
            "tenant": batch.users[row],
            "text": batch.contents[row],
            "until": int(batch.expires_at[row].timestamp()) if batch.expires_at[row] else 2**40,
            "vec": batch.vectors[row],
            "n": batch.metadata[row]["n"],
        }
        for row in range(len(batch))
    ]
    client.insert(name, [*rows, *extra])
    params = MilvusClient.prepare_index_params()
    params.add_index("vec", index_type="FLAT", metric_type="COSINE")
    client.create_index(name, params)
    client.load_collection(name)


FIELDS = milvus.Fields(
    id="pk", user="tenant", content="text", vector="vec", created_at="", expires_at="until", metadata=""
)


def test_an_application_of_its_own(connect, client):
    """In place, by its own names, units and dynamic field; nothing is written."""
    batch, name = memories(40), f"theirs_{next(_numbers)}"
    application(client, name, batch)
    try:
        backend = connect(space=name, in_place=True, fields=FIELDS, times="s")
        assert backend.search(queries(batch, users=batch.users, k=1)).ids == [[id_] for id_ in batch.ids]
        assert backend.search(queries(batch, filter_={"n": {"in": [3, 5]}}, k=9)).ids[0] in (["m3", "m5"], ["m5", "m3"])
        found = backend.fetch(batch.ids)
        order = [found.ids.index(id_) for id_ in batch.ids]
        np.testing.assert_array_equal(found.vectors[order], batch.vectors)
        assert [found.contents[place] for place in order] == batch.contents
        assert found.expires_at[order[0]] == batch.expires_at[0]
        info = backend.describe()
        assert (info.rows, info.kind, info.not_stored) == (40, "flat", ["created_at", "metadata"])
        assert info.settings["consistency"] == "strong"
    finally:
        client.drop_collection(name)


@pytest.mark.parametrize("index", ["autoindex", "ivf_flat", "ivf_sq8"])
def test_other_indexes(connect, index):
    """Each memory is found by its own vector, at the effort of an own collection and at the widest."""
    batch = memories()
    backend = connect(batch, of=shape(lifetimes=False), index=index, nlist=16)
    for hits in (backend.search(queries(batch)), backend.search_index(queries(batch), wide=True)):
        assert [ids[0] for ids in hits.ids] == batch.ids
        assert hits.used_index.all()


def test_a_partition_key(connect):
    """The user as partition key changes nothing of what is found."""
    batch = memories()
    backend = connect(batch, of=shape(lifetimes=False), partition_key=True)
    assert backend.search(queries(batch, users=batch.users, k=1)).ids == [[id_] for id_ in batch.ids]


def test_what_is_too_long_is_refused_by_name(connect):
    """Never cut, and none of its neighbours is lost."""
    batch = memories(6)
    batch.contents[2] = "é" * 33_000
    batch.metadata[4] = {"text": "x" * 66_000}
    backend = connect(of=shape(lifetimes=False))
    backend.create()
    try:
        refused = {item.id: item.reason for item in backend.load([batch])}
        backend.index()
        assert set(refused) == {"m2", "m4"}
        assert "66,000 bytes" in refused["m2"]
        assert "as JSON" in refused["m4"]
        assert sorted(backend.fetch(batch.ids).ids) == ["m0", "m1", "m3", "m5"]
    finally:
        backend.drop()


@pytest.mark.docker
def test_what_the_server_refuses_is_found_by_halves(container_milvus):
    """A row that is wrong to the server alone, NaN, does not take its batch with it."""
    batch = memories(9)
    batch.vectors[4] = np.nan
    backend = milvus.connect(
        container_milvus, space=f"milvus_{next(_numbers)}", shape=shape(lifetimes=False), options=milvus.Options()
    )
    with contextlib.closing(backend):
        backend.create()
        try:
            refused = backend.load([batch])
            backend.index()
            found = backend.fetch(batch.ids).ids
            assert len(found) + len(refused) == 9
            assert {item.id for item in refused} <= {"m4"}
        finally:
            backend.drop()


def test_a_space_that_exists(connect):
    """Nothing of the user's is overwritten."""
    connect(memories(3), space="taken")
    with pytest.raises(errors.ConfigError, match="exists already"):
        connect(space="taken").create()


def test_a_collection_that_is_absent(connect):
    """In place: an error that says which there are."""
    with pytest.raises(errors.BackendUnavailable, match="no collection 'nowhere'"):
        connect(space="nowhere", in_place=True)


def test_a_collection_that_is_released(connect, client):
    """In place: an error, and no memory is called lost."""
    connect(memories(3), space="let_go")
    client.release_collection("let_go")
    with pytest.raises(errors.BackendUnavailable, match="not loaded") as caught:
        connect(space="let_go", in_place=True)
    assert "load_collection" in caught.value.remedy


def test_lifetimes_are_judged_at_the_capture(connect):
    """However long ago the golden set was captured."""
    batch = memories(3)
    batch.expires_at[:] = [CLOCK.replace(year=2026, month=7), None, CLOCK]
    assert sorted(connect(batch).search(queries(batch, k=3)).ids[0]) == ["m0", "m1"]


@pytest.mark.parametrize("given", ["redis://h", "http://", "http://h:port", "somewhere"])
def test_strange_urls(given):
    """An error of the settings, with what to write."""
    with pytest.raises(errors.ConfigError, match=r"URL") as caught:
        milvus.connect(given, space="x", shape=shape(), options=milvus.Options())
    assert "http://" in caught.value.remedy


def test_a_closed_port():
    """No server: an error within the deadline, which shows no password."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(errors.BackendUnavailable, match=f"127.0.0.1:{port}") as caught:
        milvus.connect(f"http://u:secret@127.0.0.1:{port}", space="x", shape=shape(), options=milvus.Options())
    assert "secret" not in caught.value.message + caught.value.remedy


def test_the_index_that_a_server_has_not(connect):
    """Asked for, it is an error in the server's own words."""
    backend = connect(space="no_such", index="diskann")
    backend.create()
    try:
        if backend._pool.lite:  # noqa: SLF001  a server may have it
            backend.load([memories(3)])
            with pytest.raises(errors.BackendError, match="DISKANN"):
                backend.index()
    finally:
        backend.drop()
