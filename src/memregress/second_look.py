"""What the store is asked about broken memories beside the ladder: what is gone by now, or lies where no search looks.

A store changes while it is replayed, and its index may hold what the store does not. Each question is about the few
memories that it can explain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from memregress import errors
from memregress.backends import Backend, ExactSearchable, Locating
from memregress.compare import Verdicts, Witness
from memregress.golden import GoldenSet
from memregress.model import Ints, QueryBatch, Verdict
from memregress.run import Run

SOUGHT = 20_000
"""Missing memories that are looked for elsewhere; more than that are taken to share a cause."""
FAR = 10_000
"""Hits asked for, to see which similarity the index gives a memory that was not among the nearest."""
FEW = 20
"""Memories for which that many hits are asked for."""
GHOSTS = 2_000
"""Hits unknown to the golden set that are looked up in the store."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SecondLook:
    """What was found.

    `elsewhere` says where a missing memory (row) lies after all, of those `sought`. `gone` are rows that were there
    when they were read back and are not any more. `ghosts` are ids that searches returned and the store has not got.
    `held` is the similarity that the store's exact search gives a memory (row) for its own vector.
    """

    elsewhere: Mapping[int, str] = field(default_factory=dict)
    sought: frozenset[int] = frozenset()
    gone: frozenset[int] = frozenset()
    ghosts: frozenset[str] = frozenset()
    held: Mapping[int, float] = field(default_factory=dict)


def look(verdicts: Verdicts, asked: Ints, run: Run, golden: GoldenSet, backend: Backend) -> SecondLook:
    """Ask; `asked` are the rows that searches missed and the ladder was climbed for."""
    missing = verdicts.rows(Verdict.MISSING)
    missing = missing[run.stored.copies[missing] == 0][:SOUGHT]
    gone = _gone(asked, golden, backend)
    return SecondLook(
        elsewhere=_elsewhere(missing, golden, backend),
        sought=frozenset(missing.tolist()),
        gone=gone,
        ghosts=_ghosts(verdicts, run, backend),
        held=_held(np.array([row for row in asked.tolist() if row not in gone][:FEW], np.int32), golden, backend),
    )


def _elsewhere(rows: Ints, golden: GoldenSet, backend: Backend) -> dict[int, str]:
    """A document of the same name is the memory only if it holds the same content or vector."""
    if not len(rows) or not isinstance(backend, Locating):
        return {}
    found, places = backend.elsewhere([golden.ids[row] for row in rows.tolist()])
    place = {golden.row_of[id_]: number for number, id_ in enumerate(found.ids)}
    where = {}
    for batch in golden.batches(sorted(place)) if place else ():
        for number, id_ in enumerate(batch.ids):
            row = golden.row_of[id_]
            there = place[row]
            theirs = found.vectors[there, : found.dimensions[there]]
            same_vector = len(theirs) > 0 and len(theirs) == batch.dimensions[number]
            if (batch.contents[number] and batch.contents[number] == found.contents[there]) or (
                same_vector and np.allclose(theirs, batch.vectors[number], rtol=1e-2, atol=1e-3)
            ):
                where[row] = places[there]
    return where


def _gone(rows: Ints, golden: GoldenSet, backend: Backend) -> frozenset[int]:
    if not len(rows):
        return frozenset()
    there = set(backend.fetch([golden.ids[row] for row in rows.tolist()]).ids)
    return frozenset(row for row in rows.tolist() if golden.ids[row] not in there)


def _ghosts(verdicts: Verdicts, run: Run, backend: Backend) -> frozenset[str]:
    lost = verdicts.rows(Verdict.UNREACHABLE, Verdict.OUTRANKED)
    ids: dict[str, None] = {}
    for witness, searches in ((Witness.PROBE, run.probes), (Witness.QUERY, run.recorded)):
        for search in verdicts.search[lost[verdicts.witness[lost] == witness]].tolist():
            ids |= dict.fromkeys(searches.answers.foreign.get(search, ()))
    names = list(ids)[:GHOSTS]
    return frozenset(names) - set(backend.fetch(names).ids) if names else frozenset()


def _held(rows: Ints, golden: GoldenSet, backend: Backend) -> dict[int, float]:
    rows = rows[golden.has_vector[rows]]
    if not len(rows) or not isinstance(backend, ExactSearchable):
        return {}
    count = len(rows)
    queries = QueryBatch(
        vectors=golden.vectors(rows),
        users=[None] * count,
        filters=[None] * count,
        k=[min(FAR, 10 + 2 * len(golden))] * count,
    )
    try:
        hits = backend.search_exact(queries)
    except errors.BackendUnavailable:
        raise
    except errors.BackendError:  # a store may refuse so large a k; then it is not known
        return {}
    return {
        row: values[ids.index(golden.ids[row])]
        for row, ids, values in zip(rows.tolist(), hits.ids, hits.similarity, strict=True)
        if golden.ids[row] in ids
    }
