"""Inject the fault of each cause into a real store and put what memregress says into its page.

The store is PostgreSQL with pgvector, or Redis where only that has the fault.

    .venv/bin/python docs/causes/regenerate.py [NAME …]

Golden sets come from a fixed seed, so the memories named are the same every time. HNSW and IVFFlat indexes are built
with random numbers, so how many memories they miss is not.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import psycopg2
import redis
from rich.console import Console

from memregress import diagnose, instances, pipeline, replay, selftest, settings
from memregress.backends import registry
from memregress.clock import Clock
from memregress.golden import GoldenSet, write
from memregress.golden import open as open_golden
from memregress.model import Expected, MemoryBatch, Progress, Query
from memregress.render import console as renderer
from memregress.report import FailOn, Report
from memregress.testing import faults, sets

PAGES = Path(__file__).parent
SPACE = "app"
WIDTH = 116
BLOCK = re.compile(r"(<!-- output:begin[^>]*-->\n).*?(<!-- output:end -->)", re.DOTALL)
TABLE = (
    "CREATE TABLE memories (id text PRIMARY KEY, user_id text, content {content}, embedding vector({dimensions}),"
    " created_at timestamptz, expires_at timestamptz, metadata jsonb);"
)
HNSW = "CREATE INDEX memories_embedding_idx ON memories USING hnsw (embedding vector_cosine_ops);"
IVF = "CREATE INDEX memories_embedding_idx ON memories USING ivfflat (embedding vector_cosine_ops) WITH (lists = 64);"

SETS: Mapping[str, dict[str, Any]] = {
    # The planner answers these without the vector index: each user has twenty memories.
    "small": {},
    # No users: every search goes through the vector index.
    "shared": {"memories": 4_000, "users": 0, "lifetimes": False, "dimensions": 48},
    # Few clusters, many users: the nearest memories mostly belong to others.
    "crowded": {
        "memories": 4_000,
        "users": 100,
        "lifetimes": False,
        "dimensions": 48,
        "clusters": 3,
        "queries": 40,
    },
    # No users and no queries; three quarters of the memories get one vector, see `templated`.
    "templated": {"memories": 4_000, "users": 0, "lifetimes": False, "queries": 0},
    # Two users whose names differ in case only, see `twins`.
    "twins": {"memories": 40, "users": 2, "lifetimes": False, "queries": 0},
}


@dataclass(frozen=True, kw_only=True)
class Fault:
    """How a store is broken: SQL run after loading, or settings, DDL and queries that do it."""

    golden: str = "small"
    sql: Callable[[GoldenSet], Sequence[str]] = lambda _: ()
    queries: Callable[[GoldenSet], Sequence[Query]] | None = None
    ddl: str | None = None
    fill: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    in_place: bool = True
    redis: Sequence[Sequence[Any] | Callable[[redis.Redis], object]] = ()
    """Commands, or functions, of a fault that only Redis has."""
    meanwhile: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Commands to Redis, each sent when a stage begins."""


def statement(text: str) -> Callable[[GoldenSet], Sequence[str]]:
    """Make a fault of one or more statements that need nothing of the golden set."""
    return lambda _: [text]


def embed(id_: str, vector: Sequence[float] | np.ndarray) -> str:
    """Give a memory another vector."""
    text = "[" + ",".join(repr(float(component)) for component in vector) + "]"
    return f"UPDATE memories SET embedding = '{text}' WHERE id = '{id_}'"


def padded(golden: GoldenSet) -> Sequence[str]:
    """Cut a vector at three quarters and fill it up with zeros."""
    vector = golden.vectors([42])[0].copy()
    vector[24:] = 0
    return [embed("m-000042", vector)]


def swapped(golden: GoldenSet) -> Sequence[str]:
    """Let two memories hold each other's vectors."""
    one, other = golden.vectors([10, 20])
    return [embed("m-000010", other), embed("m-000020", one)]


def through_index(**given: Any) -> dict[str, Any]:
    """Options of an application whose table is too large for plain scans, as production's is."""
    return {"settings": {"enable_seqscan": False, **{name.replace("__", "."): value for name, value in given.items()}}}


