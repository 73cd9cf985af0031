"""A golden set, a store filled with it, a fault injected into the store, and the report of a replay in place."""

import contextlib
import functools
import itertools
from collections.abc import Callable, Sequence

import msgspec
import psycopg2
import pytest
import redis as client

from memregress import instances, pipeline, replay, settings
from memregress.backends import registry
from memregress.clock import Clock
from memregress.golden import GoldenSet
from memregress.report import FailOn, Report
from memregress.testing import sets

_numbers = itertools.count()


def quiet(_):
    """Listen to no progress."""


@pytest.fixture(scope="session")
def small(tmp_path_factory) -> GoldenSet:
    """1,000 memories of 50 users; the planner answers their searches without the vector index."""
    return sets.make(tmp_path_factory.mktemp("sets") / "small")


@pytest.fixture(scope="session")
def shared(tmp_path_factory) -> GoldenSet:
    """4,000 memories without users; every search goes through the vector index."""
    path = tmp_path_factory.mktemp("sets") / "shared"
    return sets.make(path, memories=4_000, users=0, lifetimes=False, dimensions=48)


@pytest.fixture(scope="session")
def crowded(tmp_path_factory) -> GoldenSet:
    """4,000 memories of 100 users in few clusters: the nearest to any query mostly belong to others."""
    path = tmp_path_factory.mktemp("sets") / "crowded"
    return sets.make(path, memories=4_000, users=100, lifetimes=False, dimensions=48, clusters=3)


@pytest.fixture
def pgvector(pgvector_url):
    """Replay a golden set in place on a pgvector store that was filled with it and then hit by SQL statements."""
    with _injecting(pgvector_url) as run:
        yield run


@pytest.fixture
def embedded_only(embedded_pgvector):
    """The same, on the embedded server alone."""
    with _injecting(embedded_pgvector) as run:
        yield run


def _fill(name, url, space, golden, options):
    module = registry.find(name).load()
    loading = msgspec.convert(options or {}, module.Options)
    with contextlib.closing(
        module.connect(url, space=space, shape=golden.shape, options=loading, in_place=False)
    ) as backend:
        backend.create()
        replay.load(golden, backend, Clock(quiet))


def _in_place(name, url, space, golden, options, changes, progress=quiet) -> Report:
    entry = registry.find(name)
    return pipeline.check(
        pipeline.Request(
            golden=golden.path,
            target=instances.choose(entry, url=url),
            options=msgspec.convert(options or {}, entry.load().Options),
            space=space,
            in_place=True,
            fail_on=FailOn.ANY,
            settings=settings.Settings(**changes),
        ),
        progress=progress,
    )


@contextlib.contextmanager
def _injecting(pgvector_url):
    spaces = []

    def run(
        golden: GoldenSet,
        *faults: str,
        options: dict | None = None,
        fill: dict | None = None,
        **changes,
    ) -> Report:
        space = f"fault_{next(_numbers)}"
        spaces.append(space)
        _fill("pgvector", pgvector_url, space, golden, fill)
        with (
            contextlib.closing(psycopg2.connect(pgvector_url)) as connection,
            connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(f"SET search_path = {space}, public")
            for fault in faults:
                cursor.execute(fault)
        return _in_place("pgvector", pgvector_url, space, golden, options, changes)

    try:
        yield run
    finally:
        _drop(pgvector_url, spaces)


def _drop(url, spaces):
    with contextlib.closing(psycopg2.connect(url)) as connection, connection, connection.cursor() as cursor:
        for space in spaces:
            cursor.execute(f"DROP SCHEMA IF EXISTS {space} CASCADE")


@pytest.fixture(
    params=[
        pytest.param("embedded", marks=pytest.mark.store),
        pytest.param("container", marks=[pytest.mark.store, pytest.mark.docker]),
    ]
)
def redis(request):
    """Replay a golden set in place on a Redis that was filled with it and then hit by commands."""
    url = request.getfixturevalue(f"{request.param}_redis")
    with contextlib.closing(client.Redis.from_url(url)) as connection:
        yield functools.partial(_hit_redis, url, connection)
        connection.flushall()


@pytest.fixture
def hit_redis():
    """The same, on the server at a URL."""

    def hit(url, golden, *faults, **given):
        with contextlib.closing(client.Redis.from_url(url)) as connection:
            return _hit_redis(url, connection, golden, *faults, **given)

    return hit


def _hit_redis(url, connection, golden, *faults, options=None, fill=None, progress=quiet, **changes):
    """`faults` are commands, or functions of the connection and the space; `progress` hears how far the replay is."""
    space = f"fault_{next(_numbers)}"
    _fill("redis", url, space, golden, fill)
    for fault in faults:
        if callable(fault):
            fault(connection, space)
        else:
            connection.execute_command(*(w.format(space=space) if isinstance(w, str) else w for w in fault))
    given = options(space) if callable(options) else options
    return _in_place("redis", url, space, golden, given, changes, progress)


@pytest.fixture
def broken() -> Callable[[Report], list[tuple[str, str, str]]]:
    """The broken memories of a report as (id, verdict, cause), in order of id."""

    def of(report: Report) -> list[tuple[str, str, str]]:
        return sorted((m.id, m.verdict.value, m.cause) for m in report.memories if m.verdict.broken)

    return of


@pytest.fixture
def only(broken) -> Callable[..., None]:
    """Assert that exactly these memories are broken, each with this verdict and cause, and that the gate failed."""

    def check(report: Report, ids: Sequence[str], verdict: str, cause: str) -> None:
        assert broken(report) == [(id_, verdict, cause) for id_ in sorted(ids)]
        assert report.gate == "failed"
        assert [item.code for item in report.causes] == [cause]
        assert report.causes[0].count == len(ids)
        assert report.causes[0].evidence
        assert report.causes[0].remedy
        assert "?" not in report.causes[0].remedy

    return check


@pytest.fixture
def faiss(tmp_path):
    """Replay a golden set in place on a FAISS folder that was filled with it and then changed by `fault(folder)`."""

    def run(
        golden: GoldenSet, fault=None, *, options: dict | None = None, fill: dict | None = None, **changes
    ) -> Report:
        entry = registry.find("faiss")
        module = entry.load()
        with contextlib.closing(
            module.connect(
                str(tmp_path), space="app", shape=golden.shape, options=msgspec.convert(fill or {}, module.Options)
            )
        ) as backend:
            backend.create()
            replay.load(golden, backend, Clock(quiet))
        if fault is not None:
            fault(tmp_path / "app")
        return pipeline.check(
            pipeline.Request(
                golden=golden.path,
                target=instances.choose(entry, url=str(tmp_path)),
                options=msgspec.convert(options or {}, module.Options),
                space="app",
                in_place=True,
                fail_on=FailOn.ANY,
                settings=settings.Settings(**changes),
            ),
            progress=quiet,
        )

    return run
