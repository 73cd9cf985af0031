"""What the imports share: decoding strangers' lines, and vectors that lie in an `.npy` of their own."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from memregress import errors
from memregress.golden import lines, npy
from memregress.golden.memories import note_faults
from memregress.golden.problems import Problems
from memregress.golden.writing import Recorded
from memregress.model import Floats, Memory, MemoryBatch, Query

BATCH = 2_000

Line = TypeVar("Line", bound=msgspec.Struct)


def decode(path: Path, kind: type[Line], problems: Problems) -> Iterator[tuple[int, Line]]:
    """Yield the lines of a file with their numbers; note those that cannot be decoded, and pass over them."""
    decoder = msgspec.json.Decoder(kind)
    try:
        for number, data in enumerate(lines.read(path), start=1):
            try:
                yield number, decoder.decode(data)
            except (msgspec.MsgspecError, RecursionError):
                note_faults(data, kind, problems, file=path.name, line=number)
    except lines.UnreadableError as error:
        problems.add(error.what, file=path.name, line=error.line)


def map_vectors(path: Path) -> Floats:
    """Map an `.npy` that a user named, or say in which way it is not float32[n, d]."""
    try:
        return npy.map_rows(path)
    except (ValueError, OSError) as error:
        raise errors.GoldenError(str(path), [errors.Problem(file=path.name, what=str(error))], _REMEDY) from error


_REMEDY = "Write it with numpy: numpy.save(path, vectors.astype('float32'))."


def batch(memories: Sequence[Memory], vectors: Floats) -> MemoryBatch:
    """Put memories and their vectors (float32[n, d]) together."""
    has_vector = np.array([memory.vector for memory in memories], dtype=bool)
    return MemoryBatch(
        ids=[memory.id for memory in memories],
        vectors=np.ascontiguousarray(vectors),
        dimensions=np.where(has_vector, vectors.shape[1], 0).astype(np.int32),
        users=[memory.user for memory in memories],
        contents=[memory.content for memory in memories],
        created_at=[memory.created_at for memory in memories],
        expires_at=[memory.expires_at for memory in memories],
        metadata=[memory.metadata for memory in memories],
    )


def beside(memories: Iterable[Memory], vectors: Path, problems: Problems) -> Iterator[MemoryBatch]:
    """Stream memories with the rows of an `.npy`, the first with the first; an all-NaN row is no vector.

    Problems that were noted while the memories were read are raised at the end.
    """
    mapped = map_vectors(vectors)
    remaining = iter(memories)
    first = 0
    while taken := list(itertools.islice(remaining, BATCH)):
        rows = mapped[first : first + len(taken)]
        first += len(taken)
        if len(rows) == len(taken):
            absent = np.atleast_1d(np.isnan(rows).all(axis=1))
            taken = [
                msgspec.structs.replace(memory, vector=not missing)
                for memory, missing in zip(taken, absent.tolist(), strict=True)
            ]
            yield batch(taken, rows)
    problems.raise_any()
    check_rows(vectors, len(mapped), first)


def recorded(queries: Sequence[Query], vectors: Path | None) -> list[Recorded]:
    """Put queries and the rows of an `.npy` together; without one they are text only."""
    if vectors is None:
        return [(query, None) for query in queries]
    mapped = map_vectors(vectors)
    check_rows(vectors, len(mapped), len(queries))
    return list(zip(queries, mapped, strict=True))


def check_rows(path: Path, rows: int, wanted: int) -> None:
    """Refuse an `.npy` that has not a row for each line."""
    if rows != wanted:
        problem = errors.Problem(file=path.name, what=f"has {rows:,} rows for {wanted:,} lines")
        raise errors.GoldenError(str(path), [problem], "Give one row of vectors for each line, in the same order.")
