"""VectorDBBench's pgvector client on given vectors; run by `bench_pgvector.py` with an interpreter that has it.

It loads in batches of 100, as VectorDBBench does, builds its index, and searches from several processes.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import time

import numpy as np
from vectordb_bench.backend.clients.api import MetricType
from vectordb_bench.backend.clients.pgvector.config import PgVectorHNSWConfig
from vectordb_bench.backend.clients.pgvector.pgvector import PgVector
from vectordb_bench.backend.filter import non_filter

BATCH = 100


def client(connect: dict, dimensions: int, *, fresh: bool) -> PgVector:
    case = PgVectorHNSWConfig(
        metric_type=MetricType.COSINE,
        m=16,
        ef_construction=64,
        ef_search=40,
        maintenance_work_mem="1GB",
        max_parallel_workers=1,
    )
    settings = {"connect_config": connect, "table_name": "vectordbbench"}
    return PgVector(dim=dimensions, db_config=settings, db_case_config=case, drop_old=fresh)


def search(connect: dict, path: str, rows: list[int], start: float) -> None:
    vectors = np.load(path, mmap_mode="r")
    database = client(connect, vectors.shape[1], fresh=False)
    with database.init():
        database.prepare_filter(non_filter)
        time.sleep(max(0.0, start - time.time()))
        for row in rows:
            database.search_embedding(vectors[row].tolist(), k=10)


def main() -> None:
    parts, path, searches, processes = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    names = ("host", "port", "user", "dbname", "password")
    connect = {"password": "x"} | {key: parts[key] for key in names if key in parts}
    vectors = np.load(path, mmap_mode="r")
    database = client(connect, vectors.shape[1], fresh=True)
    with database.init():
        started = time.perf_counter()
        for first in range(0, len(vectors), BATCH):
            chunk = vectors[first : first + BATCH].tolist()
            database.insert_embeddings(chunk, list(range(first, first + len(chunk))))
        load = time.perf_counter() - started
        database.optimize()
    rows = list(range(min(searches, len(vectors))))
    seconds = {"serial": searched(connect, path, rows, 1), "search": searched(connect, path, rows, processes)}
    with database.init():
        database._drop_table()  # noqa: SLF001  it has no other way
    print(json.dumps({"load": load, **seconds}))


def searched(connect: dict, path: str, rows: list[int], processes: int) -> float:
    start = time.time() + 3  # when every process has connected
    workers = [
        multiprocessing.Process(target=search, args=(connect, path, rows[number::processes], start))
        for number in range(processes)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.time() - start


if __name__ == "__main__":
    main()
