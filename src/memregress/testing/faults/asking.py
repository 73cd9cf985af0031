"""Faults on the side of whoever asks: thresholds, filters, scores and users. These occur on every store."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from memregress.golden import GoldenSet
from memregress.model import Expected, Query, Verdict
from memregress.testing.faults.changes import expected, found_below
from memregress.testing.faults.fault import Fault


def scored(formula: Callable[[float], float]) -> Callable[[GoldenSet], Sequence[Query]]:
    """Record similarities as another formula has them."""

    def rescored(item: Expected) -> Expected:
        return msgspec.structs.replace(item, similarity=formula(item.similarity or 0.0))

    return lambda golden: [
        msgspec.structs.replace(query, expected=[rescored(item) for item in query.expected]) for query in golden.queries
    ]


def first(**fields: object) -> Callable[[GoldenSet], Sequence[Query]]:
    """Ask the first query only, with other fields, and expect its nearest memory only."""

    def queries(golden: GoldenSet) -> Sequence[Query]:
        query = golden.queries[0]
        return [msgspec.structs.replace(query, expected=query.expected[:1], **fields)]

    return queries


def forbidding(golden: GoldenSet) -> Sequence[Query]:
    """Let the first query forbid the third memory that it finds."""
    query = golden.queries[0]
    return [msgspec.structs.replace(query, expected=query.expected[:2], forbidden=[query.expected[2].id])]


def thresholded(golden: GoldenSet) -> Sequence[Query]:
    """Record what the application cut at, in the score that was used before: half of one plus the cosine."""
    return [
        msgspec.structs.replace(query, min_similarity=0.62, expected=[
            msgspec.structs.replace(item, similarity=(1 + (item.similarity or 0)) / 2)
            for item in query.expected if (1 + (item.similarity or 0)) / 2 >= 0.62
        ])
        for query in golden.queries
    ]  # fmt: skip


H = Verdict.HIDDEN

FAULTS: tuple[Fault, ...] = (
    Fault(name="threshold-raised", story="the application's threshold was raised", verdict=H, cause="MR401",
          rows=found_below(0.3), settings={"min_similarity": 0.3}),
    Fault(name="filter-typo", story="a filter asks for a value that no memory has", verdict=H, cause="MR402",
          queries=first(filter={"topic": "nothing"}), rows=lambda golden: expected(golden, 0, 1)),
    Fault(name="resurrected", story="a memory that was deleted came back", verdict=Verdict.LEAKED, cause="MR502",
          queries=forbidding, rows=lambda golden: expected(golden, 2, 3)),
    Fault(name="score-one-over", story="scores were 1 / (1 + distance), and are similarities now", cause="MR605",
          verdict=Verdict.DRIFTED, queries=scored(lambda s: 1 / (2 - s))),
    Fault(name="score-halved", story="scores were (1 + cosine) / 2, and are cosines now", verdict=Verdict.DRIFTED,
          cause="MR605", queries=scored(lambda s: (1 + s) / 2)),
    Fault(name="score-distance", story="distances were recorded, and are similarities now", cause="MR605",
          verdict=Verdict.DRIFTED, queries=scored(lambda s: 1 - s)),
    Fault(name="score-percent", story="scores were percentages", verdict=Verdict.DRIFTED, cause="MR605",
          queries=scored(lambda s: 100 * s)),
    Fault(name="score-threshold", story="the threshold is meant for the score that was used before", cause="MR605",
          queries=thresholded),
)  # fmt: skip
