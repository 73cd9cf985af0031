"""Faults of Milvus: calls that a client, a migration or an operator made."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from pymilvus import MilvusClient

from memregress.backends.milvus import connection
from memregress.golden import GoldenSet
from memregress.model import Verdict
from memregress.testing.faults.fault import Fault, Place, all_of, only

Harm = Callable[[Place, GoldenSet], None]


@contextlib.contextmanager
def client(place: Place) -> Iterator[MilvusClient]:
    """Open a client of the store."""
    opened = connection.connect(place.url)
    try:
        yield opened
    finally:
        opened.close()


def settled(opened: MilvusClient, place: Place) -> None:
    """Ask at `Strong`, so that what was written is there when the replay begins."""
    opened.query(place.space, filter="", output_fields=["count(*)"], consistency_level="Strong")


def upserted(id_: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Harm:
    """Write one row anew."""

    def harm(place: Place, _: GoldenSet) -> None:
        with client(place) as opened:
            (row,) = opened.query(place.space, filter=f'id == "{id_}"', output_fields=["*"], consistency_level="Strong")
            opened.upsert(place.space, [change(dict(row))])
            settled(opened, place)

    return harm


def deleted(place: Place, _: GoldenSet) -> None:
    """Delete a row by its key."""
    with client(place) as opened:
        opened.delete(place.space, ids=["m-000042"])
        settled(opened, place)


def inserted_again(place: Place, _: GoldenSet) -> None:
    """Insert a user's rows four times more: no primary key is looked for."""
    with client(place) as opened:
        rows = opened.query(place.space, filter='user_id == "u_0013"', output_fields=["*"], consistency_level="Strong")
        for _again in range(4):
            opened.insert(place.space, [dict(row) for row in rows])
        settled(opened, place)


def reindexed(place: Place, _: GoldenSet) -> None:
    """Drop the index and create it with another metric."""
    with client(place) as opened:
        opened.release_collection(place.space)
        (name,) = opened.list_indexes(place.space)
        opened.drop_index(place.space, name)
        params = MilvusClient.prepare_index_params()
        params.add_index("embedding", index_type="FLAT", metric_type="L2")
        opened.create_index(place.space, params)
        opened.load_collection(place.space)
        settled(opened, place)


def released(place: Place, _: GoldenSet) -> None:
    """Take the collection out of memory."""
    with client(place) as opened:
        opened.release_collection(place.space)


U = Verdict.UNREACHABLE
LITE = "milvus embedded"

FAULTS: tuple[Fault, ...] = (
    Fault(name="healthy-ivf", story="nothing is wrong, in lists that are all searched", golden="shared",
          fill={"index": "ivf_flat", "nlist": 32}, options={"nprobe": 32}),
    Fault(name="row-deleted", story="a row was deleted", verdict=Verdict.MISSING, cause="MR202", rows=only(42),
          harm=deleted),
    Fault(name="vector-upserted", story="a row was written again with another vector", verdict=Verdict.ALTERED,
          cause="MR209", rows=only(42),
          harm=upserted("m-000042", lambda row: {**row, "embedding": np.abs(row["embedding"]).tolist()})),
    Fault(name="user-upserted", story="a row was written again for another user", verdict=Verdict.ALTERED,
          cause="MR210", rows=only(42), harm=upserted("m-000042", lambda row: {**row, "user_id": "u_0001"})),
    Fault(name="inserted-again", story="rows were inserted again under their primary keys", cause="MR601",
          verdict=U, harm=inserted_again,
          cannot={LITE: "Milvus Lite replaces the row of a primary key that is there"}),
    Fault(name="wrong-metric", story="the index was created with another metric", cause="MR102", rows=all_of,
          harm=reindexed),
    Fault(name="few-probes", story="one of 128 lists is searched", cause="MR702", golden="shared", verdict=U,
          fill={"index": "ivf_flat"}, options={"nprobe": 1}),
    Fault(name="poor-graph", story="a graph of few edges, searched with few candidates", cause="MR702",
          also=("MR705",), golden="shared", fill={"index": "hnsw", "m": 4, "ef_construction": 8},
          options={"ef": 10}, settings={"max_index_misses": 0.0}),
    Fault(name="collection-released", story="the collection was released, and serves no search", error="not loaded",
          harm=released),
)  # fmt: skip
