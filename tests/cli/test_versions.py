"""A version bump for real: one golden set on two versions of pgvector, the first report as the second's baseline."""

import json

import pytest

from memregress import demo

OLD, NEW = "pgvector/pgvector:0.7.4-pg16", "pgvector/pgvector:pg16"


@pytest.mark.docker
def test_a_bump_says_what_changed(memregress, tmp_path):
    """The newer version goes on searching where a filter starves the older: nothing is newly broken, some is fixed."""
    before = memregress("replay", demo.GOLDEN, "--backend", "pgvector", "--image", OLD, "--out", "before")
    baseline = ("--baseline", "before/report.json")
    after = memregress("replay", demo.GOLDEN, "--backend", "pgvector", "--image", NEW, *baseline, "--out", "after")
    assert after.returncode == 0, before.stdout + after.stdout
    old, new = (json.loads((tmp_path / name / "report.json").read_text()) for name in ("before", "after"))
    assert {memory["cause"] for memory in old["memories"] if memory.get("cause")} <= {"MR701", "MR702"}
    assert (new["broken"], new["new_broken"], new["fixed"]) == (0, 0, old["broken"])
    notes = [note for note in new["notes"] if note.startswith("changed since the baseline")]
    assert any("pgvector 0.7.4" in note and "pgvector 0.8" in note for note in notes)
    assert any("hnsw.iterative_scan = strict_order" in note for note in notes)
