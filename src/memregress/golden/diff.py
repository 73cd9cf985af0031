"""What changed between two golden sets, and which expectations were loosened: what a reviewer has to see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from memregress import similarity
from memregress.golden.golden_set import GoldenSet
from memregress.model import Expected, MemoryBatch, Metric, Query

FIELDS = ("user", "content", "created_at", "expires_at", "metadata")
_POLICY_LOOSER_WHEN_HIGHER = ("similarity_tolerance", "rank_tolerance", "probe_k", "max_index_misses")


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A memory or query that both sets have: which of its fields differ, and how far its vector moved.

    `moved` is the Euclidean distance between old and new vector; None where it cannot be told.
    """

    id: str
    fields: list[str]
    moved: float | None = None


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """Memories, or queries, by id."""

    added: list[str]
    removed: list[str]
    changed: list[Change]


class Loosened(msgspec.Struct, frozen=True, kw_only=True):
    """An expectation that is easier to meet than before; `query` is None where it is the set's policy."""

    query: str | None
    what: str


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that differs between an old and a new golden set."""

    manifest: list[str]
    memories: Changes
    queries: Changes
    loosened: list[Loosened]

    def __bool__(self) -> bool:
        groups = (self.memories, self.queries)
        return bool(self.manifest or self.loosened or any(g.added or g.removed or g.changed for g in groups))


def compare(old: GoldenSet, new: GoldenSet) -> Difference:
    """Compare two golden sets; memories are compared by a fingerprint a field, so contents are never all in memory."""
    return Difference(
        manifest=_manifest(old, new),
        memories=_memories(old, new),
        queries=_queries(old, new),
        loosened=[*_loosened_policy(old, new), *_loosened(old, new)],
    )


def _manifest(old: GoldenSet, new: GoldenSet) -> list[str]:
    names = [field.name for field in msgspec.structs.fields(old.manifest) if field.name not in ("parts", "created_at")]
    return [name for name in names if getattr(old.manifest, name) != getattr(new.manifest, name)]


def _memories(old: GoldenSet, new: GoldenSet) -> Changes:
    common = [id_ for id_ in new.ids if id_ in old.row_of]
    before = np.array([old.row_of[id_] for id_ in common], dtype=np.int64)
    after = np.array([new.row_of[id_] for id_ in common], dtype=np.int64)
    differs = _fingerprints(old)[before] != _fingerprints(new)[after]
    moved = _moved(old, new, before, after)
    rows = np.flatnonzero(differs.any(axis=1) | (moved != 0))
    return Changes(
        added=[id_ for id_ in new.ids if id_ not in old.row_of],
        removed=[id_ for id_ in old.ids if id_ not in new.row_of],
        changed=[_change(common[row], FIELDS, differs[row], float(moved[row])) for row in rows],
    )


def _change(id_: str, names: tuple[str, ...], differs: npt.NDArray[np.bool_], moved: float) -> Change:
    fields = [name for name, different in zip(names, differs, strict=True) if different]
    if moved:  # NaN too
        fields.append("vector")
    return Change(id=id_, fields=fields, moved=None if np.isnan(moved) else float(f"{moved:.6g}"))


def _fingerprints(golden: GoldenSet) -> npt.NDArray[np.int64]:
    """int64[n, fields]: hashes that hold within this process."""
    found = np.empty((len(golden), len(FIELDS)), dtype=np.int64)
    row = 0
    for batch in golden.batches():
        for column, values in enumerate(_columns(batch)):
            found[row : row + len(batch), column] = [hash(value) for value in values]
        row += len(batch)
    return found


def _columns(batch: MemoryBatch) -> tuple[list[Any], ...]:
    metadata = [msgspec.json.encode(value, order="sorted") for value in batch.metadata]
    return batch.users, batch.contents, batch.created_at, batch.expires_at, metadata


def _moved(old: GoldenSet, new: GoldenSet, before: npt.NDArray[np.int64], after: npt.NDArray[np.int64]) -> Any:
    """float64[m]: how far vectors moved; 0 where both have none, NaN where only one has one or dimensions differ."""
    moved = np.full(len(before), np.nan)
    if old.shape.dimensions != new.shape.dimensions:
        return moved
    for start in range(0, len(before), similarity.MEMORY_BLOCK):
        part = slice(start, start + similarity.MEMORY_BLOCK)
        moved[part] = 0 - similarity.pairs(Metric.L2, old.vectors(before[part]), new.vectors(after[part]))
    moved[~old.has_vector[before] & ~new.has_vector[after]] = 0
    return moved


def _queries(old: GoldenSet, new: GoldenSet) -> Changes:
    before = {query.id: position for position, query in enumerate(old.queries)}
    after = {query.id: position for position, query in enumerate(new.queries)}
    names = tuple(field.name for field in msgspec.structs.fields(Query))
    changed = []
    for id_ in (id_ for id_ in after if id_ in before):
        one, other = old.queries[before[id_]], new.queries[after[id_]]
        differs = np.array([getattr(one, name) != getattr(other, name) for name in names])
        moved = _query_moved(old, new, before[id_], after[id_])
        if differs.any() or moved:
            changed.append(_change(id_, names, differs, moved))
    return Changes(
        added=[id_ for id_ in after if id_ not in before],
        removed=[id_ for id_ in before if id_ not in after],
        changed=changed,
    )


def _query_moved(old: GoldenSet, new: GoldenSet, before: int, after: int) -> float:
    if old.query_vectors is None and new.query_vectors is None:
        return 0.0
    if old.query_vectors is None or new.query_vectors is None or old.shape.dimensions != new.shape.dimensions:
        return float("nan")
    return float(0 - similarity.pairs(Metric.L2, old.query_vectors[before], new.query_vectors[after]))


def _loosened_policy(old: GoldenSet, new: GoldenSet) -> Iterator[Loosened]:
    before, after = old.manifest.policy, new.manifest.policy
    for name in _POLICY_LOOSER_WHEN_HIGHER:
        if _raised(getattr(before, name), getattr(after, name)):
            yield Loosened(query=None, what=f"{name} raised from {getattr(before, name)} to {getattr(after, name)}")
    if _lowered(before.must_recall, after.must_recall):
        yield Loosened(query=None, what=f"must_recall lowered from {before.must_recall} to {after.must_recall}")


def _raised(before: float | None, after: float | None) -> bool:
    """Whether an upper bound went up or away; one that is new is no loosening."""
    return before is not None and (after is None or after > before)


def _lowered(before: float | None, after: float | None) -> bool:
    """Whether a lower bound went down or away."""
    return before is not None and (after is None or after < before)


def _loosened(old: GoldenSet, new: GoldenSet) -> Iterator[Loosened]:
    after = {query.id: query for query in new.queries}
    for query in old.queries:
        if query.id not in after:
            yield Loosened(query=query.id, what="removed")
        else:
            for what in _loosened_query(query, after[query.id]):
                yield Loosened(query=query.id, what=what)


def _loosened_query(old: Query, new: Query) -> Iterator[str]:
    after = {expected.id: expected for expected in new.expected}
    for expected in old.expected:
        yield from _loosened_expectation(expected, after.get(expected.id))
    if _lowered(old.min_similarity, new.min_similarity):
        yield f"min_similarity lowered from {old.min_similarity} to {new.min_similarity}"
    if new.k > old.k:
        yield f"k raised from {old.k} to {new.k}"
    for id_ in old.forbidden:
        if id_ not in new.forbidden:
            yield f"{id_} is no longer forbidden"


def _loosened_expectation(old: Expected, new: Expected | None) -> Iterator[str]:
    if new is None:
        yield f"{old.id} is no longer expected"
        return
    if old.must and not new.must:
        yield f"{old.id} no longer must be found"
    if _raised(old.max_rank, new.max_rank):
        yield f"{old.id}: max_rank raised from {old.max_rank} to {new.max_rank}"
    if old.similarity is not None and new.similarity is None:
        yield f"{old.id}: its similarity is no longer recorded"
