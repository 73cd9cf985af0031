"""The keys of a space: what lies under them, for how long, and that nothing else is taken for ours.

Golden sets may be old, and a key's lifetime is over when its time has come. So all times of a run are shifted by as
much as has passed since the set was captured, and a day; a key beside the documents remembers by how much.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from redis import exceptions

from memregress.backends.redis import indexing
from memregress.backends.redis.connection import Pool
from memregress.backends.redis.documents import Documents
from memregress.model import MemoryBatch, Rejected

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
SPARE = timedelta(days=1)
"""How long the shortest-lived memory outlives its search."""
PART = 200
"""Documents written or read in one pipeline."""
MANY = 10_000
"""Keys looked at, or deleted, in one command."""


class Keys:
    """The keys of one space."""

    def __init__(self, pool: Pool, *, space: str, prefix: str) -> None:
        self.prefix = prefix
        self._pool = pool
        self._space = space
        self._shift = timedelta()
        self.dated = False
        """Whether it is known by how much times are shifted."""
        self._written: list[str] = []
        self._strange: set[str] = set()

    def of(self, id_: str) -> str:
        """Return the key of a memory."""
        return id_ if id_ in self._strange else self.prefix + id_

    def id(self, key: str) -> str:
        """Return the memory of a key; a key with another prefix, which an index may have too, stands for itself."""
        if key.startswith(self.prefix):
            return key[len(self.prefix) :]
        self._strange.add(key)
        return key

    def claim(self, clock: datetime) -> bool:
        """Begin a space of our own, unless a key or an index has its name; `clock` is when memories are judged."""
        taken = self._space in [name.decode(errors="replace") for name in self._pool.ask("FT._LIST")]
        pattern = f"{indexing.pattern(self.prefix)}*"
        if taken or next(iter(self._pool.client.scan_iter(match=pattern, count=MANY)), None) is not None:
            return False
        seconds, microseconds = self._pool.ask("TIME")
        now = EPOCH + timedelta(seconds=int(seconds), microseconds=int(microseconds))
        self._shift = round((now - clock + SPARE) / MILLISECOND) * MILLISECOND
        self._pool.ask("SET", self._shift_key, self._shift // MILLISECOND)
        self.dated = True
        return True

    def recall(self) -> None:
        """Look up by how much the times of a space that is there were shifted; an application's are not."""
        noted = self._pool.ask("GET", self._shift_key)
        self.dated = noted is not None
        self._shift = int(noted or 0) * MILLISECOND

    @property
    def _shift_key(self) -> str:
        return f"memregress:shift:{self._space}"

    def write(self, batches: Iterable[MemoryBatch], documents: Documents, clock: datetime) -> list[Rejected]:
        """Write memories, and return those that the server refused."""
        send = functools.partial(self._send, documents, clock)
        return list(itertools.chain.from_iterable(self._pool.stream(send, self._parts(batches))))

    def _parts(self, batches: Iterable[MemoryBatch]) -> Iterator[tuple[MemoryBatch, list[str]]]:
        for batch in batches:
            keys = [self.of(id_) for id_ in batch.ids]
            self._written += keys
            yield batch, keys

    def _send(self, documents: Documents, clock: datetime, part: tuple[MemoryBatch, list[str]]) -> list[Rejected]:
        """In a thread of the pool's: what is made there need not wait for the others to let go of the interpreter."""
        batch, keys = part
        commands = documents.write(batch, keys)
        commands += [
            ("PEXPIREAT", key, self._deadline(time, clock))
            for key, time in zip(keys, batch.expires_at, strict=True)
            if time is not None
        ]
        return [
            Rejected(id=id_, reason=str(answer))
            for id_, answer in zip(batch.ids, self._pool.send(commands), strict=False)
            if isinstance(answer, exceptions.RedisError)
        ]

    def _deadline(self, expires_at: datetime, clock: datetime) -> int:
        """Milliseconds since 1970; what is over by the clock is over now."""
        moment = expires_at + self._shift if expires_at > clock else EPOCH + MILLISECOND
        return round((moment - EPOCH) / MILLISECOND)

    def lifetime(self, milliseconds: Any) -> datetime | None:
        """Return the time that an answer to PEXPIRETIME means; None for a key that stays."""
        if not isinstance(milliseconds, int) or milliseconds < 0:
            return None
        try:
            return EPOCH + milliseconds * MILLISECOND - self._shift
        except OverflowError:
            return datetime.max.replace(tzinfo=UTC)

    def remove(self) -> None:
        """Delete what was written, by name; one a command, for in a cluster each has a slot of its own."""
        parts = (self._written[start : start + MANY] for start in range(0, len(self._written), MANY))
        for answers in self._pool.pipelines([("UNLINK", key) for key in part] for part in parts):
            for answer in answers:
                if isinstance(answer, exceptions.RedisError):
                    raise answer
        self._pool.ask("UNLINK", self._shift_key)
        self._written = []
