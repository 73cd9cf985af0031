"""Whose vector or content does a memory hold that was stored with another than its own?"""

from __future__ import annotations

import numpy as np

from memregress import similarity
from memregress.golden import GoldenSet
from memregress.model import Metric
from memregress.run import Run


def find(run: Run, golden: GoldenSet) -> dict[int, int]:
    """For memories stored with another vector or content than theirs: is it another memory's?"""
    return _content_twins(run, golden) | _vector_twins(run, golden)


def _vector_twins(run: Run, golden: GoldenSet) -> dict[int, int]:
    dimensions = golden.shape.dimensions
    kept = {row: memory.vector for row, memory in run.stored.kept.items() if run.stored.differs["vector"][row]}
    rows = [
        row for row, vector in kept.items() if len(vector) == dimensions and vector.any() and np.isfinite(vector).all()
    ]
    if not rows:
        return {}
    stored = np.stack([kept[row] for row in rows])
    twin, distance = np.full(len(rows), -1, np.int64), np.full(len(rows), np.inf)
    for block in golden.blocks:
        nearest = similarity.exact_search(Metric.L2, stored, block.vectors, 1)
        closer = -nearest.similarity[:, 0] < distance
        twin[closer] = nearest.rows[closer, 0] + block.first_row
        distance[closer] = -nearest.similarity[closer, 0]
    limit = run.tolerance.component * np.linalg.norm(stored.astype(np.float64), axis=1)  # a float32 overflows
    return {
        row: int(twin[place])
        for place, row in enumerate(rows)
        if distance[place] <= limit[place] and twin[place] != row
    }


def _content_twins(run: Run, golden: GoldenSet) -> dict[int, int]:
    wanted: dict[str, list[int]] = {}
    for row, memory in run.stored.kept.items():
        if run.stored.differs["content"][row] and memory.content:
            wanted.setdefault(memory.content, []).append(row)
    if not wanted:
        return {}
    owners = (
        (row, golden.row_of[id_])
        for batch in golden.batches()
        for id_, content in zip(batch.ids, batch.contents, strict=True)
        for row in wanted.get(content, ())
    )
    return dict(owners)
