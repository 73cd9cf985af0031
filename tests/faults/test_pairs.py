"""Two faults at once, from different rungs: both are named, each on its own memories."""

import dataclasses
import itertools

import pytest

from memregress import instances, selftest
from memregress.backends import registry
from memregress.model import Verdict
from memregress.testing import faults

ONE_EACH = (
    "row-dropped",
    "vector-dropped",
    "swapped-vectors",
    "wrong-user",
    "content-emptied",
    "lifetime-shortened",
    "batch-dropped",
    "users-merged",
    "threshold-raised",
    "resurrected",
)
"""One fault of each rung; two of them hit few memories together."""


def quiet(_):
    """Listen to no progress."""


def both(one, other):
    """A fault that does what two do: columns by one after the other, rows and vectors first."""

    def write(batch):
        for fault in sorted((one, other), key=lambda fault: fault.name in ("row-dropped", "batch-dropped")):
            batch = fault.write(batch) if fault.write else batch
        return batch

    return dataclasses.replace(
        one,
        name=f"{one.name}-{other.name}",
        write=write,
        queries=one.queries or other.queries,
        settings={**one.settings, **other.settings},
    )


SAME = {("row-dropped", "batch-dropped"), ("threshold-raised", "resurrected")}
"""Not two rungs: one has rows of the other, or both replace the queries."""
PAIRS = [pair for pair in itertools.combinations(ONE_EACH, 2) if pair not in SAME]


@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize(("backend", "url"), [("faiss", None), ("pgvector", "embedded_pgvector")])
def test_both_are_named(backend, url, one, other, request, tmp_path):
    """Whatever only one of them hit has its verdict and cause; nothing else is broken."""
    known = {fault.name: fault for fault in faults.of(backend)}
    first, second = known[one], known[other]
    address = request.getfixturevalue(url) if url else str(tmp_path / "store")
    target = instances.choose(registry.find(backend), url=address)
    golden = selftest.sets.make(tmp_path / "golden", **selftest.SETS["small"])
    report = selftest.inject(both(first, second), target, address, golden, tmp_path, progress=quiet)
    said = {memory.id: memory.cause for memory in report.memories if memory.verdict.broken}
    pushed_down = {memory.id for memory in report.memories if memory.verdict is Verdict.TOLERATED}  # by the other's
    hit = {fault.name: {golden.ids[row] for row in fault.rows(golden)} for fault in (first, second)}
    assert set(said) <= hit[one] | hit[other]
    for fault, rest in ((first, hit[other]), (second, hit[one])):
        alone = hit[fault.name] - rest - pushed_down
        assert {id_: said.get(id_) for id_ in alone} == dict.fromkeys(alone, fault.cause)
        assert alone or hit[fault.name] & rest
