"""Faults of what a Redis index takes and how it is searched, each put into a real server, each called by its name."""

import contextlib
import dataclasses

import numpy as np
import pytest

from memregress import errors
from memregress.golden import open as open_golden
from memregress.golden import write
from memregress.testing import sets

KEY = "{space}:m-000042"
TAGS = ("memregress_user", "TAG", "CASESENSITIVE", "memregress_labels", "TAG", "CASESENSITIVE")


def create(connection, name, prefix, *fields, algorithm="HNSW", dimensions=32, more=()):
    """An index with the fields of memregress's own documents, or others."""
    settings = ["TYPE", "FLOAT32", "DIM", dimensions, "DISTANCE_METRIC", "COSINE", *more]
    connection.execute_command(
        "FT.CREATE", name, "ON", "HASH", "PREFIX", 1, prefix, "SCHEMA", *(fields or TAGS),
        "embedding", "VECTOR", algorithm, len(settings), *settings,
    )  # fmt: skip


def recreate(*fields, prefix="{space}:", **given):
    """Drop the index, documents stay, and create another one."""

    def fault(connection, space):
        connection.execute_command("FT.DROPINDEX", space)
        create(connection, space, prefix.format(space=space), *fields, **given)

    return fault


def rewritten(golden, folder, change, queries=None):
    """The same golden set with other columns."""
    write(
        folder,
        name=golden.manifest.name,
        created_at=golden.manifest.created_at,
        captured_at=golden.manifest.captured_at,
        vectors=golden.manifest.vectors,
        memories=(change(batch) for batch in golden.batches()),
        queries=iter(() if queries is None else queries),
    )
    return open_golden(folder)


@pytest.fixture
def twins(small, tmp_path):
    """Two users whose names differ in case only, and others."""
    names = ["Bob", "bob", "carol", "dave"]
    return rewritten(
        small,
        tmp_path / "twins",
        lambda batch: dataclasses.replace(batch, users=[names[int(i[2:]) % 4] for i in batch.ids]),
    )


def test_tags_that_fold_case(redis, twins):
    """An application's TAG without CASESENSITIVE takes Bob for bob: each is shown the other's memories, and no more."""
    options = {"fields": {"metadata": "", "created_at": ""}}
    report = redis(twins, recreate("user_id", "TAG"), options=options)
    assert {(memory.verdict.value, memory.cause) for memory in report.memories if memory.verdict.broken} == {
        ("leaked", "MR550")
    }
    assert {memory.user for memory in report.memories if memory.verdict.broken} == {"Bob", "bob"}
    assert "CASESENSITIVE" in report.causes[0].remedy
    assert not redis(twins, recreate("user_id", "TAG", "CASESENSITIVE"), options=options).broken


def test_tags_cut_at_a_separator(redis, small, only, tmp_path):
    """A user with a comma is two tags, and neither is the user."""

    def change(batch):
        users = ["a,b" if id_ == "m-000042" else user for id_, user in zip(batch.ids, batch.users, strict=True)]
        return dataclasses.replace(batch, users=users)

    report = redis(
        rewritten(small, tmp_path / "comma", change),
        recreate("user_id", "TAG", "CASESENSITIVE"),
        options={"fields": {"metadata": "", "created_at": ""}},
    )
    only(report, ["m-000042"], "hidden", "MR402")
    assert "SEPARATOR" in report.causes[0].remedy


@pytest.mark.parametrize(
    ("path", "value", "verdict", "cause"),
    [
        ("embedding", "[1, 2, 3]", "unreachable", "MR213"),
        ("embedding[3]", '"0.5"', "unreachable", "MR213"),
        ("embedding", '"[0.1, 0.2]"', "unreachable", "MR213"),
        ("memregress_user", "42", "unreachable", "MR213"),
        ("embedding", "null", "missing", "MR201"),
    ],
    ids=["short", "text component", "text", "tag a number", "null"],
)
def test_json_that_the_index_refuses(redis, small, only, path, value, verdict, cause):
    """A value of another type keeps the whole document out; null is indexed without a vector."""
    only(redis(small, ("JSON.SET", KEY, f"$.{path}", value), fill={"documents": "json"}), ["m-000042"], verdict, cause)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none(redis, small, only, value):
    """NaN and infinity are taken without a word, and no search finds them."""
    wrong = small.vectors([42])[0].copy()
    wrong[3] = value
    only(redis(small, ("HSET", KEY, "embedding", wrong.tobytes())), ["m-000042"], "altered", "MR209")