def changed(**fields: Any) -> Callable[[GoldenSet], Sequence[Query]]:
    """Keep the first query only, with other fields."""
    return lambda golden: [msgspec.structs.replace(golden.queries[0], **fields)]


def one_decimal(golden: GoldenSet) -> Sequence[Query]:
    """Record the first query's similarities to one decimal."""
    query = golden.queries[0]
    return [
        msgspec.structs.replace(
            query,
            expected=[
                msgspec.structs.replace(item, similarity=round(item.similarity or 0, 1)) for item in query.expected
            ],
        )
    ]


def out_of_reach(golden: GoldenSet) -> Sequence[Query]:
    """Expect a memory that is far from the query, and say that it was near."""
    query = golden.queries[0]
    near = {item.id for item in query.expected}
    far = next(
        id_ for id_, user in zip(golden.ids, golden.users, strict=True) if user == query.user and id_ not in near
    )
    return [msgspec.structs.replace(query, expected=[Expected(id=far, similarity=0.99)])]


def without_case(client: redis.Redis) -> None:
    """Let the index filter by the application's own users, and fold their case."""
    client.execute_command("FT.DROPINDEX", SPACE)
    vector = ("embedding", "VECTOR", "FLAT", 6, "TYPE", "FLOAT32", "DIM", 32, "DISTANCE_METRIC", "COSINE")
    client.execute_command("FT.CREATE", SPACE, "PREFIX", 1, f"{SPACE}:", "SCHEMA", "user_id", "TAG", *vector)


def run_short(client: redis.Redis) -> None:
    """Let the server throw some memories out, and keep its policy."""
    used = client.info()["used_memory"]
    client.config_set("maxmemory-policy", "allkeys-random")
    client.config_set("maxmemory", used - 20_000)
    with contextlib.suppress(redis.exceptions.OutOfMemoryError):
        client.set("one more", "x")
    client.config_set("maxmemory", 2 * used)


def expire_others(client: redis.Redis) -> None:
    """Let documents beside a memory be over, and not swept yet."""
    client.config_set("hz", 1)
    document = client.hgetall(f"{SPACE}:m-000042")
    for number in range(10):
        client.hset(f"{SPACE}:old-{number}", mapping=document)
        client.pexpire(f"{SPACE}:old-{number}", 1)


def write_elsewhere(client: redis.Redis) -> None:
    """Write another vector under the same key in another database of the server."""
    document = client.hgetall(f"{SPACE}:m-000042")
    document[b"embedding"] = np.random.default_rng(9).standard_normal(32).astype("<f4").tobytes()
    path = client.get_connection_kwargs()["path"]
    with contextlib.closing(redis.Redis(unix_socket_path=path, db=1)) as staging:
        staging.hset(f"{SPACE}:m-000042", mapping=document)


def forbidding(golden: GoldenSet) -> Sequence[Query]:
    """Let the first query forbid the third memory it finds."""
    query = golden.queries[0]
    return [msgspec.structs.replace(query, expected=query.expected[:2], forbidden=[query.expected[2].id])]


def by_topic(golden: GoldenSet) -> Sequence[Query]:
    """Let queries ask within the topic of the memory they are after; what they expect is what is left."""
    topic = {
        id_: metadata["topic"]
        for batch in golden.batches()
        for id_, metadata in zip(batch.ids, batch.metadata, strict=True)
    }
    queries = []
    for query in golden.queries[:5]:
        wanted = topic[query.expected[0].id]
        kept = [
            msgspec.structs.replace(item, max_rank=rank)
            for rank, item in enumerate((e for e in query.expected if topic[e.id] == wanted), start=1)
        ]
        queries.append(msgspec.structs.replace(query, filter={"topic": wanted}, expected=kept))
    return queries


