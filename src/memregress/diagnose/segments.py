"""What broken memories have in common that the others have not: a user, a value, a time, a place in the golden set.

A trait is told only where chance does not give it: the chance that as many memories, drawn from all that were tested,
share it, is bounded by Chernoff (Hoeffding 1963, theorem 1), and by the number of traits that were tried.
"""

from __future__ import annotations

import collections
import math
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from memregress.diagnose.scene import Scene
from memregress.golden import GoldenSet
from memregress.model import Bools

FEWEST = 3
"""Memories from which on they can have something in common."""
MOST = 0.9
"""Share of the tested memories from which on nothing sets the broken ones apart."""
COVERED = 0.8
"""Share of the broken memories that a trait must have."""
CHANCE = 1e-3
TOLD = 2


@dataclass(frozen=True, slots=True)
class Memory:
    """What a trait may look at."""

    row: int
    id: str
    user: str | None
    content: str
    created_at: datetime | None
    expires_at: datetime | None
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Trait:
    """Something that memories have or have not, in words that follow "memories"."""

    words: str
    holds: Callable[[Memory], bool]


def shared(rows: Sequence[int], scene: Scene) -> list[str]:
    """Tell what sets some broken memories apart from all that were tested, if it is more than chance."""
    tested = scene.run.stored.checked
    total = int(tested.sum())
    if len(rows) < FEWEST or len(rows) > MOST * total:
        return []
    broken = list(_memories(scene.golden, np.asarray(rows)))
    traits = [trait for trait in _traits(broken) if sum(map(trait.holds, broken)) >= COVERED * len(broken)]
    if not traits:
        return []
    having = _count(scene.golden, traits, tested)
    tried = len(FLAGS) + len(traits)
    found = []
    for trait, count in zip(traits, having, strict=True):
        hit = sum(map(trait.holds, broken))
        if tried * _chance(hit, len(broken), count / total) < CHANCE:
            share = "all of them" if hit == len(broken) else f"{hit:,} of {len(broken):,}"
            found.append((count, f"in common: {share} {trait.words}; {count:,} of all {total:,} do"))
    return [words for _, words in sorted(found)[:TOLD]]


def _chance(hit: int, count: int, share: float) -> float:
    """Bound the chance that at least `hit` of `count` have what a share of all has."""
    seen = hit / count
    if seen <= share or share >= 1:
        return 1.0
    apart = seen * math.log(seen / share)
    if seen < 1:
        apart += (1 - seen) * math.log((1 - seen) / (1 - share))
    return math.exp(-count * apart)


def _memories(golden: GoldenSet, rows: Any) -> Iterator[Memory]:
    places = iter(rows.tolist())
    for batch in golden.batches(rows):
        columns = (batch.ids, batch.users, batch.contents, batch.created_at, batch.expires_at, batch.metadata)
        for values in zip(*columns, strict=True):
            yield Memory(next(places), *values)


def _count(golden: GoldenSet, traits: Sequence[Trait], tested: Bools) -> list[int]:
    counts = [0] * len(traits)
    for memory in _memories(golden, np.flatnonzero(tested)):
        for place, trait in enumerate(traits):
            counts[place] += trait.holds(memory)
    return counts


def _user_has(mark: str) -> Trait:
    return Trait(f"have {mark!r} in the user id", lambda memory: mark in (memory.user or ""))


def _content_has(mark: str) -> Trait:
    return Trait(f"have {mark!r} in the content", lambda memory: mark in memory.content)


FLAGS: tuple[Trait, ...] = (
    Trait("have an expiry", lambda memory: memory.expires_at is not None),
    Trait("have no expiry", lambda memory: memory.expires_at is None),
    Trait("have no user", lambda memory: memory.user is None),
    Trait("have no content", lambda memory: not memory.content),
    Trait("have no metadata", lambda memory: not memory.metadata),
    Trait("have a user id with capital letters", lambda memory: memory.user != (memory.user and memory.user.lower())),
    Trait("have a user id beyond ASCII", lambda memory: not (memory.user or "").isascii()),
    Trait("have content beyond ASCII", lambda memory: not memory.content.isascii()),
    Trait(
        "have content beyond the basic plane, such as emoji", lambda memory: max(memory.content, default="") > "\uffff"
    ),
    Trait("have content of several lines", lambda memory: "\n" in memory.content),
    *map(_user_has, string.punctuation + " "),
    *map(_content_has, "'\"\\%{}<>\x00|;"),
)


def _traits(broken: Sequence[Memory]) -> Iterator[Trait]:
    """Traits that these memories suggest."""
    yield from FLAGS
    yield from _values("user", [memory.user for memory in broken], lambda memory: memory.user)
    keys = {key for memory in broken for key in memory.metadata}
    for key in sorted(keys):
        read = _reader(key)
        values = [read(memory) for memory in broken]
        yield from _values(f"metadata {key}", values, read)
        yield from _range(f"metadata {key}", values, read)
    yield from _range("a place in the golden set", [memory.row for memory in broken], lambda memory: memory.row)
    yield from _range("created_at", [memory.created_at for memory in broken], lambda memory: memory.created_at)
    yield from _range("expires_at", [memory.expires_at for memory in broken], lambda memory: memory.expires_at)
    yield from _range("a content of length", [len(m.content) for m in broken], lambda memory: len(memory.content))
    yield from _steps([memory.row for memory in broken])


def _reader(key: str) -> Callable[[Memory], Any]:
    return lambda memory: memory.metadata.get(key)


def _values(name: str, values: Sequence[Any], read: Callable[[Memory], Any]) -> Iterator[Trait]:
    plain = collections.Counter(value for value in values if isinstance(value, str | int | bool))
    if plain:
        value, _ = plain.most_common(1)[0]
        yield Trait(f"have {name} {value!r}", lambda memory: bool(read(memory) == value))


def _range(name: str, values: Sequence[Any], read: Callable[[Memory], Any]) -> Iterator[Trait]:
    if not all(isinstance(value, int | float | datetime) and not isinstance(value, bool) for value in values):
        return
    low, high = min(values), max(values)
    if low == high:
        return

    def within(memory: Memory) -> bool:
        value = read(memory)
        return isinstance(value, int | float | datetime) and low <= value <= high

    yield Trait(f"have {name} from {_said(low)} to {_said(high)}", within)


def _said(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else f"{value:,}"


def _steps(rows: Sequence[int]) -> Iterator[Trait]:
    """Every so many: a page or a batch of which one is dropped each time."""
    step = math.gcd(*(row - rows[0] for row in rows[1:]))
    if step > 1:
        rest = rows[0] % step
        yield Trait(f"lie {step:,} apart in the golden set", lambda memory: memory.row % step == rest)
