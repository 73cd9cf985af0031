"""Memories and queries as JSON lines: with their vectors inline, or in an `.npy` beside them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from memregress.golden import incoming
from memregress.golden.problems import Problems
from memregress.golden.writing import Recorded
from memregress.model import Floats, Memory, MemoryBatch, Query


class InlineMemory(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A memory's line, with its vector on it; null or absent where it has none."""

    id: str
    user: str | None = None
    content: str = ""
    created_at: datetime | None = None
    expires_at: datetime | None = None
    metadata: dict[str, Any] = {}
    vector: list[float] | bool | None = None


class InlineQuery(Query, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A query's line, with its vector on it."""

    vector: list[float] | None = None


def memories(path: Path, vectors: Path | None = None) -> Iterator[MemoryBatch]:
    """Stream the memories of a file; row i of `vectors`, where given, belongs to line i.

    Raises:
        GoldenError: with all problems of the file, when its last line has been read.
    """
    problems = Problems(str(path))
    numbered = incoming.decode(path, InlineMemory, problems)
    if vectors is None:
        yield from _inline(numbered, problems, file=path.name)
    else:
        yield from incoming.beside((_memory(line) for _, line in numbered), vectors, problems)
    problems.raise_any()


def _inline(numbered: Iterator[tuple[int, InlineMemory]], problems: Problems, *, file: str) -> Iterator[MemoryBatch]:
    dimensions = 0
    while taken := list(itertools.islice(numbered, incoming.BATCH)):
        dimensions = dimensions or next((len(line.vector) for _, line in taken if isinstance(line.vector, list)), 0)
        for number, line in taken:
            if isinstance(line.vector, list) and len(line.vector) != dimensions:
                what = f"has {len(line.vector)} dimensions, the first vector has {dimensions}"
                problems.add(what, file=file, line=number, field="vector")
        if not len(problems):
            yield incoming.batch([_memory(line) for _, line in taken], _rows([line for _, line in taken], dimensions))


def _memory(line: InlineMemory) -> Memory:
    fields = {name: getattr(line, name) for name in Memory.__struct_fields__}
    return Memory(**{**fields, "vector": isinstance(line.vector, list)})


def _rows(taken: Sequence[InlineMemory], dimensions: int) -> Floats:
    nothing = [np.nan] * dimensions
    rows = [line.vector if isinstance(line.vector, list) else nothing for line in taken]
    return np.array(rows, dtype=np.float32).reshape(len(taken), dimensions)


def queries(path: Path, vectors: Path | None = None) -> list[Recorded]:
    """Read the queries of a file, in the golden set's own form, with a vector inline or in `vectors`.

    Raises:
        GoldenError: with all problems of the file.
    """
    problems = Problems(str(path))
    found = [line for _, line in incoming.decode(path, InlineQuery, problems)]
    problems.raise_any()
    plain = [Query(**{name: getattr(line, name) for name in Query.__struct_fields__}) for line in found]
    if vectors is not None:
        return incoming.recorded(plain, vectors)
    return [
        (query, None if line.vector is None else np.array(line.vector, dtype=np.float32))
        for query, line in zip(plain, found, strict=True)
    ]
