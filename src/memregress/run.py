"""What a replay saw, as arrays: comparing it with the golden set needs no store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from memregress import verify
from memregress.expectations import Expectations
from memregress.model import Bools, Floats, IndexInfo, Ints, QueryBatch
from memregress.tolerance import Tolerance

NO_HIT = -1
FOREIGN = -2
"""A hit that is no memory of the golden set."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Answers:
    """What s searches returned: `row` int32[s, k] (`NO_HIT` and `FOREIGN` are no rows), `similarity` float32[s, k].

    Hits are by rank and padded with `NO_HIT` and minus infinity. `used_index` is bool[s]. `foreign` names the
    first ids that are not of the golden set, by search.
    """

    row: Ints
    similarity: Floats
    used_index: Bools
    foreign: Mapping[int, list[str]]

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Searches:
    """Searches of one kind, what they must find and what they found."""

    queries: Callable[[Sequence[int]], QueryBatch]
    """The searches at the given positions, built anew when needed."""
    users: Sequence[str | None]
    k: Ints
    expectations: Expectations
    answers: Answers

    def __len__(self) -> int:
        return len(self.answers)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class IndexCheck:
    """Probes sent through the vector index although the store answered the searches without it.

    `rows` int32[c]: the memories probed; `found` bool[c] at the settings in force; `reached` bool[c] at the widest.
    """

    rows: Ints
    found: Bools
    reached: Bools


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Run:
    """Everything that was seen; comparing it with the golden set needs no store."""

    info: IndexInfo
    tolerance: Tolerance
    stored: verify.Stored
    rejected: Mapping[int, str]
    probes: Searches
    recorded: Searches
    positions: Sequence[int]
    """The queries that were replayed, as positions in the golden set."""
    index_check: IndexCheck | None
    refused: str | None = None
    """The store's own words where it refuses every search."""
    seconds: dict[str, float] = field(default_factory=dict)
