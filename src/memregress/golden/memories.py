"""Reading the memories of a golden set: what stays in memory, and the rules a memory must keep."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

import msgspec
import numpy as np

from memregress.golden import decoding, lines, npy
from memregress.golden.manifest import Manifest
from memregress.golden.parts import Pair
from memregress.golden.problems import Problems
from memregress.model import Bools, Floats, Memory, Metric


class Body(msgspec.Struct, gc=False, frozen=True, kw_only=True):
    """What a batch reads of a line anew: the rest was kept, and everything checked, when the set was opened."""

    content: str = ""
    created_at: datetime | None = None
    expires_at: datetime | None = None
    metadata: msgspec.Raw = msgspec.Raw(b"{}")


DECODER = msgspec.json.Decoder(Memory)
BODIES = msgspec.json.Decoder(Body)
_SURPLUS = 1_000
"""How many lines beyond the manifest's count are read: a small compressed file can hold very many."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Block:
    """One part of memories: where its lines are, the row of its first, and its vectors."""

    pair: Pair
    first_row: int
    vectors: Floats


@dataclass(kw_only=True, slots=True, eq=False)
class Memories:
    """What is kept of the memories: names and owners, never contents."""

    ids: list[str] = field(default_factory=list)
    row_of: dict[str, int] = field(default_factory=dict)
    users: list[str | None] = field(default_factory=list)
    has_vector: list[bool] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    damaged: set[str] = field(default_factory=set)
    """Ids of lines with a wrong field, of which nothing else can be said."""
    any_user: bool = False
    any_lifetime: bool = False
    _interned: dict[str | None, str | None] = field(default_factory=dict)

    def add(self, memory: Memory) -> None:
        """Keep the memory's name and owner; of two with one id the first counts."""
        self.row_of.setdefault(memory.id, len(self.ids))
        self.ids.append(memory.id)
        self.users.append(self._interned.setdefault(memory.user, memory.user))
        self.has_vector.append(memory.vector)
        self.any_user |= memory.user is not None
        self.any_lifetime |= memory.expires_at is not None

    def place(self, row: int) -> tuple[str, int]:
        """Return the file and line of a row."""
        starts = [block.first_row for block in self.blocks]
        block = self.blocks[int(np.searchsorted(starts, row, side="right")) - 1]
        return block.pair.lines.name, row - block.first_row + 1


def read(pairs: list[Pair], manifest: Manifest, problems: Problems) -> Memories:
    """Read all parts, noting what is wrong in them."""
    memories = Memories()
    for pair in pairs:
        first_row = len(memories.ids)
        vectors = map_vectors(pair, manifest, problems)
        memories.blocks.append(Block(pair=pair, first_row=first_row, vectors=vectors))
        for line, memory, intact in _decode(pair, problems):
            if intact:
                _check(memory, manifest.captured_at, memories, problems, file=pair.lines.name, line=line)
            else:
                memories.damaged.add(memory.id)
            memories.add(memory)
        check_counts(pair, len(memories.ids) - first_row, len(vectors), problems)
        _check_vectors(memories.blocks[-1], memories, manifest, problems)
    return memories


class _Name(msgspec.Struct):
    """What is saved of a line with a wrong field, lest everything that names its memory be called wrong too."""

    id: str


def _decode(pair: Pair, problems: Problems) -> Iterator[tuple[int, Memory, bool]]:
    """Yield a memory a line and whether it is intact; of others the faults are noted, and their row is kept."""
    decode_line = DECODER.decode
    for line, data in numbered(pair, problems):
        try:
            yield line, decode_line(data), True
        except (msgspec.MsgspecError, RecursionError):
            note_faults(data, Memory, problems, file=pair.lines.name, line=line)
            yield line, _saved(data), False


def _saved(data: bytes) -> Memory:
    try:
        return Memory(id=msgspec.json.decode(data, type=_Name).id)
    except (msgspec.MsgspecError, RecursionError):
        return Memory(id="")


def numbered(pair: Pair, problems: Problems) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a part from 1, not many more than the manifest says; where reading breaks off, note it."""
    limit = pair.lines.part.rows + _SURPLUS
    try:
        yield from itertools.islice(enumerate(lines.read(pair.lines.path), start=1), limit)
    except lines.UnreadableError as error:
        problems.add(error.what, file=pair.lines.name, line=error.line)


def note_faults(data: bytes, kind: type[msgspec.Struct], problems: Problems, *, file: str, line: int) -> None:
    """Note everything wrong with a line that could not be decoded."""
    if not data.strip():
        problems.add("is empty", file=file, line=line)
        return
    for fault in decoding.faults(data, kind):
        problems.add(fault.what, file=file, line=line, field=fault.field)


def _check(
    memory: Memory, captured_at: datetime, memories: Memories, problems: Problems, *, file: str, line: int
) -> None:
    if not memory.id:
        problems.add("is empty", file=file, line=line, field="id")
    elif memory.id in memories.row_of:
        other, there = memories.place(memories.row_of[memory.id])
        problems.add(f"{memory.id!r} is also the id of {other}:{there}", file=file, line=line, field="id")
    for name in ("created_at", "expires_at"):
        time = getattr(memory, name)
        fault = decoding.time_fault(time) if time is not None else None
        if fault:
            problems.add(fault, file=file, line=line, field=name)
        elif name == "expires_at" and time is not None and time <= captured_at:
            what = f"{time.isoformat()} had passed when the set was captured ({captured_at.isoformat()})"
            problems.add(what, file=file, line=line, field=name)


def map_vectors(pair: Pair, manifest: Manifest, problems: Problems) -> Floats:
    """Return the mapped rows of a part's vectors; none, and a note, where they cannot be used."""
    dimensions = manifest.vectors.dimensions
    nothing = np.empty((0, dimensions), dtype=np.float32)
    if pair.vectors is None:
        return nothing
    try:
        vectors = npy.map_rows(pair.vectors.path)
    except (ValueError, OSError) as error:
        problems.add(str(error), file=pair.vectors.name)
        return nothing
    if vectors.shape[1] != dimensions:
        what = f"has {vectors.shape[1]} dimensions, the manifest says {dimensions}"
        problems.add(what, file=pair.vectors.name, field="vectors.dimensions")
        return nothing
    return vectors


def check_counts(pair: Pair, found: int, vectors: int, problems: Problems) -> None:
    """Compare the rows of lines, vectors and manifest."""
    rows = pair.lines.part.rows
    if found != rows:
        more = "more than " if found == rows + _SURPLUS else ""
        problems.add(f"has {more}{found:,} lines, the manifest says {rows:,}", file=pair.lines.name)
    if pair.vectors is None or not vectors:
        return
    if vectors != pair.vectors.part.rows:
        problems.add(f"has {vectors:,} rows, the manifest says {pair.vectors.part.rows:,}", file=pair.vectors.name)
    if vectors != found:
        problems.add(f"has {vectors:,} rows, {pair.lines.name} has {found:,} lines", file=pair.vectors.name)


def _check_vectors(block: Block, memories: Memories, manifest: Manifest, problems: Problems) -> None:
    if block.pair.vectors is None:
        return
    has_vector = np.array(memories.has_vector[block.first_row :][: len(block.vectors)], dtype=bool)
    zero_allowed = manifest.vectors.metric is not Metric.COSINE
    for flaw in npy.flaws(block.vectors, has_vector, zero_allowed=zero_allowed):
        problems.add(flaw.what, file=block.pair.vectors.name, line=flaw.row + 1, field="vector")


def presence(memories: Memories) -> Bools:
    """Return bool[n]: whether a memory has a vector."""
    return np.array(memories.has_vector, dtype=bool)
