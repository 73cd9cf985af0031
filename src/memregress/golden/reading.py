"""Opening a golden set: every part of it is checked, and all problems are raised at once."""

from __future__ import annotations

import os
from concurrent import futures
from pathlib import Path

from memregress.golden import manifest as manifests
from memregress.golden import memories as memory_parts
from memregress.golden import parts as part_files
from memregress.golden import queries as query_parts
from memregress.golden.golden_set import GoldenSet
from memregress.golden.problems import Problems
from memregress.model import Shape


def open_set(path: str | os.PathLike[str]) -> GoldenSet:
    """Open the golden set in a folder.

    Raises:
        GoldenError: with all problems of all its files, each with file, line and field.
    """
    return open_as(Path(path), shown_as=os.fspath(path))


def open_as(folder: Path, *, shown_as: str) -> GoldenSet:
    """Open a golden set under the name it has in messages."""
    problems = Problems(shown_as)
    manifest = manifests.read(folder, problems)
    parts = part_files.locate(folder, manifest, problems)
    with futures.ThreadPoolExecutor(max_workers=2) as pool:
        sums = part_files.start_checksums(pool, parts)
        memories = memory_parts.read(parts.memories, manifest, problems)
        queries = query_parts.read(parts.queries, memories, manifest, problems)
        part_files.check_checksums(parts.files, sums, problems)
    problems.raise_any()
    return _assemble(folder, manifest, memories, queries)


def _assemble(
    folder: Path, manifest: manifests.Manifest, memories: memory_parts.Memories, queries: query_parts.Queries
) -> GoldenSet:
    return GoldenSet(
        path=folder,
        manifest=manifest,
        ids=memories.ids,
        row_of=memories.row_of,
        users=memories.users,
        has_vector=memory_parts.presence(memories),
        shape=Shape(
            dimensions=manifest.vectors.dimensions,
            metric=manifest.vectors.metric,
            clock=manifest.captured_at,
            users=memories.any_user,
            lifetimes=memories.any_lifetime,
        ),
        queries=queries.items,
        query_vectors=queries.matrix,
        blocks=memories.blocks,
        query_places=queries.places,
    )
