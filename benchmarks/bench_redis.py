"""Redis: loading, indexing and replaying beside a bare redis-py pipeline, in one run on an embedded server.

Floors: the same HSETs in redis-py pipelines of the same length, over the same number of connections, with the bytes of
the vector and the JSON of the metadata made on the way, as any client must, and all else beforehand; the same FT.CREATE
by hand, until FT.INFO says that all is indexed; the same FT.SEARCH commands, made beforehand, in redis-py pipelines
over the same number of connections.

    python benchmarks/bench_redis.py --sizes 20000x384,20000x1536
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import time
from collections.abc import Callable, Iterator

import common
import numpy as np
import redis as driver

from memregress import instances, replay
from memregress.backends import redis, registry
from memregress.backends.redis import keys, searching
from memregress.clock import Clock
from memregress.golden import GoldenSet
from memregress.model import QueryBatch

CONNECTIONS = 2
PROBES = 5_000
QUERIES = 1_000
PROBE_K = 10
LOADS = 10
"""Loading takes a fraction of a second, so that a neighbour's burst spoils it whole: it is measured more often."""

Write = tuple[str, dict[str, object], np.ndarray, dict[str, object]]
"""A key, its fields, and what two of them are made of: the vector and the metadata."""


class Bench:
    """One golden set on one server."""

    def __init__(self, url: str, golden: GoldenSet, index: str) -> None:
        self.golden = golden
        options = redis.Options(connections=CONNECTIONS, index=index)
        self.backend = redis.connect(url, space="bench", shape=golden.shape, options=options)
        self.clients = [driver.Redis.from_url(url, protocol=3) for _ in range(CONNECTIONS)]
        self.probes = min(PROBES, len(golden))
        self.written = self.writes()

    def close(self) -> None:
        for client in self.clients:
            client.delete(*(client.keys("floor:*") or ["floor"]))
            client.close()
        self.backend.drop()
        self.backend.close()

    def writes(self) -> list[list[Write]]:
        """Keys and fields of our own writes, under another prefix."""
        chunks = []
        for batch in self.golden.batches(size=replay.LOAD_BATCH):
            commands = self.backend._documents.write(batch, [f"floor:{id_}" for id_ in batch.ids])  # noqa: SLF001
            fields = [dict(zip(command[2::2], command[3::2], strict=True)) for command in commands]
            rows = list(zip(commands, fields, batch.vectors, batch.metadata, strict=True))
            writes = [(command[1], pairs, vector, metadata) for command, pairs, vector, metadata in rows]
            chunks += [writes[start : start + keys.PART] for start in range(0, len(writes), keys.PART)]
        return chunks

    def searches(self) -> list[list[tuple]]:
        """Our own searches: self-probes, then queries."""
        wanted = [
            (vector.tobytes(), k) for batch in self.batches() for vector, k in zip(batch.vectors, batch.k, strict=True)
        ]
        ef = f" EF_RUNTIME {self.backend._ef}" if self.backend._ef else ""  # noqa: SLF001
        shown = ("SORTBY", searching.DISTANCE, "LIMIT", 0)
        commands = [
            ("FT.SEARCH", "bench", f"(*)=>[KNN {k} @embedding $v{ef} AS {searching.DISTANCE}]", "PARAMS", 2, "v", blob,
             *shown, k, "RETURN", 1, searching.DISTANCE, "DIALECT", 2)
            for blob, k in wanted
        ]  # fmt: skip
        return [commands[start : start + searching.PIPELINE] for start in range(0, len(commands), searching.PIPELINE)]

    def load(self) -> float:
        """Our writes into a fresh space, without the index."""
        self.backend.drop()
        self.backend.create()
        clock = Clock(common.quiet)
        batches = self.golden.batches(size=replay.LOAD_BATCH)
        return common.timed(lambda: self.backend.load(clock.track("load", batches, len(self.golden))))

    def load_bare(self) -> float:
        """The same documents by redis-py, on as many connections."""
        self.clients[0].delete(*(self.clients[0].keys("floor:*") or ["floor"]))
        return common.timed(lambda: self.spread(self.written, write))

    def build(self) -> float:
        """Our index, until all is in it."""
        with contextlib.suppress(driver.ResponseError):
            self.clients[0].execute_command("FT.DROPINDEX", "bench")
        return common.timed(self.backend.index)

    def build_by_hand(self) -> float:
        """The same index over the floor's keys."""
        client = self.clients[0]
        creation = ["floor:" if word == "bench:" else word for word in self.backend._creation("floor")]  # noqa: SLF001

        def build() -> None:
            client.execute_command(*creation)
            while documents_in(client, "floor") < len(self.golden):
                time.sleep(0.02)

        seconds = common.timed(build)
        client.execute_command("FT.DROPINDEX", "floor")
        return seconds

    def replay(self) -> float:
        """Our self-probes and queries, as arrays; nothing is compared."""

        def ask_all() -> None:
            for batch in self.batches():
                replay.answers(self.golden, self.backend.search(batch))

        return common.timed(ask_all)

    def batches(self) -> Iterator[QueryBatch]:
        """Self-probes, then queries."""
        for start in range(0, self.probes, replay.BATCH):
            rows = range(start, min(start + replay.BATCH, self.probes))
            yield together(self.golden.vectors(rows), [PROBE_K] * len(rows))
        yield together(self.golden.query_vectors[:], [query.k for query in self.golden.queries])

    def search_bare(self) -> float:
        """The same searches by redis-py, on as many connections."""
        chunks = self.searches()
        return common.timed(lambda: self.spread(chunks, ask))

    def spread(self, chunks: list[list[tuple]], add: Callable[[object, tuple], object]) -> None:
        """Send chunks by pipelines, a thread a connection."""

        def work(client: driver.Redis, share: list[list[tuple]]) -> None:
            for chunk in share:
                pipeline = client.pipeline(transaction=False)
                for command in chunk:
                    add(pipeline, command)
                pipeline.execute()

        with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as threads:
            shares = [chunks[number::CONNECTIONS] for number in range(CONNECTIONS)]
            for done in [threads.submit(work, *pair) for pair in zip(self.clients, shares, strict=True)]:
                done.result()


