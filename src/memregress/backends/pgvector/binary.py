"""PostgreSQL's binary COPY format, encoded and decoded with numpy where it pays: the vectors.

Format: https://www.postgresql.org/docs/current/sql-copy.html (Binary Format). A `vector` is sent as int16
dimensions, int16 zero, then big-endian float4 each; a `halfvec` the same with IEEE half precision (pgvector,
``vector_send`` and ``halfvec_send``). Times are int64 microseconds since 2000-01-01 UTC; jsonb is a version byte
and text.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import numpy as np

from memregress.model import Documents, Floats, MemoryBatch

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"
NULL = b"\xff\xff\xff\xff"
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
WIRE = {"vector": ">f4", "halfvec": ">f2"}
"""numpy's name of the component type of each vector type."""

_length = struct.Struct(">i")
_count = struct.Struct(">h")
_document_head = struct.Struct(">iB")
_vector_head = struct.Struct(">ihh")

Encoded = Sequence[bytes | memoryview]
"""One column: per row its field, length included."""


def texts(values: Sequence[str | None]) -> Encoded:
    """Encode a text column."""
    return [NULL if value is None else _sized(value.encode()) for value in values]


def documents(values: Sequence[dict[str, Any]]) -> Encoded:
    """Encode a jsonb column."""
    texts = values.texts if isinstance(values, Documents) else map(msgspec.json.encode, values)
    return [_document_head.pack(len(text) + 1, 1) + text for text in texts]


def paths(values: Sequence[str | None]) -> Encoded:
    """Encode a jsonpath column."""
    return [NULL if value is None else _sized(b"\x01" + value.encode()) for value in values]


def times(values: Sequence[datetime | None]) -> Encoded:
    """Encode a timestamptz column."""
    if not any(values):
        return [NULL] * len(values)
    wire = np.empty(len(values), [("head", ">i4"), ("time", ">i8")])
    wire["head"] = 8
    wire["time"] = [0 if value is None else _microseconds(value) for value in values]
    body = wire.tobytes()
    return [NULL if value is None else body[12 * row : 12 * row + 12] for row, value in enumerate(values)]


def integers(values: Sequence[int]) -> Encoded:
    """Encode an int4 column."""
    return [_length.pack(4) + _length.pack(value) for value in values]


def vectors(values: Floats, present: Sequence[bool], type_: str) -> Encoded:
    """Encode float32[n, d] as a `vector` or `halfvec` column; rows that are not present become NULL.

    Head and components are laid into one array, and fields are views of it: a vector is copied once here, and once
    into the stream.
    """
    count, dimensions = values.shape
    layout = np.dtype([("head", "V8"), ("components", WIRE[type_], (dimensions,))])
    wire = np.empty(count, layout)
    size = layout.itemsize
    wire["head"] = np.void(_vector_head.pack(size - 4, dimensions, 0))
    with np.errstate(over="ignore"):  # a half that overflows becomes infinite, which the server refuses by name
        wire["components"] = values
    body = wire.view(np.uint8).data
    return [body[row * size : (row + 1) * size] if there else NULL for row, there in enumerate(present)]


def pack(columns: Sequence[Encoded]) -> bytes:
    """Join columns to a COPY stream."""
    count = itertools.repeat(_count.pack(len(columns)))
    fields = itertools.chain.from_iterable(zip(count, *columns, strict=False))
    return b"".join(itertools.chain((HEADER,), fields, (TRAILER,)))


def memories(batch: MemoryBatch, type_: str, names: Sequence[str]) -> bytes:
    """Encode the named columns (of `Columns`) of a batch as a COPY stream."""
    encoders: dict[str, Callable[[], Encoded]] = {
        "id": lambda: texts(batch.ids),
        "user": lambda: texts(batch.users),
        "content": lambda: texts(batch.contents),
        "vector": lambda: vectors(batch.vectors, (batch.dimensions > 0).tolist(), type_),
        "created_at": lambda: times(batch.created_at),
        "expires_at": lambda: times(batch.expires_at),
        "metadata": lambda: documents(batch.metadata),
    }
    return pack([encoders[name]() for name in names])


def rows(stream: bytes) -> Iterator[list[bytes | None]]:
    """Yield the rows of a COPY stream as raw fields."""
    at = len(HEADER)
    while (fields := _count.unpack_from(stream, at)[0]) >= 0:
        at += 2
        row: list[bytes | None] = []
        for _ in range(fields):
            length = _length.unpack_from(stream, at)[0]
            at += 4
            row.append(None if length < 0 else stream[at : at + length])
            at += max(length, 0)
        yield row


def vector(field: bytes | None, type_: str) -> Floats:
    """Decode a vector field to float32[d]; NULL becomes float32[0]."""
    if field is None:
        return np.empty(0, np.float32)
    return np.frombuffer(field, WIRE[type_], offset=4).astype(np.float32)


def time(field: bytes | None) -> datetime | None:
    """Decode a timestamptz field; beyond Python's range it is the nearest time that is in it."""
    if field is None:
        return None
    try:
        return EPOCH + timedelta(microseconds=int.from_bytes(field, "big", signed=True))
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC) if field[0] < 128 else datetime.min.replace(tzinfo=UTC)


def _sized(value: bytes) -> bytes:
    return _length.pack(len(value)) + value


def _microseconds(value: datetime) -> int:
    since = value - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