def test_many_numbers_that_are_none(redis, small, broken):
    """Of twelve memories a component is infinite: still one finding, and no arithmetic fails on it."""
    rows = range(100, 112)
    wrong = small.vectors(rows).copy()
    wrong[:, 3] = np.inf
    ids = [small.ids[row] for row in rows]
    faults = [("HSET", f"{{space}}:{id_}", "embedding", v.tobytes()) for id_, v in zip(ids, wrong, strict=True)]
    report = redis(small, *faults, fill={"index": "flat"})  # in a graph, others are no longer reached for them
    assert broken(report) == [(id_, "altered", "MR218") for id_ in ids]


def test_a_vector_under_another_name(redis, small, only):
    """The field that the index reads is not the one that was written."""
    blob = small.vectors([42])[0].tobytes()
    report = redis(small, ("HDEL", KEY, "embedding"), ("HSET", KEY, "vector", blob))
    only(report, ["m-000042"], "missing", "MR201")


def test_a_prefix_without_its_end(redis, small):
    """An index over `app` takes `app2:…` too; what stands in the others' places is named."""

    def overlap(connection, space):
        for row in range(10):
            document = connection.hgetall(f"{space}:m-000042")
            connection.hset(f"{space}0:{row}", mapping=document)
        recreate(prefix="{space}")(connection, space)

    prefixes = []
    report = redis(
        small, lambda _, space: prefixes.append(space), overlap, options=lambda space: {"prefix": f"{space}:"}
    )
    assert {memory.cause for memory in report.memories if memory.verdict.broken} == {"MR602"}
    assert f"{prefixes[0]}0:" in report.causes[0].evidence[0]
    assert "PREFIX" in report.causes[0].remedy


@pytest.fixture
def wide(tmp_path):
    """Long vectors: comparing with 20,000 of them takes several milliseconds."""
    return sets.make(tmp_path / "wide", memories=500, users=0, lifetimes=False, dimensions=1024)


@pytest.mark.parametrize("policy", ["return", "fail"])
def test_a_search_that_gave_up_early(redis, wide, policy):
    """At its TIMEOUT the server returns what it has, and no error: that is an error, and never a miss."""
    connection = redis.args[1]

    def crowd(_, space):
        generator = np.random.default_rng(3)
        pipeline = connection.pipeline(transaction=False)
        for row in range(20_000):
            blob = generator.standard_normal(1024, np.float32).tobytes()
            pipeline.hset(f"{space}:other-{row}", mapping={"embedding": blob})
        pipeline.execute()

    flat = recreate(dimensions=1024, algorithm="FLAT")
    with config(connection, TIMEOUT=1, ON_TIMEOUT=policy), pytest.raises(errors.BackendError, match=r"(?i)time") as one:
        redis(wide, flat, crowd)
    assert "TIMEOUT" in one.value.remedy


@contextlib.contextmanager
def config(connection, **settings):
    """Settings of the search engine for a while."""
    before = {name: connection.execute_command("FT.CONFIG", "GET", name) for name in settings}
    try:
        for name, value in settings.items():
            connection.execute_command("FT.CONFIG", "SET", name, value)
        yield
    finally:
        for name, answer in before.items():
            value = answer[name.encode()] if isinstance(answer, dict) else answer[0][1]
            connection.execute_command("FT.CONFIG", "SET", name, value)


def test_a_server_that_caps_results(redis, small):
    """A server that answers with less than k asked for says so: an error, and no verdict."""
    with config(redis.args[1], MAXSEARCHRESULTS=3), pytest.raises(errors.BackendError, match="LIMIT exceeds") as caught:
        redis(small)
    assert "MAXSEARCHRESULTS" in caught.value.remedy


def test_an_index_still_being_built(redis, shared):
    """Searched at once, half an index answers from what is there: an error, and no verdict."""
    slowly = recreate(dimensions=48, more=["M", 128, "EF_CONSTRUCTION", 2000])
    with pytest.raises(errors.BackendError, match="still being built"):
        redis(shared, slowly, options={"timeout": 0.5})


def test_an_index_created_again_during_the_run(redis, small):
    """A process that starts meanwhile, and overwrites the index, makes what was searched worth nothing."""
    connection = redis.args[1]
    done = []

    def meddle(progress):
        if progress.stage == "search" and not done:
            done.append(1)
            (space,) = (name.decode() for name in connection.execute_command("FT._LIST"))
            recreate()(connection, space)

    with pytest.raises(errors.BackendError, match="created again"):
        redis(small, progress=meddle)


def test_a_graph_that_leads_nowhere(redis, shared, broken):
    """What no candidates reach is told from what more of them find."""
    poor = recreate(dimensions=48, more=["M", 2, "EF_CONSTRUCTION", 1, "EF_RUNTIME", 1])
    report = redis(shared, poor, max_index_misses=0.0)
    causes = {cause for _, _, cause in broken(report)}
    assert causes <= {"MR702", "MR703", "MR705"}
    assert causes & {"MR703", "MR705"}
