"""Whole golden sets on whole stores, as a user replays them: the shipped one, and LoCoMo where it is at hand."""

import json
import os
from pathlib import Path

import pytest

from memregress import demo

LOCOMO = Path(os.environ.get("MEMREGRESS_SHARED", ""), "data", "locomo")
SETS = [pytest.param(demo.GOLDEN, 3_158, id="support-bot")]
if "MEMREGRESS_SHARED" in os.environ:  # its licence keeps it out of the repository
    SETS.append(pytest.param(LOCOMO, 5_882, id="locomo"))

STORES = [
    pytest.param(["faiss"], "", id="faiss-flat"),
    pytest.param(["faiss"], "[faiss]\nindex = 'hnsw'", id="faiss-hnsw"),
    pytest.param(["faiss"], "[faiss]\nindex = 'ivf'", id="faiss-ivf"),
    pytest.param(["pgvector", "--embedded"], "", id="pgvector-embedded", marks=pytest.mark.store),
    pytest.param(
        ["pgvector", "--embedded"], "[pgvector]\ntype = 'halfvec'", id="pgvector-halfvec", marks=pytest.mark.store
    ),
    pytest.param(
        ["pgvector", "--embedded"], "[pgvector]\nindex = 'ivfflat'", id="pgvector-ivfflat", marks=pytest.mark.store
    ),
    pytest.param(
        ["pgvector", "--image", "pgvector/pgvector:pg16"],
        "",
        id="pgvector-container",
        marks=[pytest.mark.store, pytest.mark.docker],
    ),
    pytest.param(["redis", "--embedded"], "", id="redis-embedded", marks=pytest.mark.store),
    pytest.param(
        ["redis", "--embedded"], "[redis]\nindex = 'flat'\ndocuments = 'json'", id="redis-json", marks=pytest.mark.store
    ),
    pytest.param(
        ["redis", "--image", "redis/redis-stack-server:latest"],
        "",
        id="redis-container",
        marks=[pytest.mark.store, pytest.mark.docker],
    ),
]


STORES += [
    pytest.param(["milvus", "--embedded"], "", id="milvus-lite"),
    pytest.param(["milvus", "--image", "milvusdb/milvus:v2.3.5"], "", id="milvus-container", marks=pytest.mark.docker),
]


@pytest.mark.parametrize(("golden", "memories"), SETS)
@pytest.mark.parametrize(("store", "settings"), STORES)
def test_a_healthy_store_is_green(memregress, tmp_path, golden, memories, store, settings):
    """Every memory is probed, every query is replayed, and a healthy store passes on every index and vector type."""
    (tmp_path / "memregress.toml").write_text(settings)
    done = memregress("replay", golden, "--backend", *store, "--out", "out")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert (report["tested"], report["total"]) == (memories, memories)
    assert report["measures"]["queries"] == report["golden"]["queries"] > 0
    assert report["broken"] <= 0.01 * memories
    assert {cause["code"] for cause in report["causes"]} <= {"MR702"}
