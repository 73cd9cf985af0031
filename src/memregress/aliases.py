"""Under which id does the store have a memory that it does not have under its own?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memregress.backends import Backend, ExactSearchable
from memregress.golden import GoldenSet
from memregress.model import MemoryBatch, QueryBatch
from memregress.run import Run

SAMPLE, EXPENSIVE_SAMPLE = 200, 40
"""Missing memories looked for; fewer where each means to look at many rows."""
EXPENSIVE_ROWS = 20_000
K = 3
"""Nearest rows looked at for each: it need not be the first where several are alike."""


def find(run: Run, golden: GoldenSet, backend: Backend) -> dict[int, str | None]:
    """Search for missing memories by their own vectors, and compare what has them with what was recorded."""
    rows = np.flatnonzero(run.stored.missing & golden.has_vector)
    if run.refused is not None or not len(rows) or not isinstance(backend, ExactSearchable):
        return {}
    most = SAMPLE if run.info.rows < EXPENSIVE_ROWS else EXPENSIVE_SAMPLE
    chosen = rows[np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(int)].tolist()
    hits = backend.search_exact(
        QueryBatch(
            vectors=golden.vectors(chosen),
            users=[None] * len(chosen),
            filters=[None] * len(chosen),
            k=[K] * len(chosen),
        )
    )
    strangers = [[id_ for id_ in ids if id_ not in golden.row_of] for ids in hits.ids]
    stored = _stored(sorted({id_ for ids in strangers for id_ in ids}), backend)
    wanted = next(golden.batches(chosen, size=len(chosen)))
    return {
        row: next((id_ for id_ in ids if _same(wanted, place, stored.get(id_), run)), None)
        for place, (row, ids) in enumerate(zip(chosen, strangers, strict=True))
    }


def _stored(ids: Sequence[str], backend: Backend) -> dict[str, tuple[MemoryBatch, int]]:
    if not ids:
        return {}
    batch = backend.fetch(ids)
    return {id_: (batch, place) for place, id_ in enumerate(batch.ids)}


def _same(wanted: MemoryBatch, place: int, found: tuple[MemoryBatch, int] | None, run: Run) -> bool:
    """Whether a row has the memory's vector, within what the store's type holds, and its content."""
    if found is None:
        return False
    batch, row = found
    width = wanted.vectors.shape[1]
    if batch.dimensions[row] != width or batch.contents[row] != wanted.contents[place]:
        return False
    golden, stored = wanted.vectors[place], batch.vectors[row, :width]
    limit = max(run.tolerance.component, 1e-6) * float(np.abs(golden).max(initial=0))
    return bool(np.abs(golden - stored).max(initial=0) <= limit)
