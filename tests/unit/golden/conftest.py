"""A small golden set on disk, and ways to spoil it."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memregress import golden
from memregress.model import Expected, MemoryBatch, Metric, Query

CLOCK = datetime(2026, 1, 31, 12, tzinfo=UTC)


@dataclass
class Folder:
    """A golden set's folder; `seal` makes checksums agree again after a change."""

    path: Path

    def line(self, name: str, number: int, **changes: Any) -> None:
        """Change fields of a line; a field of `...` is taken away."""
        lines = (self.path / name).read_bytes().splitlines()
        fields = json.loads(lines[number - 1]) | changes
        lines[number - 1] = json.dumps({key: value for key, value in fields.items() if value is not ...}).encode()
        self.write(name, b"\n".join(lines) + b"\n")

    def write(self, name: str, data: bytes) -> None:
        (self.path / name).write_bytes(data)
        self.seal()

    def save(self, name: str, vectors: Any) -> None:
        np.save(self.path / name, vectors)
        self.seal()

    def vectors(self, name: str = "memories.npy") -> Any:
        return np.load(self.path / name)

    def manifest(self, **changes: Any) -> None:
        path = self.path / "manifest.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    def part(self, name: str, **changes: Any) -> None:
        parts = json.loads((self.path / "manifest.json").read_text())["parts"]
        self.manifest(parts=[part | changes if part["file"] == name else part for part in parts])

    def seal(self) -> None:
        for file in self.path.iterdir():
            if file.name != "manifest.json":
                self.part(file.name, sha256=hashlib.sha256(file.read_bytes()).hexdigest())


def make_batch(**changes: Any) -> MemoryBatch:
    """Five memories of two users and of none, the third without a vector, the fourth with a lifetime."""
    columns: dict[str, Any] = {
        "ids": ["a", "b", "c", "d", "e"],
        "vectors": np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 1, 0], [0, 0.5, 1]], dtype=np.float32),
        "dimensions": np.array([3, 3, 0, 3, 3], dtype=np.int32),
        "users": ["ada", "ada", "ada", "bob", None],
        "contents": ["likes tea", "ordered a kettle", "no vector", "away until March", "shared by all"],
        "created_at": [CLOCK - timedelta(days=day) for day in range(5)],
        "expires_at": [None, None, None, CLOCK + timedelta(days=30), None],
        "metadata": [{"topic": "taste", "n": 1}, {"topic": "order", "n": 2}, {}, {"tags": ["x", "y"]}, {"topic": None}],
    }
    return MemoryBatch(**(columns | changes))


def make_queries() -> list[tuple[Query, Any]]:
    tea = Query(
        id="q1",
        text="what does she drink?",
        user="ada",
        k=2,
        expected=[Expected(id="a", similarity=0.98, max_rank=1), Expected(id="b", must=False)],
        forbidden=["d"],
        labels=["a"],
    )
    order = Query(
        id="q2", text="kettle", user="ada", filter={"topic": "order", "n": {"gte": 2}}, k=3, min_similarity=0.1
    )
    return [
        (tea, np.array([1, 0.2, 0], dtype=np.float32)),
        (order, np.array([0, 1, 0.1], dtype=np.float32)),
    ]


def write_set(path: Path, **changes: Any) -> golden.Manifest:
    arguments: dict[str, Any] = {
        "name": "small",
        "created_at": CLOCK,
        "captured_at": CLOCK,
        "vectors": golden.Vectors(dimensions=3, metric=Metric.COSINE, model="toy"),
        "memories": [make_batch()],
        "queries": make_queries(),
    }
    return golden.write(path, **(arguments | changes))


@pytest.fixture
def batch() -> Callable[..., MemoryBatch]:
    """Makes the five memories, with other columns where given."""
    return make_batch


@pytest.fixture
def queries() -> list[tuple[Query, Any]]:
    """The two queries with their vectors."""
    return make_queries()


@pytest.fixture
def write() -> Callable[..., golden.Manifest]:
    """Writes the small set to a path, with other arguments where given."""
    return write_set


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """The small set, written and free of problems."""
    write_set(tmp_path / "set")
    return Folder(tmp_path / "set")
