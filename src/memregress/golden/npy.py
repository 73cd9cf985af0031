"""Vector parts: `.npy` of little-endian float32[n, d] in C order, mapped into memory, never unpickled."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from memregress.model import Bools, Floats

HEADER_BYTES = 128
_MAGIC = b"\x93NUMPY"
_BLOCK_BYTES = 8 << 20


def map_rows(path: Path) -> Floats:
    """Return the part's rows, memory-mapped and read-only.

    Raises:
        ValueError: saying in which way the file is not float32[n, d] in C order.
    """
    rows, dimensions = _shape(path)
    if rows == 0:
        return np.empty((0, dimensions), dtype=np.float32)
    mapped: Floats = np.load(path, mmap_mode="r", allow_pickle=False)
    return mapped.view(np.ndarray)


def _shape(path: Path) -> tuple[int, int]:
    with path.open("rb") as file:
        shape, fortran, dtype = _header(file)
        offset = file.tell()
        size = os.fstat(file.fileno()).st_size
    if dtype.hasobject:
        raise ValueError("holds pickled objects, which are never read; write it as float32")
    if dtype != np.dtype("<f4"):
        raise ValueError(f"holds {dtype.str}, not little-endian float32 (<f4)")
    if len(shape) != 2:
        raise ValueError(f"has {len(shape)} axes, not two (rows, dimensions)")
    if fortran:
        raise ValueError("is in Fortran order; write it with numpy.ascontiguousarray")
    if size != offset + shape[0] * shape[1] * 4:
        raise ValueError(f"is {size:,} bytes long, its header says {offset + shape[0] * shape[1] * 4:,}")
    return shape[0], shape[1]


def _header(file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    try:
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        return read(file)
    except KeyError:
        raise ValueError("is of an .npy version that is not read; numpy.save writes 1.0") from None
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"is not an .npy file: {str(error).splitlines()[0] if str(error) else error!r}") from error


def header(rows: int, dimensions: int) -> bytes:
    """Return the 128 bytes that numpy itself writes before float32[rows, dimensions]."""
    words = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {dimensions}), }}"
    room = HEADER_BYTES - len(_MAGIC) - 4
    return _MAGIC + b"\x01\x00" + room.to_bytes(2, "little") + words.ljust(room - 1).encode("ascii") + b"\n"


class Flaw(NamedTuple):
    """A row that is not what it should be: its number within the part, and what is wrong with it."""

    row: int
    what: str


def flaws(vectors: Floats, has_vector: Bools, *, zero_allowed: bool) -> Iterator[Flaw]:
    """Yield the rows that hold NaN, infinity or nothing but zeros, and rows without a vector that hold something."""
    size = max(1, _BLOCK_BYTES // (4 * max(1, vectors.shape[1])))
    for start in range(0, len(has_vector), size):
        block = vectors[start : start + size][: len(has_vector) - start]
        expected = has_vector[start : start + size]
        for row in _suspects(block, expected, zero_allowed=zero_allowed):
            what = _flaw(block[row], has_vector=bool(expected[row]), zero_allowed=zero_allowed)
            if what:
                yield Flaw(start + int(row), what)


def _suspects(block: Floats, has_vector: Bools, *, zero_allowed: bool) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """One pass over the block: the sum of squares of a row shows NaN, infinity and zeros alike."""
    with np.errstate(all="ignore"):
        energy = np.einsum("ij,ij->i", block, block)
    suspect = ~np.isfinite(energy) | ~has_vector
    if not zero_allowed:
        suspect |= energy == 0
    return np.flatnonzero(suspect)


def _flaw(row: Floats, *, has_vector: bool, zero_allowed: bool) -> str | None:
    if not has_vector:
        return None if np.isnan(row).all() else "must be NaN, because the memory's line says it has no vector"
    if np.isnan(row).any():
        return "holds NaN"
    if np.isinf(row).any():
        return "holds infinity"
    if not zero_allowed and not row.any():
        return "is all zeros, which has no direction and so no cosine similarity"
    return None
