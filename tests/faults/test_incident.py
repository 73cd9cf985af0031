"""The incident: one vector of 12,431 is lost in a migration to pgvector, and exactly that memory is reported."""

import pytest

from memregress.testing import sets

MEMORIES, USERS = 12_431, 400
LOST = "m-008421"


@pytest.fixture(scope="session")
def incident(tmp_path_factory):
    """12,431 memories over 400 users."""
    path = tmp_path_factory.mktemp("sets") / "incident"
    return sets.make(path, memories=MEMORIES, users=USERS, dimensions=64, queries=400, clusters=300)


@pytest.mark.parametrize(
    ("fault", "verdict", "cause"),
    [
        (f"UPDATE memories SET embedding = NULL WHERE id = '{LOST}'", "missing", "MR201"),
        (
            f"UPDATE memories SET embedding = array_fill(0::real, array[64])::vector WHERE id = '{LOST}'",
            "altered",
            "MR204",
        ),
    ],
    ids=["null", "zero"],
)
def test_one_lost_vector(pgvector, incident, only, fault, verdict, cause):
    """Exactly the memory that lost its vector is reported, with the right verdict and cause, and the gate fails."""
    report = pgvector(incident, fault)
    only(report, [LOST], verdict, cause)
    assert report.total == report.tested == MEMORIES
    assert report.target.index.kind == "hnsw"


@pytest.mark.store
@pytest.mark.parametrize("attempt", range(10))
def test_no_false_alarm(attempt, embedded_only, incident, broken):
    """Without the fault nothing is reported, ten times in a row, each with an index built afresh."""
    report = embedded_only(incident)
    assert (report.gate, broken(report), report.causes, report.concerns) == ("passed", [], [], [])
    assert report.memories == []
