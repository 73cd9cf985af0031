"""`manifest.json`: what a golden set is, and the checksum and row count of every part of it."""

from __future__ import annotations

import hashlib
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec

from memregress.golden import decoding
from memregress.golden.problems import Problems
from memregress.model import Metric

FORMAT = 1
FILE = "manifest.json"
SIZE_LIMIT = 1 << 20
ROW_LIMIT = 10_000_000
K_LIMIT = 10_000

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Vectors(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The vectors of a golden set: how many components, compared by which metric, made by which model."""

    dimensions: Annotated[int, msgspec.Meta(ge=1, le=65_536)]
    metric: Metric
    model: str | None = None
    normalized: bool | None = None
    stored_as: str = "float32"
    """The type the store held them in; the parts always hold float32."""


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of a golden set."""

    file: str
    rows: Annotated[int, msgspec.Meta(ge=0, le=ROW_LIMIT)]
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The gate a golden set asks for where the settings say nothing else; None leaves it to memregress."""

    similarity_tolerance: Annotated[float, msgspec.Meta(ge=0)] | None = None
    rank_tolerance: Annotated[int, msgspec.Meta(ge=0)] = 0
    must_recall: Share | None = None
    probe_k: Annotated[int, msgspec.Meta(ge=1, le=K_LIMIT)] = 10
    max_index_misses: Share | None = None
    """As a share of the tested memories."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`captured_at` is the clock against which lifetimes are meant; `source` and `redaction` are free objects."""

    format: int
    name: str
    created_at: datetime
    captured_at: datetime
    vectors: Vectors
    source: dict[str, Any] | None = None
    parts: list[Part]
    redaction: dict[str, Any] | None = None
    policy: Policy = Policy()

    @property
    def digest(self) -> str:
        """The identity of the set: sha256 over the checksums of its parts."""
        lines = sorted(f"{part.sha256}  {part.file}\n" for part in self.parts)
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def rows(self, kind: str) -> int:
        """Return how many ``memories`` or ``queries`` the set has."""
        return sum(part.rows for part in self.parts if part.file.startswith(kind) and ".jsonl" in part.file)


class _Version(msgspec.Struct):
    format: Any = None


def read(folder: Path, problems: Problems) -> Manifest:
    """Return the manifest, or raise all problems of it: without it nothing else can be judged."""
    data = _bytes(folder, problems)
    try:
        _check_format(msgspec.json.decode(data, type=_Version).format, problems)
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, RecursionError):
        for fault in decoding.faults(data, Manifest):
            problems.add(fault.what, file=FILE, field=fault.field)
    problems.raise_any()
    _check_times(manifest, problems)
    problems.raise_any()
    return manifest


def _bytes(folder: Path, problems: Problems) -> bytes:
    path = folder / FILE
    try:
        with path.open("rb") as file:
            data = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        problems.add(
            f"cannot be read: {error.strerror}", file=FILE, remedy=f"Is {folder} the folder that holds {FILE}?"
        )
        problems.raise_any()
        raise
    if len(data) > SIZE_LIMIT:
        problems.add("is longer than 1 MiB", file=FILE)
        problems.raise_any()
    return data


def _check_format(found: Any, problems: Problems) -> None:
    if found is None or found == FORMAT:
        return
    remedy = "Install a memregress that reads it: pip install --upgrade memregress"
    problems.add(f"unknown format {found!r}, this memregress reads {FORMAT}", file=FILE, field="format", remedy=remedy)
    problems.raise_any()


def _check_times(manifest: Manifest, problems: Problems) -> None:
    for field in ("created_at", "captured_at"):
        fault = decoding.time_fault(getattr(manifest, field))
        if fault:
            problems.add(fault, file=FILE, field=field)


def encode(manifest: Manifest) -> bytes:
    """Return the manifest as it stands in a file: sorted keys, two spaces, a newline at the end."""
    parts = sorted(manifest.parts, key=lambda part: part.file)
    compact = msgspec.json.encode(msgspec.structs.replace(manifest, parts=parts), order="sorted")
    return msgspec.json.format(compact, indent=2) + b"\n"
