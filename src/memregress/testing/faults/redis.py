"""Faults of Redis: commands that a client, a migration or an operator ran."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

import redis

from memregress.golden import GoldenSet
from memregress.model import Verdict
from memregress.testing.faults.fault import Fault, Place, all_of, only

KEY = "{space}:m-000042"
Word = str | bytes | int


def commands(*given: Sequence[Word]) -> Callable[[Place, GoldenSet], None]:
    """Send commands; ``{space}`` in their words is the space."""

    def harm(place: Place, _: GoldenSet) -> None:
        with contextlib.closing(redis.Redis.from_url(place.url)) as connection:
            for command in given:
                words = [word.format(space=place.space) if isinstance(word, str) else word for word in command]
                connection.execute_command(*words)  # type: ignore[no-untyped-call]

    return harm


def recreated(*, metric: str = "COSINE", dimensions: int = 32, more: Sequence[Word] = ()) -> Sequence[Sequence[Word]]:
    """Drop the index, documents stay, and create another one."""
    settings: list[Word] = ["TYPE", "FLOAT32", "DIM", dimensions, "DISTANCE_METRIC", metric, *more]
    tags = ("memregress_user", "TAG", "CASESENSITIVE", "memregress_labels", "TAG", "CASESENSITIVE")
    schema: list[Word] = [*tags, "embedding", "VECTOR", "HNSW", len(settings), *settings]
    return (
        ("FT.DROPINDEX", "{space}"),
        ("FT.CREATE", "{space}", "ON", "HASH", "PREFIX", 1, "{space}:", "SCHEMA", *schema),
    )


U, M = Verdict.UNREACHABLE, Verdict.MISSING

FAULTS: tuple[Fault, ...] = (
    Fault(name="healthy-flat", story="nothing is wrong, on a flat index", fill={"index": "flat"}),
    Fault(name="healthy-json", story="nothing is wrong, in JSON documents", fill={"documents": "json"}),
    Fault(name="text-for-bytes", story="a vector was written as text", verdict=U, cause="MR213", rows=only(42),
          harm=commands(("HSET", KEY, "embedding", b"0.1, 0.2, 0.3"))),
    Fault(name="doubles-for-floats", story="a vector was written with 8 bytes a component", verdict=U, cause="MR213",
          rows=only(42), harm=commands(("HSET", KEY, "embedding", bytes(256)))),
    Fault(name="number-as-text", story="a component of a JSON document is a text", verdict=U, cause="MR213",
          rows=only(42), fill={"documents": "json"}, harm=commands(("JSON.SET", KEY, "$.embedding[3]", '"0.5"'))),
    Fault(name="key-deleted", story="a document is gone", verdict=M, cause="MR202", rows=only(42),
          harm=commands(("DEL", KEY))),
    Fault(name="key-elsewhere", story="a document lies outside the index's prefix", verdict=U, cause="MR250",
          rows=only(42), harm=commands(("RENAME", KEY, "elsewhere:m-000042"))),
    Fault(name="field-deleted", story="a document has lost its vector's field", verdict=M, cause="MR201",
          rows=only(42), harm=commands(("HDEL", KEY, "embedding"))),
    Fault(name="wrong-tag", story="the tag that searches filter by is not the user's", verdict=Verdict.HIDDEN,
          cause="MR402", rows=only(42), harm=commands(("HSET", KEY, "memregress_user", "u00"))),
    Fault(name="lifetime-persisted", story="a lifetime was lost when the key was written anew", cause="MR301",
          verdict=Verdict.EXPIRED, rows=only(42), harm=commands(("PERSIST", KEY))),
    Fault(name="wrong-metric", story="the index was created with another metric", cause="MR102", rows=all_of,
          harm=commands(*recreated(metric="L2"))),
    Fault(name="other-dimensions", story="the index was created for another model", cause="MR101", rows=all_of,
          harm=commands(*recreated(dimensions=16))),
    Fault(name="poor-graph", story="a graph of few edges, searched with one candidate", cause="MR702", also=("MR705",),
          golden="shared", settings={"max_index_misses": 0.0},
          harm=commands(*recreated(dimensions=48, more=["M", 4, "EF_CONSTRUCTION", 8, "EF_RUNTIME", 1]))),
    Fault(name="index-gone", story="another client's FLUSHDB dropped the index", error="has no index",
          harm=commands(("FT.DROPINDEX", "{space}"))),
)  # fmt: skip
