"""An index that misses much misses others in each build: that is no regression, and more than twice as many are."""

import json

import pytest

from memregress.testing import sets


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """4,000 memories without users; every search goes through the vector index."""
    path = tmp_path_factory.mktemp("sets") / "shared"
    return sets.make(path, memories=4_000, users=0, lifetimes=False, dimensions=48, queries=0).path


@pytest.mark.store
def test_the_usual_misses_are_no_regression(memregress, tmp_path, shared):
    """The budget is the baseline's own share of misses, where it is more than the least."""

    def replay(name, m, *more):
        built = f"[pgvector]\nm = {m}\nef_construction = {2 * m}\n"
        settings = f"{built}[pgvector.settings]\nenable_seqscan = false\n'hnsw.ef_search' = 10\n"
        (tmp_path / "memregress.toml").write_text(settings)
        done = memregress("replay", shared, "--backend", "pgvector", "--embedded", "--out", name, *more)
        return done.returncode, json.loads((tmp_path / name / "report.json").read_text())

    code, first = replay("first", 6)
    assert code == 1
    assert 0.01 * first["tested"] < first["broken"]
    code, second = replay("second", 6, "--baseline", "first/report.json")
    assert second["new_broken"] > 0.01 * second["tested"]  # other memories, and as many
    assert (code, second["gate"]) == (0, "passed")
    assert any("within the budget" in note for note in second["notes"])
    code, third = replay("third", 2, "--baseline", "first/report.json")
    assert third["broken"] > 2 * first["broken"]
    assert (code, third["gate"]) == (1, "failed")
