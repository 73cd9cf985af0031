"""A fault: how a store is broken, and what must be said of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memregress.golden import GoldenSet
from memregress.model import MemoryBatch, Query, Verdict

Write = Callable[[MemoryBatch], MemoryBatch]
Rows = Callable[[GoldenSet], Collection[int]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A filled store: where it is reached, and the space in it."""

    url: str
    space: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One way to break a store.

    `story` says in a line what went wrong. `write` changes what is written into the store, as a faulty migration does;
    `harm` is done to the filled store; `queries` replaces what is asked; `fill` and `options` are options of the
    backend while it is filled and while it is replayed, `settings` those of the replay.

    `verdict` and `cause` are what every memory in `rows` must get, and no other memory may be broken. Without `rows`
    it is some, all with that cause, and without `verdict` it may be any. Without `cause` no memory is broken, and none
    may be reported; what is told beside memories is in `concern`.
    """

    name: str
    story: str
    verdict: Verdict | None = None
    cause: str | None = None
    also: tuple[str, ...] = ()
    """Causes that some of the memories, at most half, may have instead, truly."""
    concern: str | None = None
    error: str | None = None
    """What the message says where the store does not answer at all."""
    rows: Rows | None = None
    golden: str = "small"
    write: Write | None = None
    harm: Callable[[Place, GoldenSet], None] | None = None
    queries: Callable[[GoldenSet], Sequence[Query]] | None = None
    fill: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    cannot: Mapping[str, str] = field(default_factory=dict)
    """Backends on which it cannot occur, and why; ``NAME embedded`` is the embedded one only."""

    def why_not(self, backend: str, kind: str) -> str | None:
        """Why it cannot occur on a backend, in an instance of this kind; nothing if it can."""
        return self.cannot.get(backend) or self.cannot.get(f"{backend} {kind}")


def only(*rows: int) -> Rows:
    """These memories."""
    return lambda _: rows


def all_of(golden: GoldenSet) -> Collection[int]:
    """Every memory."""
    return range(len(golden))