FAULTS: Mapping[str, Fault | str] = {
    "document-refused": Fault(redis=[["HSET", f"{SPACE}:m-000042", "embedding", b"0.1, 0.2, 0.3"]]),
    "stored-elsewhere": Fault(redis=[["RENAME", f"{SPACE}:m-000042", "memory:m-000042"]]),
    "evicted": Fault(redis=[run_short]),
    "gone-meanwhile": Fault(redis=[["PING"]], meanwhile={"probe": ["UNLINK", f"{SPACE}:m-000042"]}),
    "found-later": Fault(
        redis=[["PING"]],
        meanwhile={
            "probe": ["RENAME", f"{SPACE}:m-000042", "m-000042"],
            "evidence": ["RENAME", "m-000042", f"{SPACE}:m-000042"],
        },
    ),
    "users-folded": Fault(golden="twins", redis=[without_case], options={"fields": {"metadata": "", "created_at": ""}}),
    "ghosts-returned": Fault(redis=[expire_others]),
    "index-differs": Fault(redis=[write_elsewhere]),
    "dimension-mismatch": Fault(ddl=TABLE.format(content="text", dimensions=48) + HNSW),
    "wrong-metric": Fault(options={"metric": "l2"}),
    "row-rejected": Fault(ddl=TABLE.format(content="varchar(38)", dimensions=32) + HNSW, in_place=False),
    "row-missing": Fault(sql=statement("DELETE FROM memories WHERE id = 'm-000123'")),
    "null-vector": Fault(sql=statement("UPDATE memories SET embedding = NULL WHERE id = 'm-000123'")),
    "zero-vector": Fault(sql=lambda _: [embed("m-000123", [0.0] * 32)]),
    "other-memory": Fault(sql=swapped),
    "vector-resized": Fault(sql=padded),
    "precision-lost": Fault(sql=statement("UPDATE memories SET embedding = embedding::halfvec::vector")),
    "vector-rescaled": Fault(sql=lambda golden: [embed("m-000042", golden.vectors([42])[0] * 3)]),
    "vector-altered": Fault(sql=lambda _: [embed("m-000042", np.random.default_rng(9).standard_normal(32))]),
    "wrong-user": Fault(sql=statement("UPDATE memories SET user_id = 'u_0001' WHERE id = 'm-000042'")),
    "content-changed": Fault(sql=statement("UPDATE memories SET content = '' WHERE id = 'm-000042'")),
    "metadata-changed": Fault(
        sql=statement("""UPDATE memories SET metadata = metadata || '{"number": "42"}' WHERE id = 'm-000042'""")
    ),
    "lifetime-changed": Fault(
        sql=lambda _: [
            "UPDATE memories SET expires_at = expires_at - interval '5 hours' WHERE id = 'm-000007'",
            "UPDATE memories SET expires_at = NULL WHERE id = 'm-000014'",
        ]
    ),
    "forbidden-returned": Fault(queries=forbidding),
    "leaked-across-users": Fault(options={"columns": {"user": ""}}),
    "threshold-cuts": Fault(settings={"min_similarity": 0.25}),
    "duplicated": Fault(
        sql=lambda _: [
            "ALTER TABLE memories DROP CONSTRAINT memories_pkey",
            "INSERT INTO memories SELECT m.* FROM memories m, generate_series(1, 5) WHERE user_id = 'u_0013'",
        ]
    ),
    "crowded-out": Fault(
        sql=statement(
            "INSERT INTO memories SELECT 'imported-' || n, user_id, content, embedding, created_at, expires_at,"
            " metadata FROM memories, generate_series(1, 5) n WHERE id = 'm-000013'"
        )
    ),
    "filter-excludes": Fault(queries=changed(filter={"topic": "nothing"})),
    "index-incomplete": Fault(
        golden="shared",
        # No statement makes an index lose a row, so one is built without it and then told that it is complete.
        sql=lambda _: [
            "DROP INDEX memories_embedding_idx",
            HNSW.rstrip(";") + " WHERE id <> 'm-000123'",
            "UPDATE pg_index SET indpred = NULL WHERE indexrelid = 'memories_embedding_idx'::regclass",
        ],
        options=through_index(hnsw__ef_search=200),
    ),
    "index-stale": Fault(
        golden="shared",
        ddl=TABLE.format(content="text", dimensions=48) + IVF,
        options=through_index(ivfflat__probes=3),
    ),
    "filter-starves": Fault(
        golden="crowded", options=through_index(hnsw__ef_search=40, enable_sort=False, enable_bitmapscan=False)
    ),
    "search-effort": Fault(
        golden="shared", fill={"index": "ivfflat", "lists": 200}, options=through_index(ivfflat__probes=1)
    ),
    "graph-island": Fault(
        golden="templated",
        options=through_index(hnsw__ef_search=200),
    ),
    "outranked": Fault(queries=by_topic, options={"columns": {"metadata": ""}}),
    "similarity-moved": Fault(queries=one_decimal),
    "unexplained": Fault(queries=out_of_reach),
    # Of `memregress selftest`, by name.
    "batch-lost": "batch-dropped",
    "ids-changed": "ids-renamed",
    "vector-transformed": "reversed",
    "vectors-offset": "centred",
    "model-changed": "embedding-broke-off",
    "tenant-mapping": "users-upper-case",
    "expiry-lost": "lifetimes-lost",
    "times-shifted": "time-zone",
    "lifetimes-scaled": "lifetimes-scaled",
    "score-formula": "score-threshold",
    "dead-entries": "dead-entries",
    "created-moved": "times-moved",
    "index-absent": Fault(sql=statement("DROP INDEX memories_embedding_idx")),
    "index-invalid": Fault(
        sql=statement("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'memories_embedding_idx'::regclass")
    ),
    "index-unusable": Fault(
        sql=lambda _: [
            "DROP INDEX memories_embedding_idx",
            "CREATE INDEX by_distance ON memories USING hnsw (embedding vector_l2_ops)",
        ]
    ),
}


