"""What every backend must do, as tests: a class to inherit from, for memregress's own backends and for yours.

    class TestMyStore(BackendConformance):
        @pytest.fixture(params=["embedded", "container"])
        def connect(self, request):
            url = request.getfixturevalue(f"{request.param}_url")
            return lambda **given: my_backend.connect(url, options=my_backend.Options(), **given)

`connect(space=…, shape=…, in_place=…)` opens the store as `memregress.backends` says; ``exact=True`` asks for an index
that compares with every vector, whose answers can be told beforehand. A test that your store cannot pass is overridden
with a strict ``xfail`` and its reason, so that you hear of it when it can.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memregress import filters, similarity
from memregress.backends import Backend, ExactSearchable, Rebuildable, Tunable
from memregress.model import Filter, MemoryBatch, Metric, QueryBatch, Shape

CLOCK = datetime(2026, 6, 1, tzinfo=UTC)
COUNT, DIMENSIONS = 240, 24
HOSTILE = [
    "", " ", "  a ", "a", "A", "a'b", 'a"b', "a\\b", "{a,b}", "a,b", "b", "a|b", "a*", "*", "@user_id:{a}", "-a", "a-b",
    "a.b", "$1", "%s", "NULL", "null", "ü", "u\u0308", "\u2028\u202e", "😀", "x; DROP SCHEMA public", "\t\n", "(a)",
    "[a]", "~a", "a=b", "a:b", "a&b", "'", '"', "\\", "0", "00", "True", "a" * 900,
]  # fmt: skip
FILTERS: list[Filter] = [
    {"n": 7},
    {"n": 7.0},
    {"n": "7"},
    {"yes": True},
    {"yes": 1},
    {"none": None},
    {"absent": None},
    {"tags": "a"},
    {"tags": {"in": ["b", "c"]}},
    {"n": {"in": [1, 2, "3"]}},
    {"n": {"in": []}},
    {"n": {"gte": 10, "lt": 20}},
    {"t": {"gt": "100", "lte": "110"}},
    {"n": {"gt": "100"}},
    {"n": {"gte": 5}, "yes": True, "tags": "a"},
    {"a key with 'quotes' and \"more\" ü": 1},
]
_numbers = itertools.count()

Connect = Callable[..., Any]


def shape(metric: Metric = Metric.COSINE, *, users: bool = True, lifetimes: bool = True) -> Shape:
    """The shape of `memories`."""
    return Shape(dimensions=DIMENSIONS, metric=metric, clock=CLOCK, users=users, lifetimes=lifetimes)


def memories(
    count: int = COUNT, *, ids: Sequence[str] | None = None, users: Sequence[str | None] | None = None
) -> MemoryBatch:
    """Memories with every kind of value; float32[count, 24]."""
    generator = np.random.default_rng(5)
    return MemoryBatch(
        ids=list(ids or [f"m{row}" for row in range(count)]),
        vectors=generator.standard_normal((count, DIMENSIONS)).astype(np.float32),
        dimensions=np.full(count, DIMENSIONS, np.int32),
        users=list(users) if users is not None else [f"u{row % 7}" for row in range(count)],
        contents=[f"memory {row} ü 😀 \u202e" for row in range(count)],
        created_at=[CLOCK - timedelta(seconds=row) for row in range(count)],
        expires_at=[CLOCK + timedelta(seconds=row + 1) if row % 5 == 0 else None for row in range(count)],
        metadata=[
            {"n": row, "tags": ["a", "b"] if row % 2 else [], "t": f"{row:03d}", "yes": row % 3 == 0, "none": None}
            for row in range(count)
        ],
    )


def queries(
    batch: MemoryBatch, *, users: Sequence[str | None] | None = None, filter_: Filter | None = None, k: int = 10
) -> QueryBatch:
    """Each memory's own vector."""
    count = len(batch)
    return QueryBatch(
        vectors=batch.vectors, users=list(users or [None] * count), filters=[filter_] * count, k=[k] * count
    )


