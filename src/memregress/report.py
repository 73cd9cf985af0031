"""The report: everything a reader, a later run or a publisher needs, as one document with a published schema.

`report.json` is the seam between running and publishing: it is rendered again elsewhere, merged, and kept as the
baseline of the next run. Its version is `SCHEMA`.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec

from memregress.measures import Measures
from memregress.model import IndexInfo, Verdict

SCHEMA = 1


class Gate(enum.StrEnum):
    """Whether a change may pass; `error` means that nothing was proven either way."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"

    @property
    def exit_code(self) -> int:
        """How a run with this gate ends; see `errors` for the codes of what went wrong before."""
        return {Gate.PASSED: 0, Gate.FAILED: 1, Gate.ERROR: 3}[self]


class FailOn(enum.StrEnum):
    """What makes the gate fail."""

    ANY = "any"
    REGRESSION = "regression"
    NEVER = "never"


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a comparison; a null is what was not there or does not apply."""

    similarity: float | None = None
    rank: int | None = None
    note: str | None = None


class MemoryReport(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that is not `ok`: its verdict and cause, and what was expected of the search that decided, and got."""

    id: str
    user: str | None
    verdict: Verdict
    cause: str | None
    search: str | None
    """``self-probe``, ``self-probe through the index``, ``readback``, or the id of a recorded query."""
    expected: Observed
    got: Observed
    new: bool | None = None
    """Whether the baseline has it intact; null without a baseline."""
    file: str
    line: int
    snippet: str | None = None
    """The beginning of its content, for the first broken memories only."""


class CauseReport(msgspec.Struct, frozen=True, kw_only=True):
    """Why `count` memories broke: what was seen, and what to do."""

    code: str
    name: str
    title: str
    count: int
    evidence: list[str]
    remedy: str
    docs: str
    """The page that explains the cause."""
    sampled: int | None = None
    """How many of them were asked about one by one, where not all were."""


DOCS = "https://github.com/org/memregress/blob/main/docs/causes/{name}.md"


class BaselineReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the run was compared with."""

    name: str
    """A file, or ``main@4e7d9a2``."""
    kind: Literal["file", "exact", "ancestor"]
    """Given as a file; made at the very commit the change starts from; made at its nearest ancestor that has one."""
    counts: dict[str, int]
    tested: int


class GoldenChange(msgspec.Struct, frozen=True, kw_only=True):
    """How the change altered the golden set itself: numbers of memories, and of expectations that became easier."""

    added: int
    removed: int
    changed: int
    loosened: int
    samples: list[str]
    """The first removals and loosenings, in words."""


class GoldenReport(msgspec.Struct, frozen=True, kw_only=True):
    """The golden set that was replayed."""

    name: str
    digest: str
    memories: int
    queries: int
    dimensions: int
    metric: str
    model: str | None
    captured_at: datetime


class TargetReport(msgspec.Struct, frozen=True, kw_only=True):
    """The store that was tested; never a URL, which may hold secrets."""

    backend: str
    instance: str
    space: str
    in_place: bool
    index: IndexInfo
    index_searches: int
    """Searches that went through the approximate index of their own accord."""
    searches: int
    """Self-probes and recorded queries together."""
    index_checked: int
    """Probes sent through the index once more, because they had not gone through it."""
    index_checked_found: int
    """Of those, the ones found at the settings in force."""
    tolerance: float
    tolerance_origin: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run."""

    schema: Literal[1] = 1
    memregress: str
    created_at: datetime
    gate: Gate
    reason: str
    """Why the gate says so, in one sentence."""
    fail_on: FailOn
    baseline: BaselineReport | None = None
    golden_change: GoldenChange | None = None
    """None where the golden set was not compared with the base branch's, or is the same."""
    counts: dict[str, int]
    tested: int
    total: int
    broken: int
    new_broken: int | None = None
    fixed: int | None = None
    memories: list[MemoryReport]
    causes: list[CauseReport]
    concerns: list[CauseReport]
    """Causes that broke no memory, yet."""
    notes: list[str]
    measures: Measures
    users: dict[str, Measures]
    timings: dict[str, float]
    """Seconds by stage."""
    golden: GoldenReport
    target: TargetReport


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing wrong with a golden set."""

    file: str
    line: int | None
    field: str | None
    what: str


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A run that judged no memory: the settings, the golden set or the store were in the way; never a pass."""

    schema: Literal[1] = 1
    memregress: str
    created_at: datetime
    gate: Literal["error"] = "error"
    kind: str
    """The class of the error, e.g. ``GoldenError``, ``InstanceError``."""
    message: str
    remedy: str
    exit_code: int
    backend: str | None = None
    problems: list[Problem] = []
    """Of a golden set: each with file, line and field."""
    log: list[str] = []
    """The last lines of the store's log, where it has one."""


Outcome = Report | Failure
"""What a run can end with."""


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of `report.json`."""
    document = msgspec.json.schema(Report)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://github.com/org/memregress/schema/report-{SCHEMA}.json",
        "title": "memregress report",
        **document,
    }


def broken(memories: Sequence[MemoryReport]) -> list[MemoryReport]:
    """Those that count against the gate."""
    return [memory for memory in memories if memory.verdict.broken]
