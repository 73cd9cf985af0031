"""Every fault that is known for a store, injected into a real one: exactly what was hit is reported, by its name."""

import contextlib

import pytest

from memregress import instances, selftest
from memregress.backends import registry
from memregress.diagnose import unexplained
from memregress.testing import faults
from memregress.testing.faults import milvus as own_faults

STORES = [
    pytest.param("faiss", "faiss_url", id="faiss"),
    pytest.param("pgvector", "embedded_pgvector", id="pgvector-embedded", marks=pytest.mark.store),
    pytest.param("pgvector", "container_pgvector", id="pgvector-container", marks=pytest.mark.docker),
    pytest.param("redis", "embedded_redis", id="redis-embedded", marks=pytest.mark.store),
    pytest.param("redis", "container_redis", id="redis-container", marks=pytest.mark.docker),
]


def quiet(_):
    """Listen to no progress."""


@pytest.fixture
def faiss_url(tmp_path):
    """A folder for FAISS."""
    return str(tmp_path / "store")


@pytest.mark.parametrize(("backend", "url"), STORES)
def test_every_fault_is_named(backend, url, request):
    """The whole selftest: nothing missed, misnamed or falsely alarmed, and nothing unexplained."""
    kind = "embedded" if "embedded" in url else "container"
    known = [fault for fault in faults.of(backend) if not fault.why_not(backend, kind)]
    assert len(known) > 50
    _prove(backend, request.getfixturevalue(url), known)


def test_faults_of_milvus_lite(embedded_milvus):
    """Its own, and every third of those that every store can have: each takes seconds there."""
    known = [fault for fault in faults.of("milvus") if not fault.why_not("milvus", "embedded")]
    chosen = [fault for fault in known if fault in own_faults.FAULTS] + known[::3]
    _prove("milvus", embedded_milvus, chosen)


@pytest.mark.docker
def test_faults_of_a_milvus_server(container_milvus):
    """Those that a server alone can have: each takes ten seconds there."""
    _prove("milvus", container_milvus, own_faults.FAULTS)


def _prove(backend, url, chosen):
    target = instances.choose(registry.find(backend), url=url)
    outcomes = list(selftest.run(target, chosen, progress=quiet))
    assert {outcome.fault.name: dict(outcome.said) for outcome in outcomes if not outcome.proven} == {}
    assert len(outcomes) == len(chosen)
    assert sum(outcome.noise for outcome in outcomes) <= len(chosen) / 10  # a rare build leaves out one memory
    assert not any(unexplained.CAUSE.code in words for outcome in outcomes for words in outcome.said)


def test_what_is_not_found_fails(tmp_path):
    """A fault unreported, by another name, by what may stand beside alone, and an alarm: none is proven."""
    target = instances.choose(registry.find("faiss"), url=str(tmp_path))
    dropped = next(fault for fault in faults.of("faiss") if fault.name == "row-dropped")
    healthy = next(fault for fault in faults.of("faiss") if fault.name == "healthy")
    with_name = {field: getattr(dropped, field) for field in ("story", "verdict", "rows", "write")}
    wrong = [
        faults.Fault(name="unwritten", cause=dropped.cause, **{**with_name, "write": None}),
        faults.Fault(name="misnamed", cause="MR209", **with_name),
        faults.Fault(name="by the other name alone", cause="MR209", also=(dropped.cause,), **with_name),
        faults.Fault(name="alarm", story=healthy.story, write=dropped.write),
    ]
    outcomes = list(selftest.run(target, wrong, progress=quiet))
    counts = [(o.proven, o.found, o.missed, o.misnamed, o.alarms) for o in outcomes]
    assert counts == [(False, 0, 1, 0, 0), (False, 0, 0, 1, 0), (False, 0, 0, 1, 0), (False, 0, 0, 0, 1)]


@pytest.mark.store
def test_spaces_are_dropped(embedded_pgvector):
    """What the selftest makes in a store that runs, it drops."""
    import psycopg2  # noqa: PLC0415  the driver is an extra

    target = instances.choose(registry.find("pgvector"), url=embedded_pgvector)
    chosen = [fault for fault in faults.of("pgvector") if fault.name in ("row-dropped", "table-gone")]
    assert all(outcome.proven for outcome in selftest.run(target, chosen, progress=quiet))
    with contextlib.closing(psycopg2.connect(embedded_pgvector)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'selftest%'")
        assert cursor.fetchone() == (0,)