class BackendConformance:
    """Inherit, and give the fixture `connect`."""

    tolerance: float = 1e-5
    """Relative, of similarities; set it to what your stored type can hold."""

    @pytest.fixture
    def connect(self) -> Connect:
        """Return what opens the store; see this module's docstring."""
        raise NotImplementedError("give a fixture `connect`")

    @pytest.fixture
    def filled(self, connect: Connect) -> Iterator[Callable[..., Any]]:
        """Open a space of its own and fill it; it is dropped afterwards."""
        with contextlib.ExitStack() as stack:

            def fill(batch: MemoryBatch, of: Shape | None = None, *, space: str = "", exact: bool = False) -> Any:
                return stack.enter_context(_filled(connect, batch, of or shape(), space=space, exact=exact))

            yield fill

    @pytest.mark.parametrize("metric", list(Metric))
    def test_search_is_exact_with_an_exact_index(self, filled: Callable[..., Any], metric: Metric) -> None:
        """Visible at once after loading; order and similarities are those of exact computation, for every metric."""
        batch = memories()
        backend = filled(batch, shape(metric), exact=True)
        hits = backend.search(queries(batch, users=batch.users))
        for row in range(COUNT):
            rows = [other for other in range(COUNT) if batch.users[other] == batch.users[row]]
            wanted = similarity.exact_search(metric, batch.vectors[row : row + 1], batch.vectors[rows], 10)
            assert hits.ids[row] == [batch.ids[rows[place]] for place in wanted.rows[0].tolist()]
            scale = 1.0 if metric is Metric.COSINE else float(np.linalg.norm(batch.vectors[row]) ** 2)
            close = 3e-3 * scale if metric is Metric.L2 else self.tolerance * scale  # a root magnifies what is near 0
            np.testing.assert_allclose(hits.similarity[row], wanted.similarity[0], atol=close)
        assert hits.used_index is None or not hits.used_index.any()

    @pytest.mark.parametrize("filter_", FILTERS, ids=str)
    def test_filters_mean_what_memregress_means(self, filled: Callable[..., Any], filter_: Filter) -> None:
        """Every condition selects exactly the memories that `memregress.filters` says."""
        batch = memories()
        backend = filled(batch, exact=True)
        found = backend.search(queries(_first(batch), filter_=filter_, k=COUNT)).ids[0]
        wanted = [batch.ids[row] for row in range(COUNT) if filters.matches(filter_, batch.metadata[row])]
        assert sorted(found) == sorted(wanted)

    @pytest.mark.parametrize("k", [1, 3, COUNT + 100])
    def test_k(self, filled: Callable[..., Any], k: int) -> None:
        """As many as asked for, or as many as there are."""
        batch = memories()
        backend = filled(batch, exact=True)
        hits = backend.search(queries(_first(batch), k=k))
        assert len(hits.ids[0]) == min(k, COUNT)
        assert len(set(hits.ids[0])) == len(hits.ids[0])

    def test_what_is_fetched_is_what_was_loaded(self, filled: Callable[..., Any]) -> None:
        """Vectors come back bit for bit, and every field as it was; absent ids do not."""
        batch = memories()
        found = filled(batch).fetch([*batch.ids, "absent"])
        order = [found.ids.index(id_) for id_ in batch.ids]
        assert len(found) == COUNT
        self.check_vectors(found.vectors[order], batch.vectors)
        for field in ("users", "contents", "created_at", "metadata"):
            assert [getattr(found, field)[place] for place in order] == getattr(batch, field)
        for place, wanted in zip(order, batch.expires_at, strict=True):
            there = found.expires_at[place]
            assert (there is None) is (wanted is None)
            assert there is None or abs((there - wanted).total_seconds()) < 0.01

    def check_vectors(self, found: Any, wanted: Any) -> None:
        """Override it for a store that normalises, or rounds."""
        np.testing.assert_array_equal(found, wanted)

    def test_lifetimes(self, filled: Callable[..., Any]) -> None:
        """A memory whose time was over when memories are judged is not found; one that still has time is."""
        batch = memories(4)
        batch.expires_at[:] = [CLOCK - timedelta(hours=1), CLOCK, CLOCK + timedelta(milliseconds=1_500), None]
        backend = filled(batch, exact=True)
        assert sorted(backend.search(queries(_first(batch), k=10)).ids[0]) == ["m2", "m3"]

    def test_hostile_users_and_ids(self, filled: Callable[..., Any]) -> None:
        """Every id and user is found again under its own user and under no other."""
        batch = memories(len(HOSTILE), ids=[f"id {text}" for text in HOSTILE], users=HOSTILE)
        backend = filled(batch, shape(lifetimes=False))
        assert backend.search(queries(batch, users=HOSTILE)).ids == [[id_] for id_ in batch.ids]
        assert sorted(backend.fetch(batch.ids).ids) == sorted(batch.ids)

    @settings(
        max_examples=1,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(st.lists(st.text(min_size=1, max_size=30), min_size=200, max_size=200, unique=True))
    def test_any_user(self, connect: Connect, users: list[str]) -> None:
        """The same for two hundred users nobody thought of; their ids and contents are as strange."""
        users = [user.replace("\x00", "0") for user in users]  # which text in PostgreSQL cannot hold
        users = list(dict.fromkeys(users))
        batch = memories(len(users), ids=[f"id {user}" for user in users], users=users)
        batch.contents[:] = users
        with _filled(connect, batch, shape(lifetimes=False), space="", exact=False) as backend:
            assert backend.search(queries(batch, users=users)).ids == [[id_] for id_ in batch.ids]
            found = backend.fetch(batch.ids)
            assert dict(zip(found.ids, found.contents, strict=True)) == dict(zip(batch.ids, users, strict=True))

    def test_nobodys_memories(self, filled: Callable[..., Any]) -> None:
        """A memory without a user is no user's, not even the empty one's; without a user all are found."""
        batch = memories(4, users=[None, "", "a", None])
        backend = filled(batch, shape(lifetimes=False))
        hits = backend.search(queries(batch, users=["", "a", None, "b"]))
        assert [sorted(ids) for ids in hits.ids] == [["m1"], ["m2"], ["m0", "m1", "m2", "m3"], []]

    def test_without_a_vector(self, filled: Callable[..., Any]) -> None:
        """A memory without a vector is stored without one."""
        batch = memories(4)
        batch.vectors[1] = np.nan
        batch.dimensions[1] = 0
        found = filled(batch, shape(lifetimes=False)).fetch(batch.ids)
        assert dict(zip(found.ids, found.dimensions.tolist(), strict=True)) == {"m0": 24, "m1": 0, "m2": 24, "m3": 24}

    def test_exact_search(self, filled: Callable[..., Any]) -> None:
        """It finds what exact computation finds, and says that it went round the index."""
        batch = memories()
        backend = filled(batch)
        if not isinstance(backend, ExactSearchable):
            pytest.skip("no exact search")
        hits = backend.search_exact(queries(batch))
        wanted = similarity.exact_search(Metric.COSINE, batch.vectors, batch.vectors, 10)
        assert hits.ids == [[batch.ids[row] for row in rows] for rows in wanted.rows.tolist()]
        assert hits.used_index is None or not hits.used_index.any()

    def test_the_index_forced_widened_and_rebuilt(self, filled: Callable[..., Any]) -> None:
        """Whatever an approximate index can be made to do, it finds each memory by its own vector."""
        batch = memories()
        backend: Backend = filled(batch, shape(lifetimes=False))
        answers = []
        if isinstance(backend, Tunable):
            answers += [backend.search_index(queries(batch, users=batch.users), wide=wide) for wide in (False, True)]
        if isinstance(backend, Rebuildable):
            answers += [backend.search_rebuilt(queries(batch)), backend.search_rebuilt(queries(batch), wide=True)]
        for hits in answers:
            assert [ids[0] for ids in hits.ids] == batch.ids
            assert hits.used_index is not None
            assert hits.used_index.all()

    def test_describe(self, filled: Callable[..., Any]) -> None:
        """The facts are those of what was loaded."""
        info = filled(memories()).describe()
        assert (info.rows, info.dimensions, info.metric) == (COUNT, DIMENSIONS, Metric.COSINE)
        assert info.server
        assert info.location

    def test_another_space_is_left_alone(self, filled: Callable[..., Any]) -> None:
        """Two spaces, one of whose names begins with the other's, do not see each other; a drop is of one."""
        name = f"conform_{next(_numbers)}"
        one = filled(memories(20), space=name)
        other = filled(memories(30), space=f"{name}0")
        assert len(one.search(queries(_first(memories()), k=100)).ids[0]) == 20
        one.drop()
        assert len(other.search(queries(_first(memories()), k=100)).ids[0]) == 30
        assert len(other.fetch(memories(30).ids)) == 30


@contextlib.contextmanager
def _filled(connect: Connect, batch: MemoryBatch, of: Shape, *, space: str, exact: bool) -> Iterator[Any]:
    backend = connect(space=space or f"conform_{next(_numbers)}", shape=of, in_place=False, exact=exact)
    with contextlib.closing(backend):
        backend.create()
        try:
            assert backend.load([batch]) == []
            backend.index()
            yield backend
        finally:
            backend.drop()


def _first(batch: MemoryBatch) -> MemoryBatch:
    return MemoryBatch(
        ids=batch.ids[:1],
        vectors=batch.vectors[:1],
        dimensions=batch.dimensions[:1],
        users=batch.users[:1],
        contents=batch.contents[:1],
        created_at=batch.created_at[:1],
        expires_at=batch.expires_at[:1],
        metadata=batch.metadata[:1],
    )
