"""Vector sets of a real Redis 8: the conformance suite, scale, filters, and what a server without them says."""

import contextlib
import json
from datetime import timedelta

import numpy as np
import pytest
import redis as client

from memregress import errors, similarity
from memregress.backends import redis
from memregress.model import Metric
from memregress.testing.conformance import CLOCK, BackendConformance, memories, queries, shape

pytestmark = pytest.mark.store


def options(**given):
    return redis.Options(documents="vectorset", **{"quantization": "noquant", "filter_ef": 1_000_000} | given)


class TestVectorSet(BackendConformance):
    """Whole vectors. A set knows no other metric than the cosine, and holds nothing that has no vector."""

    @pytest.fixture
    def connect(self, embedded_redis):
        """Open a set."""

        def opened(*, exact, **given):
            return redis.connect(embedded_redis, options=options(), **given)

        return opened

    def check_vectors(self, found, wanted):
        """Normalised and back."""
        np.testing.assert_allclose(found, wanted, atol=1e-5)

    @pytest.mark.parametrize("metric", [Metric.COSINE])
    def test_search_is_exact_with_an_exact_index(self, filled, metric):
        """Searched thoroughly; order and similarities are those of exact computation."""
        batch = memories()
        hits = filled(batch, shape(metric)).search_exact(queries(batch, users=batch.users))
        for row, user in enumerate(batch.users):
            rows = [other for other, owner in enumerate(batch.users) if owner == user]
            wanted = similarity.exact_search(metric, batch.vectors[row : row + 1], batch.vectors[rows], 10)
            assert hits.ids[row] == [batch.ids[rows[place]] for place in wanted.rows[0].tolist()]
            np.testing.assert_allclose(hits.similarity[row], wanted.similarity[0], atol=1e-6)
        assert not hits.used_index.any()

    def test_without_a_vector(self, connect):
        """It is named as refused, and the others are there."""
        batch = memories(4)
        batch.vectors[1] = np.nan
        batch.dimensions[1] = 0
        backend = connect(exact=False, space="gap", shape=shape())
        with contextlib.closing(backend):
            backend.create()
            assert [(item.id, "no vector" in item.reason) for item in backend.load([batch])] == [("m1", True)]
            assert sorted(backend.fetch(batch.ids).ids) == ["m0", "m2", "m3"]
            backend.drop()


@pytest.fixture
def connection(embedded_redis):
    with contextlib.closing(client.Redis.from_url(embedded_redis)) as opened:
        yield opened
        opened.flushall()


@pytest.fixture
def connect(embedded_redis, connection):
    with contextlib.ExitStack() as stack:

        def opened(batch=None, *, space="set", in_place=False, of=None, **given):
            backend = redis.connect(
                embedded_redis, space=space, shape=of or shape(), options=options(**given), in_place=in_place
            )
            stack.callback(backend.close)
            if batch is not None:
                backend.create()
                assert backend.load([batch]) == []
            return backend

        yield opened


def test_scale(connect):
    """Redis says (1 + cosine) / 2; we say the cosine."""
    batch = memories(4)
    batch.vectors[:] = 0
    batch.vectors[:, :2] = [[1, 0], [0, 2], [-3, 0], [3, 4]]
    hits = connect(batch, of=shape(lifetimes=False)).search(queries(batch))
    assert hits.ids[0] == ["m0", "m3", "m1", "m2"]
    np.testing.assert_allclose(hits.similarity[0], [1, 0.6, 0, -1], atol=1e-6)


def test_eight_bits(connect):
    """Quantised, as VADD does untold, vectors come back near to what they were, and the facts say why."""
    batch = memories(200)
    backend = connect(batch, quantization="q8")
    assert backend.describe().stored_as == "int8"
    largest = np.abs(batch.vectors).max(axis=1, keepdims=True)
    apart = np.abs(backend.fetch(batch.ids).vectors - batch.vectors) / largest
    assert 1e-4 < apart.max() < 6e-3


def test_more_than_a_page(connect):
    """VSIM answers with ten unless told otherwise."""
    batch = memories(60)
    assert {len(ids) for ids in connect(batch, of=shape(lifetimes=False)).search(queries(batch, k=25)).ids} == {25}


