"""Writes the golden set of this folder: what a made-up support bot remembers, and what its customers ask.

    python examples/support-bot/generate.py            writes golden/ anew
    python examples/support-bot/generate.py --check    compares golden/ with what would be written

Texts come from the modules beside this one and a fixed seed, so they are the same everywhere. Vectors come from the
model `wordllama` (256 dimensions, MIT, weights in its wheel); their last digits depend on numpy's build, so `--check`
compares texts exactly and vectors within 1e-5.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import customers
import memories
import msgspec
import numpy as np
import questions
from dice import Dice

from memregress import golden
from memregress.golden import expecting, incoming
from memregress.model import Memory, MemoryBatch, Metric, Query

HERE = Path(__file__).parent
TARGET = (HERE / "golden").resolve()  # a link: the set lies in the package, where `memregress demo` finds it
SEED = 20_260_630
QUERIES = 400


def embed(texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """float32[n, 256] of length 1; equal texts get equal vectors, whatever batch they are in."""
    import wordllama  # noqa: PLC0415  not needed to read this module

    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    distinct = {text: position for position, text in enumerate(dict.fromkeys(texts))}
    vectors = model.embed(list(distinct), norm=True)
    return vectors[[distinct[text] for text in texts]].astype(np.float32)


def generate(target: Path) -> None:
    """Write the golden set into a new folder."""
    dice = Dice(SEED)
    people = customers.customers(dice)
    by_user = {who.id: list(memories.memories_of(dice, who, count)) for who, count in people}
    kept = sorted((item for own in by_user.values() for item in own), key=lambda item: (item.created_at, item.id))
    orders = {who.id: {order.id: order for order in who.orders} for who, _ in people}
    asked = [
        questions.question(dice, number, about, by_user[str(about.user)], orders[str(about.user)])
        for number, about in enumerate((dice.pick(kept) for _ in range(QUERIES)), start=1)
    ]
    vectors, query_vectors = embed([item.content for item in kept]), embed([str(query.text) for query in asked])
    bounded = bound(dice, asked, vectors, query_vectors, kept)
    write(target, incoming.batch(kept, vectors), list(zip(bounded, query_vectors, strict=True)))


def bound(dice: Dice, asked: Sequence[Query], vectors: Any, query_vectors: Any, kept: list[Memory]) -> Iterator[Query]:
    """Give some queries a threshold that no memory is near, and some a neighbour's memory that must not show up."""
    users = np.array([item.user for item in kept])
    similar = query_vectors @ vectors.T
    for row, query in enumerate(asked):
        mine = np.sort(similar[row][users == query.user])[::-1][: query.k]
        changes: dict[str, Any] = {}
        if query.filter is None and dice.chance(0.3):
            quiet = [t for t in (0.45, 0.4, 0.35, 0.3, 0.25) if mine[0] > t and np.abs(mine - t).min() > 0.004]
            changes["min_similarity"] = quiet[0] if quiet else None
        if dice.chance(0.15):
            foreign = np.where(users == query.user, -1, similar[row])
            changes["forbidden"] = [kept[int(foreign.argmax())].id]
        yield msgspec.structs.replace(query, **changes)


def write(target: Path, batch: MemoryBatch, asked: Sequence[tuple[Query, Any]]) -> None:
    """Write memories and queries; what the queries must find is exact search's answer."""
    facts: dict[str, Any] = {
        "name": "support-bot",
        "created_at": customers.CAPTURED_AT,
        "captured_at": customers.CAPTURED_AT,
        "vectors": golden.Vectors(
            dimensions=256, metric=Metric.COSINE, model="wordllama l2_supercat, 256 dimensions", normalized=True
        ),
        "memories": [batch],
        "source": {"generator": "examples/support-bot/generate.py", "note": "every name in it is invented"},
    }
    with tempfile.TemporaryDirectory() as scratch:
        golden.write(Path(scratch) / "memories", **facts)
        answered = expecting.exact(golden.open(Path(scratch) / "memories"), asked, rank_slack=2)
    golden.write(target, **facts, queries=answered)


def differences(shipped: Path, fresh: Path) -> Iterator[str]:
    """What is not as it would be generated: texts exactly, vectors nearly, expectations by what they rest on."""
    old, new = golden.open(shipped), golden.open(fresh)
    if (shipped / "memories.jsonl").read_bytes() != (fresh / "memories.jsonl").read_bytes():
        yield "memories.jsonl"
    elif not np.allclose(old.vectors(range(len(old))), new.vectors(range(len(new))), atol=1e-5):
        yield "memories.npy"
    names = ("id", "text", "user", "filter", "k", "labels", "min_similarity", "forbidden")
    stable = [[[getattr(query, name) for name in names] for query in opened.queries] for opened in (old, new)]
    if stable[0] != stable[1]:
        yield "queries.jsonl"
    elif not np.allclose(old.query_vectors, new.query_vectors, atol=1e-5):
        yield "queries.npy"


def main(arguments: Sequence[str]) -> int:
    """Write, or compare; returns the exit code."""
    with tempfile.TemporaryDirectory(dir=HERE) as scratch:
        fresh = Path(scratch) / "golden"
        generate(fresh)
        if "--check" in arguments:
            found = list(differences(TARGET, fresh))
            print("not as generated: " + ", ".join(found) if found else "golden/ is as generated")
            return bool(found)
        shutil.rmtree(TARGET, ignore_errors=True)
        fresh.rename(TARGET)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
