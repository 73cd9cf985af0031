"""Each cause that can occur on Redis is named correctly when its fault is put into a real server."""

import contextlib

import numpy as np
import pytest
import redis as client

from memregress import errors

KEY = "{space}:m-000042"
IDS = ["m-000042"]


def vector(golden, row):
    return golden.vectors([row])[0]


def stored(value, type_="<f4"):
    return ("HSET", KEY, "embedding", np.asarray(value, type_).tobytes())


def recreate(*fields, prefix="{space}:", algorithm="HNSW", metric="COSINE", dimensions=32, more=()):
    """Drop the index, documents stay, and create another one."""

    def fault(connection, space):
        connection.execute_command("FT.DROPINDEX", space)
        settings = ["TYPE", "FLOAT32", "DIM", dimensions, "DISTANCE_METRIC", metric, *more]
        connection.execute_command(
            "FT.CREATE", space, "ON", "HASH", "PREFIX", 1, prefix.format(space=space), "SCHEMA",
            *(fields or ("memregress_user", "TAG", "CASESENSITIVE", "memregress_labels", "TAG", "CASESENSITIVE")),
            "embedding", "VECTOR", algorithm, len(settings), *settings,
        )  # fmt: skip

    return fault


@pytest.mark.parametrize("documents", ["hash", "json"])
@pytest.mark.parametrize("index", ["hnsw", "flat"])
def test_healthy_store_is_green(redis, small, broken, index, documents):
    """Nothing is reported of a store that holds what was recorded, whatever the index and the documents."""
    report = redis(small, fill={"index": index, "documents": documents})
    assert broken(report) == []
    assert report.gate == "passed"
    assert report.tested == len(small)


@pytest.mark.parametrize("type_", ["float64", "float16", "bfloat16"])
def test_other_types_are_green(redis, small, broken, type_):
    """A type that rounds moves nothing beyond what it can hold."""
    assert broken(redis(small, fill={"type": type_, "index": "flat"})) == []


@pytest.mark.parametrize(
    "blob",
    [b"0.1, 0.2", b"AAAA" * 43, np.zeros(31, "<f4").tobytes(), np.ones(33, "<f4").tobytes(), b"x"],
    ids=["text", "base64", "short", "long", "byte"],
)
def test_bytes_that_the_index_refuses(redis, small, only, blob):
    """HSET takes anything; the index leaves the document out, and no search finds it."""
    report = redis(small, ("HSET", KEY, "embedding", blob))
    only(report, IDS, "unreachable", "MR213")
    assert "blob size" in " ".join(report.causes[0].evidence)


def test_doubles_in_place_of_floats(redis, small, only):
    """The usual mistake of a client: 8 bytes a component."""
    only(redis(small, stored(vector(small, 42), "<f8")), IDS, "unreachable", "MR213")


def test_several_refused_documents_have_a_reason_each(redis, small, only):
    """The server keeps one reason; the others come from the length of the field."""
    keys = [f"m-{row:06d}" for row in (3, 7, 42)]
    report = redis(small, *(("HSET", f"{{space}}:{key}", "embedding", b"short"[: n + 1]) for n, key in enumerate(keys)))
    only(report, keys, "unreachable", "MR213")
    assert "the vector's field has 1 bytes, the index takes 128" in " ".join(report.causes[0].evidence)


def test_a_number_as_text_in_json(redis, small, only):
    """In JSON a value of another type keeps the whole document out of the index."""
    fault = ("JSON.SET", KEY, "$.embedding[3]", '"0.5"')
    report = redis(small, fault, fill={"documents": "json"})
    assert [(memory.id, memory.cause) for memory in report.memories if memory.verdict.broken] == [("m-000042", "MR213")]


def test_a_deleted_key(redis, small, only):
    """A document that is gone."""
    only(redis(small, ("DEL", KEY)), IDS, "missing", "MR202")


def test_evicted_keys(redis, small, broken):
    """What the server has thrown out for want of memory is missing; its counters stand among the facts."""
    gone = []

    def evict(connection, space):
        """Keys with a lifetime only, so that what is not a memory stays."""
        before = set(connection.keys(f"{space}:*"))
        connection.config_set("maxmemory-policy", "volatile-random")
        connection.config_set("maxmemory", connection.info()["used_memory"] - 20_000)
        try:
            with contextlib.suppress(client.exceptions.OutOfMemoryError):
                connection.set("one more", "x")
        finally:
            connection.config_set("maxmemory", 0)
            connection.config_set("maxmemory-policy", "noeviction")
        left = set(connection.keys(f"{space}:*"))
        gone.extend(key.decode().removeprefix(f"{space}:") for key in before - left)

    report = redis(small, evict)
    assert gone
    assert broken(report) == [(id_, "missing", "MR202") for id_ in sorted(gone)]
    assert report.target.index.settings["evicted_keys"] >= len(gone)


