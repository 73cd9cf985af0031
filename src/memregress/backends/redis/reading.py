"""Reading back: what the documents hold, and which of them the index left out."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import datetime

import numpy as np
from redis import exceptions

from memregress.backends.redis import vectors
from memregress.backends.redis.connection import Command, Pool
from memregress.backends.redis.documents import Documents, Found
from memregress.backends.redis.facts import Index
from memregress.backends.redis.keys import MANY, PART, Keys
from memregress.model import MemoryBatch, Rejected

KEY_TYPES = {"hash": "hash", "json": "ReJSON-RL"}
"""What TYPE calls the documents of an index."""
UNREADABLE = Found(user=None, content="", vector=np.empty(0, np.float32), created_at=None, metadata={})
MOST_KEYS = 5_000_000
SEPARATORS = ":/|.#}"
"""What may stand before an id in a key."""


def fetch(pool: Pool, keys: Keys, documents: Documents, ids: Sequence[str]) -> MemoryBatch:
    """Return those of the ids that are stored."""
    pairs = _ask(pool, [(documents.read(keys.of(id_)), ("PEXPIRETIME", keys.of(id_))) for id_ in ids])
    found = []
    for id_, (document, time) in zip(ids, pairs, strict=True):
        memory = _decoded(documents, document)
        if memory is not None:
            found.append((id_, memory, keys.lifetime(time)))
    return _batch(found)


def _decoded(documents: Documents, answer: object) -> Found | None:
    """A key that holds something else is there, and holds no vector; see `refused`."""
    if not isinstance(answer, exceptions.RedisError):
        return documents.decode(answer)
    if "wrong" in str(answer):  # WRONGTYPE of a hash, "wrong Redis type" of JSON
        return UNREADABLE
    raise answer


def nothing() -> MemoryBatch:
    """No memories."""
    return _batch([])


def refused(pool: Pool, keys: Keys, index: Index, field: str, ids: Sequence[str]) -> list[Rejected]:
    """Return those of the stored ids that the index does not hold; `field` is the vector's."""
    if not index.failures and index.rows >= len(ids):
        return []
    search = ("FT.SEARCH", index.name, "*", "INKEYS", 1)
    asked = [
        (("EXISTS", keys.of(id_)), (*search, keys.of(id_), "NOCONTENT", "LIMIT", 0, 1, "DIALECT", 2)) for id_ in ids
    ]
    outside = [
        id_
        for id_, (stored, answer) in zip(ids, _ask(pool, asked), strict=True)
        if stored == 1 and isinstance(answer, dict) and answer[b"total_results"] == 0
    ]
    return [Rejected(id=id_, reason=_reason(pool, index, field, keys.of(id_))) for id_ in outside]


def _reason(pool: Pool, index: Index, field: str, key: str) -> str:
    """The server keeps its reason for the last document only; of a hash the bytes tell it."""
    type_ = pool.ask("TYPE", key).decode()
    if type_ != KEY_TYPES[index.documents]:
        return f"the key holds a {type_}, the index takes {index.documents} documents"
    if key == index.error_key:
        return index.error
    wanted = vectors.size(index.type, index.dimensions)
    if index.documents == "hash":
        held = pool.ask("HSTRLEN", key, field)
        if held not in (0, wanted):
            return f"the vector's field has {held} bytes, the index takes {wanted}"
    if not index.failures and index.filter:
        return f"the index takes only what meets its FILTER {index.filter}"
    return index.error or "the index does not hold it, and the server does not say why"


def elsewhere(pool: Pool, keys: Keys, documents: Documents, ids: Sequence[str]) -> tuple[MemoryBatch, list[str]]:
    """Return the documents whose keys end with one of the ids, after a separator, and where each lies.

    Of an id with several the first that is found. A server with very many keys is not searched through.
    """
    if pool.ask("DBSIZE") > MOST_KEYS:
        return nothing(), []
    wanted = set(ids)
    found: dict[str, str] = {}
    for key in pool.client.scan_iter(count=MANY):
        text = key.decode(errors="replace")
        for start in range(1, len(text)):
            if text[start - 1] in SEPARATORS and (id_ := text[start:]) in wanted and text != keys.of(id_):
                found.setdefault(id_, text)
    answers = _ask(pool, [(documents.read(key), ("PEXPIRETIME", key)) for key in found.values()])
    read, places = [], []
    for (id_, key), (document, time) in zip(found.items(), answers, strict=True):
        memory = None if isinstance(document, exceptions.ResponseError) else documents.decode(document)
        if memory is not None:
            read.append((id_, memory, keys.lifetime(time)))
            places.append(f"its key is {key}, and the index is searched for keys that begin with {keys.prefix}")
    return _batch(read), places


def _ask(pool: Pool, pairs: Sequence[tuple[Command, Command]]) -> list[tuple[object, object]]:
    commands = list(itertools.chain.from_iterable(pairs))
    parts = (commands[start : start + 2 * PART] for start in range(0, len(commands), 2 * PART))
    answers = list(itertools.chain.from_iterable(pool.pipelines(parts)))
    return list(zip(answers[::2], answers[1::2], strict=True))


def _batch(found: Sequence[tuple[str, Found, datetime | None]]) -> MemoryBatch:
    width = max((len(memory.vector) for _, memory, _ in found), default=0)
    back = np.zeros((len(found), width), np.float32)
    for row, (_, memory, _) in enumerate(found):
        back[row, : len(memory.vector)] = memory.vector
    return MemoryBatch(
        ids=[id_ for id_, _, _ in found],
        vectors=back,
        dimensions=np.array([len(memory.vector) for _, memory, _ in found], np.int32),
        users=[memory.user for _, memory, _ in found],
        contents=[memory.content for _, memory, _ in found],
        created_at=[memory.created_at for _, memory, _ in found],
        expires_at=[time for _, _, time in found],
        metadata=[memory.metadata for _, memory, _ in found],
    )