def quiet(_: object) -> None:
    """Listen to no progress."""


def inject(fault: Fault, golden: GoldenSet, url: str, folder: Path) -> Report:
    """Fill a store, break it, replay it, and remove what was made."""
    entry = registry.find("pgvector")
    module = entry.load()
    fill: dict[str, Any] = dict(fault.fill)
    if fault.ddl:
        (folder / "schema.sql").write_text(fault.ddl, encoding="utf-8")
        fill["setup"] = [str(folder / "schema.sql")]
    options = dict(fault.options) if fault.in_place else {**fill, **fault.options}
    with contextlib.closing(psycopg2.connect(url)) as connection:
        try:
            if fault.in_place:
                load(golden, url, msgspec.convert(fill, module.Options))
                run(connection, [f"SET LOCAL search_path = {SPACE}, public", *fault.sql(golden)])
            return pipeline.check(
                pipeline.Request(
                    golden=golden.path,
                    target=instances.choose(entry, url=url),
                    options=msgspec.convert(options, module.Options),
                    space=SPACE,
                    in_place=fault.in_place,
                    fail_on=FailOn.ANY,
                    settings=settings.Settings(**fault.settings),
                ),
                progress=quiet,
            )
        finally:
            run(connection, [f"DROP SCHEMA IF EXISTS {SPACE} CASCADE"])


def inject_redis(fault: Fault, golden: GoldenSet) -> Report:
    """Fill a Redis of its own, break it, and replay it."""
    entry = registry.find("redis")
    module = entry.load()
    with (
        instances.open(instances.choose(entry, embedded=True)) as url,
        contextlib.closing(redis.Redis.from_url(url)) as client,
    ):
        load(golden, url, module.Options(), name="redis")
        for command in fault.redis:
            _ = command(client) if callable(command) else client.execute_command(*command)

        waiting = dict(fault.meanwhile)

        def listen(progress: Progress) -> None:
            command = waiting.pop(progress.stage, None)
            if command:
                client.execute_command(*command)

        return pipeline.check(
            pipeline.Request(
                golden=golden.path,
                target=instances.choose(entry, url=url),
                options=msgspec.convert(dict(fault.options), module.Options),
                space=SPACE,
                in_place=True,
                fail_on=FailOn.ANY,
            ),
            progress=listen,
        )


def of_selftest(name: str, url: str, folder: Path) -> Report:
    """Inject a fault that `memregress selftest` knows for every store, or for pgvector."""
    fault = next(fault for fault in faults.of("pgvector") if fault.name == name)
    golden = sets.make(folder / fault.golden, **selftest.SETS[fault.golden])
    target = instances.choose(registry.find("pgvector"), url=url)
    return selftest.inject(fault, target, url, golden, folder, progress=quiet)