def write(pipeline: driver.client.Pipeline, memory: Write) -> None:
    key, fields, vector, metadata = memory
    pipeline.hset(key, mapping={**fields, "embedding": vector.tobytes(), "metadata": json.dumps(metadata)})


def ask(pipeline: driver.client.Pipeline, command: tuple) -> None:
    pipeline.execute_command(*command)


def together(vectors: np.ndarray, k: list[int]) -> QueryBatch:
    """Searches of everything."""
    return QueryBatch(vectors=vectors, users=[None] * len(k), filters=[None] * len(k), k=k)


def documents_in(client: driver.Redis, index: str) -> int:
    return int(client.execute_command("FT.INFO", index)[b"num_docs"])


def measure(url: str, golden: GoldenSet, index: str) -> list[object]:
    with contextlib.closing(Bench(url, golden, index)) as bench:
        load = common.best({"ours": bench.load, "floor": bench.load_bare}, repeats=LOADS)
        build = common.best({"floor": bench.build_by_hand, "ours": bench.build})
        search = common.best({"ours": bench.replay, "floor": bench.search_bare})
        searches = bench.probes + len(golden.queries)
    command = ["-m", "memregress", "replay", str(golden.path), "--backend", "redis", "--url", url]
    peak, code = common.anonymous_peak(command)
    return [
        f"{len(golden):,} x {golden.shape.dimensions:,} {index}",
        f"{len(golden) / load['ours']:,.0f}/s",
        f"{load['ours'] / load['floor']:.2f}",
        f"{build['ours'] / build['floor']:.2f} ({build['ours']:.1f} s)",
        f"{searches / search['ours']:,.0f}/s",
        f"{search['ours'] / search['floor']:.2f}",
        f"{peak:.0f} MB (exit {code})",
    ]


def main() -> None:
    parser = common.arguments(__doc__ or "")
    parser.add_argument("--image", help="a container in place of the embedded server")
    parser.add_argument("--indexes", type=lambda text: text.split(","), default=["hnsw"], help="hnsw,flat")
    given = parser.parse_args()
    columns = [
        "set",
        "load",
        "of redis-py (≤ 1.15)",
        "build, of by hand (≤ 1.1)",
        "replay",
        "of redis-py (≤ 1.15)",
        "peak",
    ]
    rows = []
    with instances.open(instances.choose(registry.find("redis"), image=given.image, embedded=not given.image)) as url:
        for memories, dimensions in given.sizes:
            golden = common.made(given.scratch, memories, dimensions, queries=QUERIES)
            for index in given.indexes:
                rows.append(measure(url, golden, index))
                common.show("Redis, times as ratios to the floor in the same run", columns, rows)


if __name__ == "__main__":
    main()
