"""The one function that knows the order: from a golden set and a store to a report."""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from memregress import (
    compare,
    diagnose,
    errors,
    evidence,
    gate,
    golden,
    instances,
    replay,
    reporting,
    spaces,
    tolerance,
)
from memregress.backends import Backend
from memregress.clock import Clock
from memregress.clock import Report as Listener
from memregress.gate import Baseline
from memregress.golden import GoldenSet, diff
from memregress.model import IndexInfo, Metric
from memregress.report import FailOn, GoldenChange, Report
from memregress.settings import Settings

SPACE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,47}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What to replay, on which store, and how to judge it."""

    golden: Path
    target: instances.Target
    options: Any
    """The backend's `Options`."""
    settings: Settings = field(default_factory=Settings)
    space: str | None = None
    keep: bool = False
    in_place: bool = False
    only: Sequence[str] = ()
    sample: int | None = None
    fail_on: FailOn = FailOn.REGRESSION
    baseline: Baseline | None = None
    golden_base: Path | None = None
    """The golden set of the base branch: what the change did to it is told."""


def check(request: Request, *, progress: Listener) -> Report:
    """Replay a golden set on a store and report which memories broke, and why.

    Raises:
        MemregressError: the golden set or the settings are wrong, or the store cannot be started, reached or filled;
            whatever was made until then is removed.
    """
    clock = Clock(progress)
    entry = request.target.backend
    module = entry.load()
    space = _space(request)
    golden_set = clock.call("read", lambda: golden.open(request.golden))
    change = _golden_change(golden_set, request.golden_base)
    selection = _select(golden_set, request)
    with (
        _opened(request, clock) as url,
        contextlib.closing(
            module.connect(url, space=space, shape=golden_set.shape, options=request.options, in_place=request.in_place)
        ) as backend,
        _own_space(backend, space, request),
    ):
        rejected = [] if request.in_place else replay.load(golden_set, backend, clock)
        setup = _setup(golden_set, request.settings, rejected)
        run = replay.run(golden_set, backend, selection, setup, clock)
        verdicts = compare.compare(
            golden_set,
            run,
            min_similarity=request.settings.min_similarity,
            rank_tolerance=_first(request.settings.rank_tolerance, golden_set.manifest.policy.rank_tolerance),
        )
        answers = evidence.gather(verdicts, run, golden_set, backend, clock)
    scene = diagnose.Scene(
        golden=golden_set,
        run=run,
        verdicts=verdicts,
        evidence=answers,
        remedies=entry.remedies(),
        min_similarity=request.settings.min_similarity,
        wants_index=getattr(request.options, "index", None) != "none",
    )
    return reporting.build(
        golden=golden_set,
        run=run,
        verdicts=verdicts,
        findings=diagnose.diagnose(scene),
        terms=gate.Terms(
            fail_on=request.fail_on,
            baseline=request.baseline,
            golden_change=change,
            max_index_misses=_first(request.settings.max_index_misses, golden_set.manifest.policy.max_index_misses),
        ),
        origin=reporting.Origin(
            backend=entry.name, instance=str(request.target), space=space, in_place=request.in_place
        ),
        now=datetime.now(UTC),
    )


def _golden_change(golden_set: GoldenSet, base: Path | None) -> GoldenChange | None:
    if base is None:
        return None
    before = golden.open(base)
    if before.digest == golden_set.digest and before.manifest == golden_set.manifest:
        return None
    return reporting.golden_change(diff.compare(before, golden_set))


def _space(request: Request) -> str:
    """The run's own space; in place the user names it."""
    if request.space is None:
        if request.in_place:
            raise errors.ConfigError(
                "--in-place needs to know where the memories lie",
                "Name the space with --space: a schema of PostgreSQL, a folder of FAISS.",
            )
        return f"memregress_{secrets.token_hex(4)}"
    if not SPACE.fullmatch(request.space):
        raise errors.ConfigError(
            f"{request.space!r} cannot name a space", "Use letters, digits and underscores, at most 48."
        )
    return request.space


@contextlib.contextmanager
def _opened(request: Request, clock: Clock) -> Iterator[str]:
    with contextlib.ExitStack() as stack:
        yield clock.call("start", lambda: stack.enter_context(instances.open(request.target)))


@contextlib.contextmanager
def _own_space(backend: Backend, space: str, request: Request) -> Iterator[None]:
    """Make the space and drop it in the end, whatever happens; in place nothing is made and nothing dropped."""
    if request.in_place:
        yield
        return
    with spaces.own(backend, space, keep=request.keep):
        yield


def _setup(golden_set: GoldenSet, settings: Settings, rejected: Sequence[Any]) -> replay.Setup:
    policy = golden_set.manifest.policy
    given = _first(settings.similarity_tolerance, policy.similarity_tolerance)

    def for_store(info: IndexInfo) -> tolerance.Tolerance:
        shape = golden_set.shape
        return tolerance.choose(
            metric=shape.metric,
            stored_as=info.stored_as,
            dimensions=shape.dimensions,
            scale=1.0 if shape.metric is Metric.COSINE else _largest_norm(golden_set) ** 2,
            given=given,
            source="similarity_tolerance",
        )

    return replay.Setup(tolerance=for_store, probe_k=_first(settings.probe_k, policy.probe_k), rejected=rejected)


def _largest_norm(golden_set: GoldenSet) -> float:
    blocks = [block.vectors for block in golden_set.blocks]
    if golden_set.query_vectors is not None:
        blocks.append(golden_set.query_vectors)
    largest = 0.0
    for vectors in blocks:
        for start in range(0, len(vectors), 4096):
            lengths = np.linalg.norm(vectors[start : start + 4096], axis=1)
            largest = max(largest, float(np.nanmax(lengths, initial=0)))
    return largest


def _select(golden_set: GoldenSet, request: Request) -> replay.Selection:
    rows = _rows(golden_set, request)
    everything = len(rows) == len(golden_set)
    wanted = {golden_set.ids[row] for row in rows.tolist()}
    positions = [
        position
        for position, query in enumerate(golden_set.queries)
        if golden_set.query_vectors is not None
        and (everything or any(expected.id in wanted for expected in query.expected))
    ]
    return replay.Selection(rows=rows, positions=positions)


def _rows(golden_set: GoldenSet, request: Request) -> Any:
    if request.only:
        unknown = [id_ for id_ in request.only if id_ not in golden_set.row_of]
        if unknown:
            hint = errors.did_you_mean(unknown[0], golden_set.ids)
            raise errors.ConfigError(
                f"--only {unknown[0]}: the golden set has no such memory", f"{hint}See `memregress golden show`."
            )
        return np.array(sorted({golden_set.row_of[id_] for id_ in request.only}), np.int32)
    if request.sample is not None and request.sample < len(golden_set):
        generator = np.random.default_rng(int(golden_set.digest[:16], 16))  # the same memories each time
        return np.sort(generator.choice(len(golden_set), request.sample, replace=False)).astype(np.int32)
    return np.arange(len(golden_set), dtype=np.int32)


def _first(given: Any, otherwise: Any) -> Any:
    return otherwise if given is None else given
