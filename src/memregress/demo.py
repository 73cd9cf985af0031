"""The incident memregress exists for, told on a real PostgreSQL with pgvector that needs no Docker.

A migration copied a support bot's memories and left one vector out. Twenty conversations were spot-checked and fine.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from memregress import golden, instances, pipeline, replay, report
from memregress.backends import registry
from memregress.clock import Clock
from memregress.clock import Report as Listener
from memregress.golden import GoldenSet
from memregress.model import QueryBatch
from memregress.render import console as renderer
from memregress.render import terminal

GOLDEN = Path(__file__).parent / "data" / "support-bot"
SPACE = "support_bot"
SPOT_CHECKS = 20
CAUSE = "MR201"


def tell(console: Console, *, progress: Listener) -> bool:
    """Play the incident and return whether the replay named exactly the memory that was lost, and its cause."""
    import psycopg2  # noqa: PLC0415  a driver is imported when it is used

    memories = golden.open(GOLDEN)
    victim = _victim(memories)
    target = instances.choose(registry.find("pgvector"), embedded=True)
    with instances.open(target) as url:
        _migrate(memories, url, progress)
        with contextlib.closing(psycopg2.connect(url)) as connection, connection, connection.cursor() as cursor:
            cursor.execute(f"UPDATE {SPACE}.memories SET embedding = NULL WHERE id = %s", [memories.ids[victim]])  # noqa: S608
        _say(console, f"Migrated {len(memories):,} memories of a support bot to PostgreSQL + pgvector.")
        found = _spot_check(memories, url, victim)
        _say(console, f"Spot-checked {SPOT_CHECKS} conversations by hand: {found} of {SPOT_CHECKS} found. Ship it?")
        _say(console, "memregress replays all of them:")
        document = pipeline.check(_request(url), progress=progress)
    renderer.show(document, console)
    return _proven(document, memories.ids[victim], console)


def _victim(memories: GoldenSet) -> int:
    """The order that production would forget at 2 a.m.: the first one that is late."""
    for batch in memories.batches():
        for id_, content, metadata in zip(batch.ids, batch.contents, batch.metadata, strict=True):
            if metadata.get("order_id") and content.startswith("Order") and "late" in content:
                return memories.row_of[id_]
    return 0


def _options() -> Any:
    """What the application searches with: enough that no filter starves, so that only the lost vector is missed."""
    settings = {"hnsw.ef_search": 200, "hnsw.iterative_scan": "strict_order"}
    return registry.find("pgvector").load().Options(settings=settings)


def _request(url: str) -> pipeline.Request:
    entry = registry.find("pgvector")
    return pipeline.Request(
        golden=GOLDEN,
        target=instances.choose(entry, url=url),
        options=_options(),
        space=SPACE,
        in_place=True,
        fail_on=report.FailOn.ANY,
    )


def _migrate(memories: GoldenSet, url: str, progress: Listener) -> None:
    module = registry.find("pgvector").load()
    with contextlib.closing(
        module.connect(url, space=SPACE, shape=memories.shape, options=_options(), in_place=False)
    ) as backend:
        backend.create()
        replay.load(memories, backend, Clock(progress))


def _spot_check(memories: GoldenSet, url: str, victim: int) -> int:
    """Ask the store for twenty memories, as a person would try a few; none of them is the one that was lost."""
    rows = [row for row in np.linspace(0, len(memories) - 1, SPOT_CHECKS + 1).astype(int).tolist() if row != victim]
    rows = rows[:SPOT_CHECKS]
    queries = QueryBatch(
        vectors=memories.vectors(rows),
        users=[memories.users[row] for row in rows],
        filters=[None] * len(rows),
        k=[5] * len(rows),
    )
    module = registry.find("pgvector").load()
    with contextlib.closing(
        module.connect(url, space=SPACE, shape=memories.shape, options=_options(), in_place=True)
    ) as backend:
        hits = backend.search(queries)
    return sum(memories.ids[row] in ids for row, ids in zip(rows, hits.ids, strict=True))


def _proven(document: report.Report, victim: str, console: Console) -> bool:
    broken = [(memory.id, memory.cause) for memory in document.memories if memory.verdict.broken]
    if broken == [(victim, CAUSE)]:
        _say(
            console,
            "One memory in thousands, its cause and its remedy. In your CI this run would have failed (exit 1).",
        )
        return True
    _say(
        console, f"The demo failed: {terminal.plain(victim)} should be broken by {CAUSE}, found {len(broken)} memories."
    )
    return False


def _say(console: Console, text: str) -> None:
    console.print(f"» {text}", style="bold", highlight=False, markup=False)
