"""Is every memory in the index, although the store answered without it?

A small golden set, or a selective filter, is answered by a plain scan: everything is found, and an index that has
lost a memory stays unseen until the store has grown. So each memory whose probe did not go through the index is
probed through it once more, first at the settings in force, then, where it did not come back, at the widest.
"""

from __future__ import annotations

import functools

import numpy as np

from memregress import verify
from memregress.backends import Tunable
from memregress.clock import Clock
from memregress.golden import GoldenSet
from memregress.model import Bools, Ints, QueryBatch
from memregress.run import IndexCheck, Searches
from memregress.tolerance import Tolerance

BATCH = 2_000


def check(
    golden: GoldenSet, backend: Tunable, *, probes: Searches, stored: verify.Stored, tolerance: Tolerance, clock: Clock
) -> IndexCheck | None:
    """Probe through the index; None where every probe went through it anyway, or none can."""
    aside = np.flatnonzero(~probes.answers.used_index)
    rows = probes.expectations.row[aside]
    intact = (stored.dimensions[rows] == golden.shape.dimensions) & ~stored.differs["vector"][rows]
    aside, rows = aside[intact], rows[intact]
    if not len(rows):
        return None
    prober = _Prober(golden, backend, probes, tolerance)
    batches = [aside[start : start + BATCH] for start in range(0, len(aside), BATCH)]
    results = [prober.found(batch, wide=False) for batch in clock.track("index check", batches, len(aside))]
    if not any(used for _, used in results):
        return None
    found = np.concatenate([flags for flags, _ in results])
    reached = found.copy()
    missed = np.flatnonzero(~found)
    for start in range(0, len(missed), BATCH):
        chunk = missed[start : start + BATCH]
        reached[chunk] = clock.call("index check", functools.partial(prober.found, aside[chunk], wide=True))[0]
    return IndexCheck(rows=rows, found=found, reached=reached)


class _Prober:
    """Sends self-probes through the index, without the user: who asks makes no difference to what the index holds."""

    def __init__(self, golden: GoldenSet, backend: Tunable, probes: Searches, tolerance: Tolerance) -> None:
        self.golden = golden
        self.backend = backend
        self.probes = probes
        self.tolerance = tolerance

    def found(self, positions: Ints, *, wide: bool) -> tuple[Bools, bool]:
        """bool[p]: which of the probes came back (ties count as back); and whether the index was used at all."""
        batch = self.probes.queries(positions.tolist())
        unfiltered = QueryBatch(vectors=batch.vectors, users=[None] * len(batch), filters=batch.filters, k=batch.k)
        hits = self.backend.search_index(unfiltered, wide=wide)
        rows = self.probes.expectations.row[positions]
        own = self.probes.expectations.similarity[positions]
        floor = own - self.tolerance.slack(own)
        found = [
            self.golden.ids[row] in ids or (len(ids) >= k and min(values) >= lowest)
            for row, ids, values, lowest, k in zip(
                rows.tolist(), hits.ids, hits.similarity, floor.tolist(), batch.k, strict=True
            )
        ]
        return np.array(found, np.bool_), hits.used_index is not None and bool(hits.used_index.any())
