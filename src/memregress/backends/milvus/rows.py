"""Memories as rows of a collection, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import numpy as np

from memregress.backends.milvus import filtering
from memregress.backends.milvus.collection import OWN
from memregress.backends.milvus.options import Fields
from memregress.model import MemoryBatch, Rejected

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNITS = {"us": timedelta(microseconds=1), "ms": timedelta(milliseconds=1), "s": timedelta(seconds=1)}
NEVER = 2**63 - 1
"""In place of the end of a memory that has none."""
LONGEST = 65_535
"""Bytes of a VARCHAR, and of a JSON value: more is refused, and never cut. https://milvus.io/docs/limitations.md"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """How memories lie in a collection; `fields` has ``""`` for what it has no field for."""

    fields: Fields
    dimensions: int
    unit: timedelta
    own: bool

    def encode(self, batch: MemoryBatch) -> tuple[list[dict[str, Any]], list[Rejected]]:
        """Return the rows that the server can hold, and the memories that it cannot, with the reason."""
        rows, refused = [], []
        for place in range(len(batch)):
            row = self._row(batch, place)
            reason = _too_long(row)
            if reason:
                refused.append(Rejected(id=batch.ids[place], reason=reason))
            else:
                rows.append(row)
        return rows, refused

    def _row(self, batch: MemoryBatch, place: int) -> dict[str, Any]:
        fields, metadata, user = self.fields, batch.metadata[place], batch.users[place]
        there = bool(batch.dimensions[place])
        return {
            fields.id: batch.ids[place],
            fields.user: user or "",
            fields.content: batch.contents[place],
            fields.vector: batch.vectors[place] if there else np.zeros(self.dimensions, np.float32),
            fields.created_at: self._stamp(batch.created_at[place]),
            fields.expires_at: self._stamp(batch.expires_at[place]),
            fields.metadata: metadata,
            OWN: {"user": user is not None, "vector": there, "labels": filtering.labels(metadata)},
        }

    def _stamp(self, time: datetime | None) -> int:
        return NEVER if time is None else self.stamp(time)

    def stamp(self, time: datetime) -> int:
        """Return a time in the collection's unit."""
        return (time - EPOCH) // self.unit

    def decode(self, rows: Sequence[Mapping[str, Any]]) -> MemoryBatch:
        """Read rows back."""
        fields, absent = self.fields, {"user": True, "vector": True}
        marks = [row.get(OWN) or absent for row in rows]
        vectors = np.array([row[fields.vector] for row in rows], np.float32).reshape(len(rows), self.dimensions)
        return MemoryBatch(
            ids=[str(row[fields.id]) for row in rows],
            vectors=vectors,
            dimensions=np.array([self.dimensions if mark.get("vector", True) else 0 for mark in marks], np.int32),
            users=[_text(row.get(fields.user)) if mark.get("user", True) else None
                   for row, mark in zip(rows, marks, strict=True)],
            contents=[_text(row.get(fields.content)) or "" for row in rows],
            created_at=[self._time(row.get(fields.created_at)) for row in rows],
            expires_at=[self._time(row.get(fields.expires_at)) for row in rows],
            metadata=[_document(row.get(fields.metadata)) for row in rows],
        )  # fmt: skip

    def _time(self, value: Any) -> datetime | None:
        if value is None or value == NEVER:
            return None
        if isinstance(value, str):
            try:
                time = datetime.fromisoformat(value)
            except ValueError:
                return None
            return time if time.tzinfo else time.replace(tzinfo=UTC)
        try:
            return EPOCH + int(value) * self.unit
        except OverflowError:
            return datetime.max.replace(tzinfo=UTC)

    @property
    def names(self) -> list[str]:
        """The fields that are read."""
        wanted = [name for name in msgspec.structs.astuple(self.fields) if name]
        return [*wanted, OWN] if self.own else wanted


def _too_long(row: Mapping[str, Any]) -> str | None:
    for name, value in row.items():
        if isinstance(value, str) and 4 * len(value) > LONGEST:  # in UTF-8 no character has more bytes
            size = len(value.encode(errors="surrogatepass"))
            if size > LONGEST:
                return f"{name} has {size:,} bytes, and a VARCHAR takes {LONGEST:,}"
        elif isinstance(value, dict) and (size := len(msgspec.json.encode(value))) > LONGEST:
            return f"{name} has {size:,} bytes as JSON, and a field takes {LONGEST:,}"
    return None


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _document(value: Any) -> dict[str, Any]:
    if isinstance(value, (str, bytes)):
        value = msgspec.json.decode(value)
    return value if isinstance(value, dict) else {}


def parts(rows: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """Cut into parts of at most `size`."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
