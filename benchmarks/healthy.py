"""No false alarm: healthy stores replayed again and again, each time with a freshly built index.

Three shapes of data: vectors drawn at random, in clusters, and near-duplicates (a few templates, each many times with
small differences). What is printed is how often the gate passed, and the misses of the index, which are its noise.

    python benchmarks/healthy.py --backend pgvector --runs 50 --memories 10000
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import common
import msgspec

from memregress import instances, pipeline
from memregress.backends import registry
from memregress.report import FailOn
from memregress.testing import sets

SHAPES: Mapping[str, dict[str, Any]] = {
    "random": {"clusters": 10_000, "noise": 0.6},
    "clustered": {"clusters": 100, "noise": 0.6},
    "near-duplicates": {"clusters": 200, "noise": 0.05},
}
OPTIONS: Mapping[str, dict[str, Any]] = {
    "faiss": {"index": "hnsw"},
    "pgvector": {"index": "hnsw"},
    "redis": {"index": "hnsw"},
    "milvus": {"index": "hnsw", "ef": 500},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="pgvector", choices=sorted(registry.BACKENDS))
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--image", help="a container in place of the embedded store")
    given = parser.parse_args()
    entry = registry.find(given.backend)
    options = msgspec.convert(OPTIONS[given.backend], entry.load().Options)
    rows = []
    with (
        tempfile.TemporaryDirectory() as folder,
        instances.open(instances.choose(entry, image=given.image, embedded=not given.image)) as started,
    ):
        for shape, arguments in SHAPES.items():
            golden = sets.make(
                Path(folder) / shape, memories=given.memories, users=0, dimensions=64, lifetimes=False, **arguments
            )
            url = started or str(Path(folder) / "store")
            rows.append(measure(shape, instances.choose(entry, url=url), golden.path, options, given.runs))
            common.show(
                f"{given.backend}: healthy replays", ["shape", "passed", "misses, median", "most", "s a run"], rows
            )


def measure(shape: str, target: instances.Target, golden: Path, options: Any, runs: int) -> list[object]:
    """Replay again and again; each run loads and builds anew."""
    passed, started = 0, time.perf_counter()
    misses: list[float] = []
    for _ in range(runs):
        report = pipeline.check(
            pipeline.Request(
                golden=golden,
                target=target,
                options=options,
                fail_on=FailOn.ANY,
            ),
            progress=common.quiet,
        )
        passed += report.gate == "passed"
        misses.append(report.broken / report.total)
    seconds = (time.perf_counter() - started) / runs
    return [shape, f"{passed} of {runs}", f"{statistics.median(misses):.3%}", f"{max(misses):.3%}", f"{seconds:.1f}"]


if __name__ == "__main__":
    main()
