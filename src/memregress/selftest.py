"""Prove memregress on a store: inject each fault that can occur there, for real, and see what is said of it."""

from __future__ import annotations

import contextlib
import functools
import secrets
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from memregress import errors, gate, golden, instances, pipeline, settings, spaces
from memregress.clock import Report as Listener
from memregress.golden import GoldenSet
from memregress.model import Floats, Query
from memregress.replay import LOAD_BATCH
from memregress.report import FailOn, Report
from memregress.testing import sets
from memregress.testing.faults import Fault, Place
from memregress.testing.faults.changes import take

SETS: Mapping[str, dict[str, Any]] = {
    "small": {},
    "texts": {"memories": 200, "content": "  Maß & Größe: “naïve” order {row} – ☕ <b>café</b>  "},
    "shared": {"memories": 4_000, "users": 0, "lifetimes": False, "dimensions": 48},
    "crowded": {"memories": 4_000, "users": 100, "lifetimes": False, "dimensions": 48, "clusters": 3},
}
"""Golden sets by name: for `sets.make`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What was said of one fault.

    `found` memories have the right verdict and cause, `misnamed` ones another; `missed` ones were hit and are not
    reported, `alarms` were reported and not hit. `noise` are memories that were not hit, and that this build of an
    approximate index missed, within what the gate allows a run to miss. `said` counts verdict and cause of everything
    reported.
    """

    fault: Fault
    found: int
    misnamed: int
    missed: int
    alarms: int
    noise: int
    said: Mapping[str, int]

    @property
    def proven(self) -> bool:
        """Whether exactly what was hit is reported, by its name."""
        if self.misnamed or self.missed or self.alarms:
            return False
        return bool(self.found) or (self.fault.cause is None and self.fault.error is None)


def run(target: instances.Target, faults: Sequence[Fault], *, progress: Listener) -> Iterator[Outcome]:
    """Start the store, inject one fault after another, each into a space of its own, and judge what is said.

    Raises:
        MemregressError: the store cannot be started or filled.
    """
    with tempfile.TemporaryDirectory(prefix="memregress-") as scratch, instances.open(target) as started:
        folder = Path(scratch)
        url = started or str(folder / "store")
        made = functools.cache(lambda name: sets.make(folder / name, **SETS[name]))
        for fault in faults:
            yield prove(fault, target, url, made(fault.golden), folder, progress=progress)


def prove(
    fault: Fault, target: instances.Target, url: str, recorded: GoldenSet, folder: Path, *, progress: Listener
) -> Outcome:
    """Inject a fault, and judge what is said of it."""
    try:
        return judge(fault, recorded, inject(fault, target, url, recorded, folder, progress=progress))
    except errors.MemregressError as error:
        return _refused(fault, error)


def inject(
    fault: Fault, target: instances.Target, url: str, recorded: GoldenSet, folder: Path, *, progress: Listener
) -> Report:
    """Fill a space of a store, break it, replay it in place, and drop it; files go below `folder`.

    Raises:
        MemregressError: the store does not answer, which may be the fault.
    """
    module = target.backend.load()
    asked = recorded if fault.queries is None else _asking(recorded, fault.queries(recorded), folder / fault.name)
    place = Place(url=url, space=f"selftest_{secrets.token_hex(4)}")
    options = msgspec.convert(fault.fill, module.Options)
    filling = module.connect(url, space=place.space, shape=recorded.shape, options=options, in_place=False)
    with contextlib.closing(filling), spaces.own(filling, place.space):
        filling.load(_written(recorded, fault))
        filling.index()
        if fault.harm is not None:
            fault.harm(place, recorded)
        return pipeline.check(_request(fault, target, place, asked), progress=progress)


def _request(fault: Fault, target: instances.Target, place: Place, asked: GoldenSet) -> pipeline.Request:
    entry = target.backend
    return pipeline.Request(
        golden=asked.path,
        target=instances.choose(entry, url=place.url),
        options=msgspec.convert(fault.options, entry.load().Options),
        settings=settings.Settings(**fault.settings),
        space=place.space,
        in_place=True,
        fail_on=FailOn.ANY,
    )


def _refused(fault: Fault, error: errors.MemregressError) -> Outcome:
    """The store did not answer: right, if that is the fault."""
    right = fault.error is not None and fault.error in error.message
    return Outcome(
        fault=fault,
        found=int(right),
        misnamed=int(not right),
        missed=0,
        alarms=0,
        noise=0,
        said={f"error: {error.message}": 1},
    )


def judge(fault: Fault, recorded: GoldenSet, report: Report) -> Outcome:
    """Compare what a report says with what a fault did."""
    said = {memory.id: (memory.verdict, memory.cause) for memory in report.memories if memory.verdict.broken}
    concerns = {concern.code for concern in report.concerns}
    right = {
        id_
        for id_, (verdict, cause) in said.items()
        if cause in (fault.cause, *fault.also) and fault.verdict in (None, verdict)
    }
    named = {id_ for id_ in right if said[id_][1] == fault.cause}
    if len(named) < len(right - named):  # what some may have instead is not what the fault is called
        right = named
    hit = set(said) if fault.rows is None else {recorded.ids[row] for row in fault.rows(recorded)}
    if fault.cause is None:
        hit = set()
    beside = set(said) - hit
    noise = {id_ for id_ in beside if said[id_][1] in gate.LUCK}
    if len(noise) > gate.MAX_INDEX_MISSES * report.tested:
        noise = set()
    unsaid = fault.error is not None or (fault.concern is not None and fault.concern not in concerns)
    return Outcome(
        fault=fault,
        found=len(right & hit),
        misnamed=len(set(said) & hit - right),
        missed=len(hit - set(said)) + unsaid,
        alarms=len(beside - noise),
        noise=len(noise),
        said=Counter(f"{verdict.value} {cause}" for verdict, cause in said.values()) + Counter(concerns),
    )


def _written(recorded: GoldenSet, fault: Fault) -> Iterator[Any]:
    if fault.write is None:
        yield from recorded.batches(size=LOAD_BATCH)
        return
    batch = fault.write(next(recorded.batches(size=len(recorded))))
    for start in range(0, len(batch), LOAD_BATCH):
        yield take(batch, range(start, min(start + LOAD_BATCH, len(batch))))


def _asking(recorded: GoldenSet, queries: Sequence[Query], folder: Path) -> GoldenSet:
    """Write the same memories with other queries."""
    vectors: Sequence[Floats] = [] if recorded.query_vectors is None else list(recorded.query_vectors[: len(queries)])
    golden.write(
        folder,
        name=recorded.manifest.name,
        created_at=recorded.manifest.created_at,
        captured_at=recorded.manifest.captured_at,
        vectors=recorded.manifest.vectors,
        memories=recorded.batches(),
        queries=zip(queries, vectors, strict=True),
    )
    return golden.open(folder)
