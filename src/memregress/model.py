"""The words of memregress as types: frozen, keyword-only, and without behaviour.

What crosses a file is a `msgspec.Struct` (decoded strictly, errors name the field); what travels between
stages as arrays is a dataclass. A *row* is the position of a memory in its golden set, counted from 0: inside
a run memories are rows, so that a hundred thousand of them are compared as arrays.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, overload

import msgspec
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

Filter = dict[str, Any]
"""Conditions on metadata, all of which must hold; see `memregress.filters`."""


class Metric(enum.StrEnum):
    """How closeness is measured; on memregress's scale higher is closer for all three."""

    COSINE = "cosine"
    INNER_PRODUCT = "inner_product"
    L2 = "l2"


class Memory(msgspec.Struct, gc=False, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One remembered item, without its vector (which is a row of the `.npy` part)."""

    id: str
    user: str | None = None
    content: str = ""
    created_at: datetime | None = None
    expires_at: datetime | None = None
    metadata: dict[str, Any] = {}
    vector: bool = True


class Expected(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A memory that a query must (or may) find: at which similarity, and at which rank at the latest."""

    id: str
    similarity: float | None = None
    must: bool = True
    max_rank: int | None = None


class Source(enum.StrEnum):
    """Where a query's expectation comes from: the old store's own answer, or exact search."""

    RECORDED = "recorded"
    EXACT = "exact"


class Query(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A recorded search; its vector is a row of `queries.npy`."""

    id: str
    text: str | None = None
    user: str | None = None
    filter: Filter | None = None
    k: int = 10
    min_similarity: float | None = None
    expected: list[Expected] = []
    forbidden: list[str] = []
    labels: list[str] = []
    source: Source = Source.RECORDED


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """What a backend must know of a golden set before it sees the first memory.

    `clock` is the time at which memories are judged alive or expired (the golden set's `captured_at`).
    `users` and `lifetimes` say whether any memory has one: a search then filters on it, as the application would.
    """

    dimensions: int
    metric: Metric
    clock: datetime
    users: bool
    lifetimes: bool


class Documents(Sequence[dict[str, Any]]):
    """JSON objects as texts, decoded when read: a store that takes JSON takes the text as it stands."""

    def __init__(self, texts: Sequence[msgspec.Raw]) -> None:
        """Keep texts that are known to be JSON objects."""
        self.texts = texts

    def __len__(self) -> int:
        """n"""
        return len(self.texts)

    @overload
    def __getitem__(self, key: int, /) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice, /) -> Documents: ...
    def __getitem__(self, key: int | slice, /) -> dict[str, Any] | Documents:
        """Return one object, or some of them, still undecoded."""
        if isinstance(key, slice):
            return Documents(self.texts[key])
        found: dict[str, Any] = msgspec.json.decode(self.texts[key])
        return found

    def __eq__(self, other: object) -> bool:
        """Whether the objects are equal, however they are written."""
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as a list has none


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MemoryBatch:
    """n memories as columns.

    `vectors` is float32[n, d], C-contiguous; `dimensions` is int32[n]: how many leading components of a row are the
    vector, 0 where the memory has no vector. (In a golden set every row has all d, or none.)
    """

    ids: list[str]
    vectors: Floats
    dimensions: Ints
    users: list[str | None]
    contents: list[str]
    created_at: list[datetime | None]
    expires_at: list[datetime | None]
    metadata: Sequence[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class QueryBatch:
    """n searches as columns; `vectors` is float32[n, d]; a null user or filter means no such condition."""

    vectors: Floats
    users: list[str | None]
    filters: list[Filter | None]
    k: list[int]

    def __len__(self) -> int:
        return len(self.k)

    def take(self, rows: Sequence[int]) -> QueryBatch:
        """Return the given searches, in the given order."""
        return QueryBatch(
            vectors=np.ascontiguousarray(self.vectors[list(rows)]),
            users=[self.users[row] for row in rows],
            filters=[self.filters[row] for row in rows],
            k=[self.k[row] for row in rows],
        )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Hits:
    """Answers to a `QueryBatch`: per query the ids and similarities by rank, at most `k` of them.

    Similarities are on memregress's scale, NaN where the store gave none. `used_index` is bool[n]: whether the
    search went through an approximate vector index (None where the store cannot tell).
    """

    ids: list[list[str]]
    similarity: list[list[float]]
    used_index: Bools | None = None


class Rejected(msgspec.Struct, frozen=True, kw_only=True):
    """A memory the store did not take in, with the store's own reason."""

    id: str
    reason: str


class IndexInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a store says of itself and of its vector index: facts for causes, remedies and the report."""

    server: str
    """Name and versions, e.g. ``PostgreSQL 16.14, pgvector 0.8.5``."""
    location: str
    """Where the memories lie, as one would name it in a statement: ``schema.table``, a file, a collection."""
    rows: int
    stored_as: str
    """The type vectors are stored in: ``float32``, ``float16``."""
    dimensions: int | None = None
    """Of the declared vector column or index; None where undeclared."""
    metric: Metric
    """The one searches use."""
    kind: str = "none"
    """``hnsw``, ``ivfflat``, ``ivf``, ``flat`` or ``none``; flat and none are exact."""
    index: str | None = None
    index_metric: Metric | None = None
    valid: bool = True
    predicate: str | None = None
    """The condition of a partial index: rows that fail it are not in the index."""
    parameters: dict[str, Any] = {}
    """Build parameters, e.g. ``{"m": 16, "ef_construction": 64}``."""
    settings: dict[str, Any] = {}
    """Effective search settings, e.g. ``{"hnsw.ef_search": 40}``."""
    dead: int = 0
    """Deleted and updated rows that the index still visits, as far as the store counts them."""
    unusable: str | None = None
    """Why searches cannot use the index that is there (another metric, another type), in words."""
    not_stored: list[str] = []
    """Fields of a memory that this layout has no place for; they cannot be compared."""
    names: dict[str, str] = {}
    """What the fields of a memory are called in the store, for statements to copy."""

    @property
    def approximate(self) -> bool:
        """Whether an index that may miss memories stands between a search and the rows."""
        return self.kind not in ("none", "flat") and self.valid and self.unusable is None


class Verdict(enum.StrEnum):
    """What happened to one memory; exactly one each, listed worst first (design: the first that applies)."""

    MISSING = "missing"
    MISATTRIBUTED = "misattributed"
    ALTERED = "altered"
    LEAKED = "leaked"
    EXPIRED = "expired"
    HIDDEN = "hidden"
    UNREACHABLE = "unreachable"
    OUTRANKED = "outranked"
    DRIFTED = "drifted"
    TOLERATED = "tolerated"
    OK = "ok"
    UNTESTED = "untested"

    @property
    def broken(self) -> bool:
        """Whether a memory with this verdict counts against the gate."""
        return self not in (Verdict.TOLERATED, Verdict.OK, Verdict.UNTESTED)


WORST_FIRST: tuple[Verdict, ...] = tuple(Verdict)
CODE: Mapping[Verdict, int] = {verdict: code for code, verdict in enumerate(WORST_FIRST)}
"""Verdicts as small integers, for arrays: lower is worse."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far a stage is: `done` of `total` units (memories or searches); total is 0 while unknown."""

    stage: str
    done: int = 0
    total: int = 0
    note: str = field(default="")
