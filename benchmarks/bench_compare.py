"""Comparing: 100,000 queries with 10 hits each, against what they must find; no store is asked. Bar: under 1 s.

python benchmarks/bench_compare.py
"""

from __future__ import annotations

import common
import numpy as np

from memregress import compare, tolerance
from memregress.expectations import Expectations
from memregress.model import Metric
from memregress.run import Answers, Searches

QUERIES, HITS, MEMORIES = 100_000, 10, 100_000


def searches(share_lost: float) -> Searches:
    """Queries that find what they must, but for a share of the expectations."""
    generator = np.random.default_rng(1)
    row = generator.integers(0, MEMORIES, (QUERIES, HITS)).astype(np.int32)
    similarity = np.sort(generator.random((QUERIES, HITS)).astype(np.float32))[:, ::-1].copy()
    found = row.copy()
    found[generator.random(row.shape) < share_lost] = -1
    return Searches(
        queries=lambda _: None,
        users=[None] * QUERIES,
        k=np.full(QUERIES, HITS, np.int32),
        expectations=Expectations(
            search=np.repeat(np.arange(QUERIES, dtype=np.int32), HITS),
            row=row.ravel(),
            similarity=similarity.ravel(),
            position=np.tile(np.arange(1, HITS + 1, dtype=np.int32), QUERIES),
            max_rank=np.full(row.size, HITS, np.int32),
            must=np.ones(row.size, np.bool_),
            recorded=np.ones(row.size, np.bool_),
        ),
        answers=Answers(row=found, similarity=similarity, used_index=np.ones(QUERIES, np.bool_), foreign={}),
    )


def main() -> None:
    rule = tolerance.choose(metric=Metric.COSINE, stored_as="float32", dimensions=384, scale=1.0, given=None)
    rows = []
    for share in (0.0, 0.001, 0.2):
        made = searches(share)
        uncounted = np.zeros(made.answers.row.shape, np.bool_)
        seconds = common.best(
            {
                "judge": lambda made=made, uncounted=uncounted: common.timed(
                    lambda: compare.judge(made, rule, rank_tolerance=0, uncounted=uncounted)
                )
            }
        )["judge"]
        rows.append([f"{share:.1%}", f"{QUERIES * HITS:,}", f"{seconds:.2f} s"])
    common.show("comparing (under 1 s)", ["lost", "expectations", "time"], rows)


if __name__ == "__main__":
    main()
