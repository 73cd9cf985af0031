"""The report: everything a reader, a later run or a publisher needs, as one document with a published schema.

`report.json` is the seam between running and publishing: it is rendered again elsewhere, merged, and kept as the
baseline of the next run. Its version is `SCHEMA`.
"""

from __future__ import annotations

import contextlib
import enum
import os
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from memregress import errors
from memregress.measures import Measures
from memregress.model import IndexInfo, Verdict

SCHEMA = 1


class Gate(enum.StrEnum):
    """Whether a change may pass; `error` means that nothing was proven either way."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"


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
    baseline: str | None = None
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


def read(path: Path) -> Report:
    """Read a report, checking it against its schema.

    Raises:
        ConfigError: it cannot be read, or is no report of this version; says which field.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Report)
    except OSError as error:
        raise errors.ConfigError(
            f"{path}: {error.strerror}", "Give the report.json that a replay wrote with --out."
        ) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise errors.ConfigError(
            f"{path} is no report of memregress: {error}", "Its schema is printed by `memregress schema`."
        ) from error


def encode(report: Report) -> bytes:
    """Return `report.json`: readable, one line a value, and a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"


def encode_failure(failure: Failure) -> bytes:
    """Return `failure.json`, which stands in for `report.json` where there is none."""
    return msgspec.json.format(msgspec.json.encode(failure), indent=2) + b"\n"


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    """Write files so that each is there whole or not at all.

    Raises:
        PublishError: the folder cannot be made or the disk is full; nothing half-written stays.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            _write(folder / name, data)
    except OSError as error:
        raise errors.PublishError(
            f"the report could not be written to {folder}: {error.strerror}", "Free some space, or give another --out."
        ) from error


def _write(path: Path, data: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def broken(memories: Sequence[MemoryReport]) -> list[MemoryReport]:
    """Those that count against the gate."""
    return [memory for memory in memories if memory.verdict.broken]
