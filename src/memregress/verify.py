"""Reading the store back: is each memory there, once, with its own vector, content, user, metadata and lifetime?"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from memregress.golden import GoldenSet
from memregress.model import Bools, Floats, IndexInfo, Ints, MemoryBatch
from memregress.tolerance import Tolerance

KEPT = 2_000
"""How many memories that differ are kept whole for diagnosis; all are counted."""
CREATED_KEPT = 200
"""How many differences of times of creation are kept."""
LIFETIME_SECONDS = 1.0
"""Stores keep times to the second at worst."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredMemory:
    """A memory as the store holds it; `vector` is float32[d], empty where there is none."""

    vector: Floats
    user: str | None
    content: str
    expires_at: datetime | None
    metadata: dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Stored:
    """What was read back, by golden row (n memories).

    `copies` int32[n]: rows the store holds of the id, 0 where it has none or was not asked (`checked` bool[n]).
    `dimensions` int32[n]: of the stored vector, 0 for none. `differs`: per field, bool[n]. `kept`: what the store
    holds in place of the first `KEPT` memories that differ. `created_moved`: by how many seconds the time of creation
    differs, of the first `CREATED_KEPT`; it breaks no memory.
    """

    checked: Bools
    copies: Ints
    dimensions: Ints
    differs: Mapping[str, Bools]
    kept: dict[int, StoredMemory] = field(default_factory=dict)
    created_moved: dict[int, float] = field(default_factory=dict)

    @property
    def missing(self) -> Bools:
        """bool[n]: checked, and not there."""
        missing: Bools = self.checked & (self.copies == 0)
        return missing


FIELDS = ("vector", "content", "user", "metadata", "lifetime")
"""What a memory is broken by."""


def nothing(count: int) -> Stored:
    """The state before anything was read back."""
    return Stored(
        checked=np.zeros(count, np.bool_),
        copies=np.zeros(count, np.int32),
        dimensions=np.zeros(count, np.int32),
        differs={name: np.zeros(count, np.bool_) for name in (*FIELDS, "created_at")},
    )


def batch(stored: Stored, golden: GoldenSet, wanted: MemoryBatch, found: MemoryBatch, *, rules: Rules) -> None:
    """Compare one batch of the golden set with what the store holds of it, and note the differences in `stored`."""
    place = {id_: index for index, id_ in enumerate(wanted.ids)}
    rows = np.array([golden.row_of[id_] for id_ in wanted.ids], np.int32)
    stored.checked[rows] = True
    theirs = np.array([index for index, id_ in enumerate(found.ids) if id_ in place], np.int64)
    ours = np.array([place[found.ids[index]] for index in theirs.tolist()], np.int64)
    np.add.at(stored.copies, rows[ours], 1)
    stored.dimensions[rows[ours]] = found.dimensions[theirs]
    differs = _differences(wanted, ours, found, theirs, rules)
    for name, flags in differs.items():
        np.logical_or.at(stored.differs[name], rows[ours], flags)
    for index in np.flatnonzero(differs["created_at"]).tolist()[: CREATED_KEPT - len(stored.created_moved)]:
        moved = _seconds(wanted.created_at[ours[index]], found.created_at[theirs[index]])
        stored.created_moved[int(rows[ours[index]])] = moved
    for index in np.flatnonzero(np.logical_or.reduce([differs[name] for name in FIELDS])).tolist():
        if len(stored.kept) >= KEPT:
            break
        stored.kept[int(rows[ours[index]])] = _keep(found, int(theirs[index]))


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """What counts as a difference."""

    tolerance: Tolerance
    not_stored: Sequence[str]

    @classmethod
    def of(cls, tolerance: Tolerance, info: IndexInfo) -> Rules:
        """The rules for a store: fields it has no place for are not compared."""
        return cls(tolerance=tolerance, not_stored=info.not_stored)


def _differences(
    wanted: MemoryBatch, ours: np.ndarray, found: MemoryBatch, theirs: np.ndarray, rules: Rules
) -> dict[str, Bools]:
    pairs = list(zip(ours.tolist(), theirs.tolist(), strict=True))
    columns: dict[str, tuple[Sequence[Any], Sequence[Any], Callable[[Any, Any], bool]]] = {
        "content": (wanted.contents, found.contents, operator.ne),
        "user": (wanted.users, found.users, operator.ne),
        "metadata": (wanted.metadata, found.metadata, _documents_differ),
    }
    differs = {
        name: np.array([name not in rules.not_stored and test(one[i], other[j]) for i, j in pairs], np.bool_)
        for name, (one, other, test) in columns.items()
    }
    differs["vector"] = _vectors_differ(wanted, ours, found, theirs, rules.tolerance.component)
    for name, column in (("lifetime", "expires_at"), ("created_at", "created_at")):
        one, other = getattr(wanted, column), getattr(found, column)
        moved = [column not in rules.not_stored and _moved(one[i], other[j]) for i, j in pairs]
        differs[name] = np.array(moved, np.bool_)
    return differs


def _vectors_differ(
    wanted: MemoryBatch, ours: np.ndarray, found: MemoryBatch, theirs: np.ndarray, component: float
) -> Bools:
    """Whether stored vectors differ; a vector of other dimensions does, none at all is not `altered` but missing."""
    dimensions, has = found.dimensions[theirs], wanted.dimensions[ours]
    differs: Bools = (dimensions != has) & (dimensions > 0)
    width = wanted.vectors.shape[1]
    same = np.flatnonzero((dimensions == has) & (has > 0))
    if len(same) and found.vectors.shape[1] >= width:
        golden, stored = wanted.vectors[ours[same]], found.vectors[theirs[same], :width]
        unequal = np.flatnonzero((golden != stored).any(axis=1))  # bit for bit is the rule, and fast to see
        limit = component * np.abs(golden[unequal]).max(axis=1, initial=0)
        with np.errstate(invalid="ignore"):
            differs[same[unequal]] = ~(np.abs(golden[unequal] - stored[unequal]).max(axis=1, initial=0) <= limit)
    return differs


def _documents_differ(wanted: Any, found: Any) -> bool:
    """Whether two JSON values differ; in Python ``True == 1``, in JSON they are two things."""
    if isinstance(wanted, bool) is not isinstance(found, bool) or wanted != found:
        return True
    if isinstance(wanted, dict):
        return any(_documents_differ(value, found[key]) for key, value in wanted.items())
    return isinstance(wanted, list) and any(map(_documents_differ, wanted, found))


def _moved(wanted: datetime | None, found: datetime | None) -> bool:
    if wanted is None or found is None:
        return wanted is not found
    return abs((wanted - found).total_seconds()) > LIFETIME_SECONDS


def _seconds(wanted: datetime | None, found: datetime | None) -> float:
    """How much later a time is in the store; NaN where one of them is absent."""
    return float("nan") if wanted is None or found is None else (found - wanted).total_seconds()


def _keep(found: MemoryBatch, index: int) -> StoredMemory:
    return StoredMemory(
        vector=found.vectors[index, : found.dimensions[index]].copy(),
        user=found.users[index],
        content=found.contents[index],
        expires_at=found.expires_at[index],
        metadata=found.metadata[index],
    )
