"""Backends: adapters for one kind of store each, behind small protocols.

What a store cannot do is a protocol that its adapter does not have, never a boolean. The unit is a batch.
Every adapter converts its store's native score to memregress's similarity (higher is closer) at its own
boundary and nowhere else, and searches exactly as an application would: the store's own filter, its own `k`,
its own index. A backend knows a URL and nothing of how the server came to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from memregress.model import Hits, IndexInfo, MemoryBatch, QueryBatch, Rejected


@runtime_checkable
class Searchable(Protocol):
    """Anything that answers searches; enough for an HTTP service or a class of the user's own."""

    def search(self, queries: QueryBatch) -> Hits:
        """Answer each query as the application would be answered; hits by rank, at most `k` each."""

    def close(self) -> None:
        """Let go of connections and files; what lies in the store stays as it is."""


@runtime_checkable
class Loadable(Protocol):
    """A store that can be filled."""

    def create(self) -> None:
        """Make the run's own space; fails if it exists already, so that nothing of the user's is overwritten."""

    def load(self, batches: Iterable[MemoryBatch]) -> list[Rejected]:
        """Take in all memories. On return each is visible to a search, or is among the rejected."""

    def index(self) -> None:
        """Build the vector index, where that is a step of its own; return when it serves searches."""

    def drop(self) -> None:
        """Remove the run's own space, and nothing else."""


@runtime_checkable
class Inspectable(Protocol):
    """A store that shows what it holds."""

    def fetch(self, ids: Sequence[str]) -> MemoryBatch:
        """Return those of the ids that are stored, in any order, a row for each copy of an id."""

    def describe(self) -> IndexInfo:
        """Tell the facts of server, storage and index."""


@runtime_checkable
class ExactSearchable(Protocol):
    """A store that can search without its approximate index."""

    def search_exact(self, queries: QueryBatch) -> Hits:
        """Answer with the same filters, no approximate index; proven, not assumed, to have avoided it."""


@runtime_checkable
class Tunable(Protocol):
    """A store with an approximate index that can be forced and widened."""

    def search_index(self, queries: QueryBatch, *, wide: bool) -> Hits:
        """Answer through the approximate index even where the store would rather not use it.

        `wide` searches as thoroughly as the index allows; otherwise with the settings in force.
        """


class Effort(NamedTuple):
    """How thoroughly an approximate index is searched: the setting, its value in force, and the widest there is."""

    name: str
    now: int
    widest: int


@runtime_checkable
class Sweepable(Protocol):
    """A store whose approximate index can be searched with any effort."""

    def effort(self) -> Effort | None:
        """Tell how thoroughly the index is searched; None where there is no such setting."""

    def search_at(self, queries: QueryBatch, effort: int) -> Hits:
        """Answer through the approximate index with this effort, in place of the one in force."""


@runtime_checkable
class Rebuildable(Protocol):
    """A store in which the same index can be built afresh beside the live one."""

    def search_rebuilt(self, queries: QueryBatch, *, wide: bool = False) -> Hits:
        """Answer through a fresh build of the same index over the same rows; `wide` as in `Tunable`."""


@runtime_checkable
class Refusing(Protocol):
    """A store that takes a document in and may leave it out of its index, without telling the writer."""

    def refused(self, ids: Sequence[str]) -> list[Rejected]:
        """Return those of the stored ids that the index does not hold, with the store's own reason."""


@runtime_checkable
class Locating(Protocol):
    """A store in which a memory may lie where its searches do not look."""

    def elsewhere(self, ids: Sequence[str]) -> tuple[MemoryBatch, list[str]]:
        """Return what bears the names of these missing memories in another place, and for each row where, in words."""


class Backend(Searchable, Loadable, Inspectable, Protocol):
    """What every store of memregress's own can do."""