def load(golden: GoldenSet, url: str, options: Any, *, name: str = "pgvector") -> None:
    """Fill a store with a golden set."""
    module = registry.find(name).load()
    with contextlib.closing(
        module.connect(url, space=SPACE, shape=golden.shape, options=options, in_place=False)
    ) as backend:
        backend.create()
        replay.load(golden, backend, Clock(quiet))


def run(connection: Any, statements: Sequence[str]) -> None:
    """Send statements in one transaction."""
    with connection, connection.cursor() as cursor:
        for text in statements:
            cursor.execute(text)


def asking(golden: GoldenSet, queries: Sequence[Query], folder: Path) -> GoldenSet:
    """Write the same memories with other queries."""
    write(
        folder,
        name=golden.manifest.name,
        created_at=golden.manifest.created_at,
        captured_at=golden.manifest.captured_at,
        vectors=golden.manifest.vectors,
        memories=golden.batches(),
        queries=zip(queries, golden.query_vectors[: len(queries)], strict=True),
    )
    return open_golden(folder)


def templated(golden: GoldenSet, folder: Path) -> GoldenSet:
    """Give three of four memories one and the same vector, as texts from a template have."""
    one = golden.vectors([0])[0]

    def change(batch: MemoryBatch) -> MemoryBatch:
        vectors = batch.vectors.copy()
        vectors[np.arange(len(batch)) % 4 > 0] = one
        return dataclasses.replace(batch, vectors=vectors)

    return rewritten(golden, folder, change)


def twins(golden: GoldenSet, folder: Path) -> GoldenSet:
    """Call one user like the other, in small letters."""
    names = dict(zip(sorted({*golden.users} - {None}), ("Bob", "bob"), strict=True))
    return rewritten(
        golden, folder, lambda batch: dataclasses.replace(batch, users=[names.get(user) for user in batch.users])
    )


def rewritten(golden: GoldenSet, folder: Path, change: Callable[[MemoryBatch], MemoryBatch]) -> GoldenSet:
    """Write the same memories with other columns, and no queries."""
    write(
        folder,
        name=golden.manifest.name,
        created_at=golden.manifest.created_at,
        captured_at=golden.manifest.captured_at,
        vectors=golden.manifest.vectors,
        memories=map(change, golden.batches()),
        queries=iter(()),
    )
    return open_golden(folder)


def words(report: Report) -> str:
    """Render a report as the console shows it, without the facts of the run below the causes."""
    stream = io.StringIO()
    renderer.show(report, Console(file=stream, width=WIDTH, no_color=True))
    lines = stream.getvalue().splitlines()
    end = next(number for number, line in enumerate(lines) if line.startswith("memories "))
    return "\n".join(lines[:end]).rstrip()


def put(page: Path, output: str) -> None:
    """Replace the output of a page."""
    text = page.read_text(encoding="utf-8")
    page.write_text(BLOCK.sub(lambda match: f"{match[1]}```text\n{output}\n```\n{match[2]}", text), encoding="utf-8")


def show(name: str, url: str, folder: Path) -> str:
    """Inject the fault of a cause into a store, and return what memregress says; files go below `folder`."""
    fault = FAULTS[name]
    if isinstance(fault, str):
        return re.sub(r"selftest_\w{8}", SPACE, words(of_selftest(fault, url, folder)))
    golden = sets.make(folder / fault.golden, **SETS[fault.golden])
    if fault.golden == "templated":
        golden = templated(golden, folder / "one-vector")
    if fault.golden == "twins":
        golden = twins(golden, folder / "two-users")
    if fault.queries:
        golden = asking(golden, fault.queries(golden), folder / "asking")
    return words(inject_redis(fault, golden) if fault.redis else inject(fault, golden, url, folder))


def main(names: Sequence[str]) -> None:
    """Write the pages of the named causes anew, or of all."""
    codes = {rule.name: rule.code for rule in diagnose.RULES}
    target = instances.choose(registry.find("pgvector"), embedded=True)
    with instances.open(target) as url:
        for name in names or FAULTS:
            with tempfile.TemporaryDirectory() as folder:
                output = show(name, url, Path(folder))
            if f"{codes[name]} {name}  " not in output:
                sys.exit(f"{name}: {codes[name]} is not in what memregress says\n{output}")
            put(PAGES / f"{name}.md", output)
            print(f"== {name}\n{output}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
