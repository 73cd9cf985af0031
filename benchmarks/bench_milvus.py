"""Milvus: loading and searching beside bare pymilvus, in one run.

Floors: the same rows by `MilvusClient.insert`, made on the way, in batches of the same size from as many threads; the
same searches by `MilvusClient.search`, in calls of the same size from as many threads.

    python benchmarks/bench_milvus.py --sizes 20000x384 [--image milvusdb/milvus:v2.3.5]
"""

from __future__ import annotations

import concurrent.futures
import contextlib

import common
from pymilvus import MilvusClient

from memregress import instances, replay
from memregress.backends import milvus, registry
from memregress.backends.milvus import connection, indexing, searching
from memregress.backends.milvus.collection import OWN
from memregress.backends.milvus.rows import NEVER, parts
from memregress.clock import Clock
from memregress.golden import GoldenSet
from memregress.model import MemoryBatch, QueryBatch

CONNECTIONS = 4
PROBES = 5_000
K = 10


class Bench:
    """One golden set on one server."""

    def __init__(self, url: str, golden: GoldenSet, index: str) -> None:
        self.golden = golden
        self.options = milvus.Options(connections=CONNECTIONS, index=index)
        self.backend = milvus.connect(url, space="bench", shape=golden.shape, options=self.options)
        self.client: MilvusClient = connection.connect(url)
        self.width = 1 if connection.is_lite(url) else CONNECTIONS
        self.batches = list(golden.batches(size=replay.LOAD_BATCH))
        self.probes = min(PROBES, len(golden))

    def close(self) -> None:
        self.backend.drop()
        self.backend.close()
        self.client.close()

    def load(self) -> float:
        """Our inserts into a fresh collection, without the index."""
        self.backend.drop()
        self.backend.create()
        clock = Clock(common.quiet)
        batches = self.golden.batches(size=replay.LOAD_BATCH)
        return common.timed(lambda: self.backend.load(clock.track("load", batches, len(self.golden))))

    def load_bare(self) -> float:
        """The same rows by pymilvus."""
        if self.client.has_collection("floor"):
            self.client.drop_collection("floor")
        pool = self.backend._pool  # noqa: SLF001
        indexing.create(pool, "floor", self.options, dimensions=self.golden.shape.dimensions)
        seconds = common.timed(
            lambda: self.spread(lambda batch: self.client.insert("floor", plain(batch)), self.batches)
        )
        self.client.drop_collection("floor")
        return seconds

    def replay(self) -> float:
        """Our self-probes, as arrays; nothing is compared."""

        def ask_all() -> None:
            for start in range(0, self.probes, replay.BATCH):
                rows = range(start, min(start + replay.BATCH, self.probes))
                count = len(rows)
                queries = QueryBatch(
                    vectors=self.golden.vectors(rows), users=[None] * count, filters=[None] * count, k=[K] * count
                )
                replay.answers(self.golden, self.backend.search(queries), start)

        return common.timed(ask_all)

    def search_bare(self) -> float:
        """The same searches by pymilvus."""
        vectors = list(self.golden.vectors(range(self.probes)))
        mode = self.backend._mode()  # noqa: SLF001

        def ask(chunk: list[object]) -> None:
            answers = self.client.search(
                "bench",
                data=chunk,
                anns_field="embedding",
                limit=K,
                output_fields=["id"],
                search_params={"params": dict(mode.parameters)},
                consistency_level=mode.consistency,
            )
            assert all([(hit["id"], hit["distance"]) for hit in hits] for hits in answers)  # which it decodes when read

        return common.timed(lambda: self.spread(ask, list(parts(vectors, searching.TOGETHER))))

    def spread(self, task: object, chunks: list[object]) -> None:
        """Call for each chunk, from as many threads as the backend has."""
        with concurrent.futures.ThreadPoolExecutor(self.width) as threads:
            for done in [threads.submit(task, chunk) for chunk in chunks]:
                done.result()


def plain(batch: MemoryBatch) -> list[dict[str, object]]:
    """The rows of a batch as any client makes them: no labels, and no look at what is too long."""
    columns = (batch.ids, batch.users, batch.contents, batch.vectors, batch.created_at, batch.metadata)
    return [
        {
            "id": id_, "user_id": user or "", "content": content, "embedding": vector, "metadata": metadata,
            "created_at": round(created.timestamp() * 1e6), "expires_at": NEVER, OWN: {},
        }
        for id_, user, content, vector, created, metadata in zip(*columns, strict=True)
    ]  # fmt: skip


def measure(url: str, golden: GoldenSet, index: str) -> list[object]:
    with contextlib.closing(Bench(url, golden, index)) as bench:
        load = common.best({"floor": bench.load_bare, "ours": bench.load})
        seconds = common.timed(bench.backend.index)
        search = common.best({"ours": bench.replay, "floor": bench.search_bare})
        probes = bench.probes
    return [
        f"{len(golden):,} x {golden.shape.dimensions:,} {index}",
        f"{len(golden) / load['ours']:,.0f}/s",
        f"{load['ours'] / load['floor']:.2f}",
        f"{seconds:.1f} s",
        f"{probes / search['ours']:,.0f}/s",
        f"{search['ours'] / search['floor']:.2f}",
    ]


def main() -> None:
    parser = common.arguments(__doc__ or "")
    parser.add_argument("--image", help="a container in place of Milvus Lite")
    parser.add_argument("--indexes", type=lambda text: text.split(","), default=["hnsw"], help="hnsw,flat,…")
    given = parser.parse_args()
    columns = ["set", "load", "of pymilvus (≤ 1.15)", "index", "replay", "of pymilvus (≤ 1.15)"]
    rows = []
    with instances.open(instances.choose(registry.find("milvus"), image=given.image, embedded=not given.image)) as url:
        for memories, dimensions in given.sizes:
            golden = common.made(given.scratch, memories, dimensions)
            for index in given.indexes:
                rows.append(measure(url, golden, index))
                common.show("Milvus, times as ratios to bare pymilvus in the same run", columns, rows)


if __name__ == "__main__":
    main()