def test_lifetimes_are_attributes(connect):
    """An element has no lifetime of its own; what is over is filtered out, and times come back."""
    batch = memories(3)
    batch.expires_at[:] = [CLOCK + timedelta(seconds=5), None, CLOCK - timedelta(seconds=5)]
    backend = connect(batch)
    assert sorted(backend.search(queries(memories(1))).ids[0]) == ["m0", "m1"]
    again = connect(in_place=True)
    assert sorted(again.search(queries(memories(1))).ids[0]) == ["m0", "m1"]
    assert again.fetch(batch.ids).expires_at == batch.expires_at
    assert "expires_at" not in again.describe().not_stored


def test_an_applications_own_set(connect, connection):
    """Filtered by its own attributes; what a FILTER cannot say is refused, and never asked for as something else."""
    batch = memories(4)
    for row, id_ in enumerate(batch.ids):
        attributes = json.dumps({"tenant": "anna" if row % 2 else "bob", "n": row})
        blob = batch.vectors[row].tobytes()
        connection.execute_command("VADD", "theirs", "FP32", blob, id_, "NOQUANT", "SETATTR", attributes)
    fields = redis.options.Fields(user="tenant", content="", metadata="", created_at="")
    backend = connect(space="theirs", in_place=True, fields=fields)
    assert sorted(backend.search(queries(memories(1), users=["anna"])).ids[0]) == ["m1", "m3"]
    assert sorted(backend.search(queries(memories(1), filter_={"n": {"gte": 2}})).ids[0]) == ["m2", "m3"]
    assert sorted(backend.search(queries(memories(1), filter_={"n": {"in": [1, 2]}})).ids[0]) == ["m1", "m2"]
    assert backend.search(queries(memories(1), filter_={"n": {"in": []}})).ids == [[]]
    assert "expires_at" in backend.describe().not_stored
    for user in ('anna" or "1" == "1', "an\\na"):
        with pytest.raises(errors.ConfigError, match="quote or a backslash"):
            backend.search(queries(memories(1), users=[user]))
    with pytest.raises(errors.ConfigError, match="cannot name"):
        backend.search(queries(memories(1), filter_={"a-b": 1}))


def test_numbers_of_any_size(connect):
    """Bounds that no double holds, and numbers written with an exponent."""
    batch = memories(4)
    for row, number in enumerate([-1e300, 1e-7, 12345678901234567, 10**400]):
        batch.metadata[row]["n"] = number
    backend = connect(batch, of=shape(lifetimes=False))
    for filter_, ids in (
        ({"n": {"lt": 10**401}}, ["m0", "m1", "m2"]),
        ({"n": {"gt": -(10**401)}}, ["m0", "m1", "m2"]),
        ({"n": {"gt": -1e-3, "lte": 1e-7}}, ["m1"]),
        ({"n": {"lt": -1e299}}, ["m0"]),
        ({"n": {"gte": 1e16}}, ["m2"]),
        ({"n": 10**400}, ["m3"]),
    ):
        assert sorted(backend.search(queries(memories(1), filter_=filter_)).ids[0]) == ids, filter_


def test_what_is_there_is_not_overwritten(connect, connection):
    """A key of any kind is the user's; and a set that is not there cannot be replayed."""
    connection.set("text", "1")
    for in_place in (False, True):
        with pytest.raises(errors.ConfigError, match="no vector set"):
            connect(memories(3), space="text", in_place=in_place)
    connect(memories(3), space="kept")
    with pytest.raises(errors.ConfigError, match="exists already"):
        connect(memories(3), space="kept")
    with pytest.raises(errors.BackendUnavailable, match="has no vector set 'absent'"):
        connect(space="absent", in_place=True)


@pytest.mark.docker
def test_a_server_without_vector_sets(container_redis):
    """Redis Stack 7 says what it lacks."""
    with pytest.raises(errors.BackendUnavailable, match="has no vector sets") as caught:
        redis.connect(container_redis, space="s", shape=shape(), options=options())
    assert "Redis 8" in caught.value.remedy
