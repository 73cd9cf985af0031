"""Put the same golden sets on all stores, with exact indexes, and compare their answers: the table of agreement.md.

.venv/bin/python docs/agreement.py [--check]
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from memregress import instances, replay, similarity
from memregress.backends import registry
from memregress.clock import Clock
from memregress.golden import GoldenSet
from memregress.model import Hits, Metric, QueryBatch
from memregress.testing import sets

PAGE = Path(__file__).with_name("agreement.md")
BLOCK = re.compile(r"(<!-- table:begin[^>]*-->\n).*?(<!-- table:end -->)", re.DOTALL)
K = 10
EXACT: Mapping[str, dict[str, Any]] = {
    "faiss": {"index": "flat"},
    "pgvector": {"index": "none"},
    "redis": {"index": "flat"},
    "milvus": {"index": "flat"},
}
TIE = 2e-6
"""Of the scale: similarities closer than this are a tie, whose order is nobody's."""


@dataclass(frozen=True)
class Agreement:
    """How one store compares with exact computation: rankings that are equal up to ties, and the largest difference."""

    metric: Metric
    store: str
    equal: int
    searches: int
    difference: float


def quiet(_: object) -> None:
    """Listen to no progress."""


def compared(folder: Path) -> Iterator[Agreement]:
    """Fill every store with a golden set of every metric, and search it with each memory's own vector."""
    for metric in Metric:
        golden = sets.make(folder / metric, metric=metric, memories=1_000, unit_length=False, lifetimes=False)
        for name in registry.BACKENDS:
            yield agreement(name, golden, folder)


def agreement(name: str, golden: GoldenSet, folder: Path) -> Agreement:
    """Compare one store with exact computation, for a search of each user."""
    entry = registry.find(name)
    module = entry.load()
    options = msgspec.convert(EXACT[name], module.Options)
    with instances.open(instances.choose(entry, embedded=True)) as url:
        address = url or str(folder / "store")
        space = f"agree_{golden.shape.metric}"
        backend = module.connect(address, space=space, shape=golden.shape, options=options, in_place=False)
        with contextlib.closing(backend):
            backend.create()
            replay.load(golden, backend, Clock(quiet))
            vectors, users = golden.vectors(range(len(golden))), list(golden.users)
            count = len(golden)
            hits = backend.search(QueryBatch(vectors=vectors, users=users, filters=[None] * count, k=[K] * count))
            backend.drop()
    return judged(name, golden, hits)


def judged(name: str, golden: GoldenSet, hits: Hits) -> Agreement:
    """Compare answers with exact computation over each user's memories."""
    vectors = golden.vectors(range(len(golden)))
    users = np.array(golden.users)
    metric = golden.shape.metric
    scale = 1.0 if metric is Metric.COSINE else float(np.linalg.norm(vectors, axis=1).max() ** 2)
    equal, largest = 0, 0.0
    for row in range(len(golden)):
        owned = np.flatnonzero(users == users[row])
        wanted = similarity.exact_search(metric, vectors[row : row + 1], vectors[owned], len(owned))
        exact = {
            golden.ids[owned[place]]: value for place, value in zip(wanted.rows[0], wanted.similarity[0], strict=True)
        }
        values = np.array([exact.get(id_, np.nan) for id_ in hits.ids[row]], np.float64)
        best = np.sort(np.array(list(exact.values()), np.float64))[::-1][:K]
        equal += len(values) == len(best) and bool((np.abs(_even(values - best, values, metric)) <= TIE * scale).all())
        largest = max(
            largest, float(np.abs(_even(np.array(hits.similarity[row]) - values, values, metric)).max()) / scale
        )
    return Agreement(metric=metric, store=name, equal=equal, searches=len(golden), difference=largest)


def _even(differences: np.ndarray, values: np.ndarray, metric: Metric) -> np.ndarray:
    """A Euclidean distance is the root of a sum: what is uncertain is its square."""
    return differences * 2 * np.abs(values) if metric is Metric.L2 else differences


def table(found: list[Agreement]) -> str:
    """The agreements as a table in Markdown."""
    lines = [
        "| metric | store | rankings equal up to ties | largest difference of a similarity |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {one.metric} | {one.store} | {one.equal:,} of {one.searches:,} | {one.difference:.0e} |" for one in found
    ]
    return "\n".join(lines)


def main() -> None:
    """Write the table, or check that every ranking is equal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a ranking differs")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = list(compared(Path(folder)))
    print(table(found))
    if any(one.equal != one.searches for one in found):
        sys.exit("rankings differ")
    if not given.check:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(BLOCK.sub(lambda match: f"{match[1]}{table(found)}\n{match[2]}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
