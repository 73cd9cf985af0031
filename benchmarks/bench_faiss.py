"""FAISS: loading and searching beside the library's own floor, in one run.

Floors: `index.add` of the same vectors; `index.search` of the same queries, one by one as an application sends them.

    python benchmarks/bench_faiss.py --sizes 20000x384
"""

from __future__ import annotations

import common
import faiss
import numpy as np

from memregress import replay
from memregress.backends import faiss as backends
from memregress.clock import Clock
from memregress.golden import GoldenSet
from memregress.model import QueryBatch

SEARCHES = 5_000


class Bench:
    """One golden set and one kind of index."""

    def __init__(self, golden: GoldenSet, kind: str) -> None:
        self.golden = golden
        self.kind = kind
        self.vectors = golden.vectors(range(len(golden)))
        self.probes = self.vectors[: min(SEARCHES if kind == "hnsw" else SEARCHES // 5, len(golden))]

    def load(self) -> float:
        options = backends.Options(index=self.kind, ef_search=64)
        self.backend = backends.connect("", space="bench", shape=self.golden.shape, options=options)
        self.backend.create()

        def fill() -> None:
            clock = Clock(common.quiet)
            self.backend.load(clock.track("load", self.golden.batches(size=replay.LOAD_BATCH), len(self.golden)))
            self.backend.index()

        return common.timed(fill)

    def load_bare(self) -> float:
        dimensions = self.golden.shape.dimensions
        if self.kind == "hnsw":
            self.index = faiss.IndexHNSWFlat(dimensions, 32, faiss.METRIC_INNER_PRODUCT)
            self.index.hnsw.efSearch = 64
        else:
            self.index = faiss.IndexFlatIP(dimensions)
        return common.timed(lambda: self.index.add(self.vectors))

    def search(self) -> float:
        count = len(self.probes)

        def ask() -> None:
            for start in range(0, count, replay.BATCH):
                rows = range(start, min(start + replay.BATCH, count))
                batch = QueryBatch(
                    vectors=self.golden.vectors(rows),
                    users=[None] * len(rows),
                    filters=[None] * len(rows),
                    k=[10] * len(rows),
                )
                replay.answers(self.golden, self.backend.search(batch), start)

        return common.timed(ask)

    def search_bare(self) -> float:
        def ask() -> None:
            for probe in self.probes:
                self.index.search(np.ascontiguousarray(probe[None]), 10)

        return common.timed(ask)


def main() -> None:
    given = common.arguments(__doc__ or "").parse_args()
    rows = []
    for memories, dimensions in given.sizes:
        golden = common.made(given.scratch, memories, dimensions)
        for kind in ("flat", "hnsw"):
            bench = Bench(golden, kind)
            load = common.best({"ours": bench.load, "floor": bench.load_bare}, repeats=1 if kind == "hnsw" else 3)
            search = common.best({"ours": bench.search, "floor": bench.search_bare})
            rows.append(
                [
                    f"{memories:,} x {dimensions:,}",
                    kind,
                    f"{memories / load['ours']:,.0f}/s",
                    f"{load['ours'] / load['floor']:.2f}",
                    f"{len(bench.probes) / search['ours']:,.0f}/s",
                    f"{search['ours'] / search['floor']:.2f}",
                ]
            )
            columns = ["set", "index", "load", "of add", "search", "of search one by one"]
            common.show("FAISS, times as ratios to the library in the same run", columns, rows)


if __name__ == "__main__":
    main()
