"""Vectors as the bytes of a hash's field: little-endian components, one after the other.

https://redis.io/docs/latest/develop/ai/search-and-query/vectors/ (types). A bfloat16 is the upper half of a float32.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from memregress.model import Floats

WIRE = {"float32": "<f4", "float64": "<f8", "float16": "<f2", "bfloat16": "<u2"}


def encode(vectors: Floats, type_: str) -> list[bytes]:
    """Encode float32[n, d], a field a row."""
    wire = _bfloat16(vectors) if type_ == "bfloat16" else vectors.astype(WIRE[type_], copy=False)
    return [row.tobytes() for row in wire]


def decode(field: bytes | None, type_: str, dimensions: int) -> Floats:
    """Decode a field to float32[d], empty for none; what is no whole vector gets another length."""
    if field is None:
        return np.empty(0, np.float32)
    wire = np.dtype(WIRE[type_])
    whole = np.frombuffer(field[: len(field) // wire.itemsize * wire.itemsize], wire)
    found = _float32(whole) if type_ == "bfloat16" else whole.astype(np.float32)
    if len(field) != dimensions * wire.itemsize and len(found) in (0, dimensions):
        return np.zeros(dimensions + 1, np.float32)
    return found


def size(type_: str, dimensions: int) -> int:
    """Return the bytes of a vector."""
    return dimensions * np.dtype(WIRE[type_]).itemsize


def _bfloat16(vectors: Floats) -> npt.NDArray[np.uint16]:
    """Round to the nearest, to even between two."""
    bits = np.ascontiguousarray(vectors, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def _float32(halves: npt.NDArray[np.uint16]) -> Floats:
    found: Floats = (halves.astype(np.uint32) << 16).view(np.float32)
    return found
