"""Writing a golden set: streamed, deterministic, and there as a whole or not at all."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from memregress import errors
from memregress.golden import appearing, encoding, reading
from memregress.golden import manifest as manifests
from memregress.golden.manifest import Manifest, Part, Policy, Vectors
from memregress.golden.part_writer import ROWS_PER_PART, PartWriter
from memregress.model import Floats, Memory, MemoryBatch, Query

Recorded = tuple[Query, Floats | None]
"""A query and its vector float32[d]; None for text only."""


def write(
    path: str | os.PathLike[str],
    *,
    name: str,
    created_at: datetime,
    captured_at: datetime,
    vectors: Vectors,
    memories: Iterable[MemoryBatch],
    queries: Iterable[Recorded] = (),
    source: dict[str, Any] | None = None,
    redaction: dict[str, Any] | None = None,
    policy: Policy | None = None,
    compress: bool = False,
    rows_per_part: int = ROWS_PER_PART,
) -> Manifest:
    """Write a golden set into a new folder and return its manifest.

    The same input gives the same bytes. The folder appears when it is complete and has been read back without
    a problem; whatever goes wrong before leaves nothing behind. At most one batch is held in memory.

    Raises:
        ConfigError: the folder exists.
        GoldenError: what was given breaks a rule of the format; nothing was written.
    """
    target = Path(path)
    with appearing.folder(target) as folder:
        dimensions = vectors.dimensions
        with PartWriter(folder, "memories", dimensions=dimensions, compress=compress, size=rows_per_part) as writer:
            parts = _memories(writer, memories, dimensions, shown_as=str(target))
        with PartWriter(folder, "queries", dimensions=dimensions, compress=compress, size=rows_per_part) as writer:
            parts += _queries(writer, queries, dimensions, shown_as=str(target))
        manifest = Manifest(
            format=manifests.FORMAT,
            name=name,
            created_at=encoding.moment(created_at),
            captured_at=encoding.moment(captured_at),
            vectors=vectors,
            source=source,
            parts=sorted(parts, key=lambda part: part.file),
            redaction=redaction,
            policy=policy or Policy(),
        )
        (folder / manifests.FILE).write_bytes(manifests.encode(manifest))
        reading.open_as(folder, shown_as=str(target))
    return manifest


def _memories(writer: PartWriter, batches: Iterable[MemoryBatch], dimensions: int, *, shown_as: str) -> list[Part]:
    for batch in batches:
        vectors = _checked(batch, dimensions, shown_as=shown_as)
        writer.add([encoding.memory(memory) for memory in unbatch(batch)], vectors)
    return writer.finish(vectors=True)


def unbatch(batch: MemoryBatch) -> Iterator[Memory]:
    """Yield a batch's memories, without their vectors."""
    for row in range(len(batch)):
        yield Memory(
            id=batch.ids[row],
            user=batch.users[row],
            content=batch.contents[row],
            created_at=batch.created_at[row],
            expires_at=batch.expires_at[row],
            metadata=batch.metadata[row],
            vector=bool(batch.dimensions[row]),
        )


def _checked(batch: MemoryBatch, dimensions: int, *, shown_as: str) -> Floats:
    """A batch's vectors, with NaN where a memory has none; refuses vectors of another length than the set's."""
    wrong = np.flatnonzero((batch.dimensions != 0) & (batch.dimensions != dimensions))
    if len(wrong):
        problems = [
            errors.Problem(
                file=manifests.FILE,
                field="vectors.dimensions",
                what=f"memory {batch.ids[row]!r} has {batch.dimensions[row]} dimensions, the set has {dimensions}",
            )
            for row in wrong
        ]
        raise errors.GoldenError(shown_as, problems, "Give all memories vectors of one model.")
    vectors = np.full((len(batch), dimensions), np.nan, dtype=np.float32)
    has_vector = batch.dimensions != 0
    vectors[has_vector] = batch.vectors[has_vector][:, :dimensions]
    return vectors


def _queries(writer: PartWriter, queries: Iterable[Recorded], dimensions: int, *, shown_as: str) -> list[Part]:
    recorded = iter(queries)
    while batch := list(itertools.islice(recorded, 1_000)):
        vectors = [vector for _, vector in batch if vector is not None]
        if len(vectors) not in (0, len(batch)):
            raise _mixed(shown_as)
        try:
            writer.add([encoding.query(query) for query, _ in batch], _stacked(vectors, dimensions))
        except ValueError as error:
            raise _mixed(shown_as, str(error)) from error
    return writer.finish()


def _stacked(vectors: list[Floats], dimensions: int) -> Floats | None:
    if not vectors:
        return None
    wrong = {len(vector) for vector in vectors} - {dimensions}
    if wrong:
        raise ValueError(f"a query vector has {wrong.pop()} dimensions, the set has {dimensions}")
    return np.asarray(vectors, dtype=np.float32)


def _mixed(shown_as: str, what: str = "some queries come with vectors and some without") -> errors.GoldenError:
    problem = errors.Problem(file="queries.npy", what=what)
    return errors.GoldenError(shown_as, [problem], "Give every query a vector of the set's model, or none of them.")