def test_a_document_without_its_vector(redis, small, only):
    """The field was never written."""
    only(redis(small, ("HDEL", KEY, "embedding")), IDS, "missing", "MR201")


def test_a_zero_vector(redis, small, only):
    """What a failed embedding call returned."""
    only(redis(small, stored(np.zeros(32))), IDS, "altered", "MR204")


def test_another_vector(redis, small, only):
    """A vector of no memory."""
    only(redis(small, stored(np.abs(vector(small, 42)))), IDS, "altered", "MR209")


def test_swapped_vectors(redis, small, only):
    """Two memories hold each other's."""
    one, other = small.vectors([10, 20])
    report = redis(
        small,
        ("HSET", "{space}:m-000010", "embedding", other.tobytes()),
        ("HSET", "{space}:m-000020", "embedding", one.tobytes()),
    )
    only(report, ["m-000010", "m-000020"], "misattributed", "MR205")


def test_another_user(redis, small, only):
    """Stored under another user, and returned to them."""
    only(redis(small, ("HSET", KEY, "user_id", "somebody else")), IDS, "altered", "MR210")


def test_a_tag_that_is_not_the_users(redis, small, broken):
    """The user is right, and the tag that searches filter by is not: only its own user misses the memory."""
    report = redis(small, ("HSET", KEY, "memregress_user", "u00"))
    assert broken(report) == [("m-000042", "hidden", "MR402")]


def test_changed_content_and_metadata(redis, small, only):
    """What is stored is compared, not only found."""
    only(redis(small, ("HSET", KEY, "content", "edited")), IDS, "altered", "MR211")
    only(redis(small, ("HSET", KEY, "metadata", b"{}")), IDS, "altered", "MR212")


@pytest.mark.parametrize("fault", [("PERSIST", KEY), ("PEXPIRE", KEY, "90000000")], ids=["lost", "longer"])
def test_lifetimes(redis, small, broken, fault):
    """A lifetime that was lost, and one that is another: seen before it comes due."""
    row = next(
        row for row, time in enumerate(next(small.batches(size=len(small))).expires_at) if time is not None and row > 0
    )
    key = KEY.replace("m-000042", small.ids[row])
    report = redis(small, (fault[0], key, *fault[2:]))
    assert broken(report) == [(small.ids[row], "expired", "MR301")]


def test_a_wrong_metric(redis, small):
    """The index compares by another metric: one problem."""
    report = redis(small, recreate(metric="L2"))
    assert [cause.code for cause in report.causes] == ["MR102"]
    assert "DISTANCE_METRIC of cosine" in report.causes[0].remedy


def test_an_index_of_other_dimensions(redis, small):
    """The index takes vectors of another model: it holds none, and nothing can be searched."""
    report = redis(small, recreate(dimensions=16))
    assert report.broken == len(small)
    assert [cause.code for cause in report.causes] == ["MR101"]


def test_too_little_effort(redis, shared):
    """A poor graph, searched with few candidates: what a wider search finds is called that."""
    poor = recreate(dimensions=48, more=["M", 4, "EF_CONSTRUCTION", 8, "EF_RUNTIME", 1])
    report = redis(shared, poor, max_index_misses=0.0)
    assert report.gate == "failed"
    assert "MR702" in {cause.code for cause in report.causes}
    assert {memory.verdict for memory in report.memories if memory.verdict.broken} <= {"unreachable", "outranked"}


def test_an_index_that_is_gone(redis, small):
    """No index, no verdict: an error that says what there is."""
    with pytest.raises(errors.BackendUnavailable, match="has no index") as caught:
        redis(small, ("FT.DROPINDEX", "{space}"))
    assert "--space" in caught.value.remedy


def test_an_application_of_its_own(redis, small):
    """Fields and index of an application: filtered by its own tag, without metadata in the documents."""
    fields = ("user_id", "TAG", "CASESENSITIVE", "topic", "TAG", "priority", "NUMERIC")
    report = redis(small, recreate(*fields), options={"fields": {"metadata": "", "created_at": ""}})
    assert {memory.search for memory in report.memories if memory.verdict.broken} <= {
        query.id for query in small.queries if query.filter
    }
    assert report.tested == len(small)
