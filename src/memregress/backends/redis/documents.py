"""Memories as documents: hashes, or JSON. What is written here is read back here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import msgspec
import numpy as np

from memregress.backends.redis import labels, vectors
from memregress.backends.redis.connection import Command
from memregress.backends.redis.options import Fields
from memregress.model import Floats, MemoryBatch

_json = msgspec.json.Encoder().encode


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What a document holds; `vector` is float32[d], empty where there is none."""

    user: str | None
    content: str
    vector: Floats
    created_at: datetime | None
    metadata: dict[str, Any]


class Documents(Protocol):
    """One way to keep memories."""

    def write(self, batch: MemoryBatch, keys: Sequence[str]) -> list[Command]:
        """Return the commands that write memories, one each."""

    def read(self, key: str) -> Command:
        """Return the command that reads one back."""

    def decode(self, answer: Any) -> Found | None:
        """Return what was read; None where there is no such document."""

    def schema(self, numbers: Sequence[str]) -> list[list[Any]]:
        """Return the fields to filter by, as arguments of FT.CREATE."""

    def vector(self) -> list[Any]:
        """Return how FT.CREATE names the vector."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hashes:
    """HASH documents: the vector as bytes, metadata as JSON text."""

    fields: Fields
    type: str
    dimensions: int

    def write(self, batch: MemoryBatch, keys: Sequence[str]) -> list[Command]:
        """HSET, once a memory."""
        names = self.fields
        commands: list[Command] = []
        rows = zip(
            keys, vectors.encode(batch.vectors, self.type), batch.dimensions.tolist(), batch.users, batch.contents,
            batch.created_at, batch.metadata, strict=True,
        )  # fmt: skip
        for key, blob, dimensions, user, content, time, metadata in rows:
            pairs: list[Any] = ["HSET", key, names.content, content, names.metadata, _json(metadata)]
            if dimensions:
                pairs += (names.vector, blob)
            if user is not None:
                pairs += (names.user, user, labels.USER, labels.user(user))
            if time is not None:
                pairs += (names.created_at, time.isoformat())
            if metadata:
                pairs += (labels.LABELS, ",".join(labels.values(metadata)))
                for name, number in labels.numbers(metadata):
                    pairs += (labels.number(name), repr(number))
            commands.append(pairs)
        return commands

    def read(self, key: str) -> Command:
        """HMGET of the fields that are a memory."""
        names = self.fields
        return "HMGET", key, names.user, names.content, names.vector, names.created_at, names.metadata

    def decode(self, answer: Any) -> Found | None:
        """A document without any field is none: Redis does not tell it from one that is not there."""
        user, content, vector, created_at, metadata = answer
        if all(value is None for value in answer):
            return None
        return Found(
            user=None if user is None else user.decode(errors="replace"),
            content=(content or b"").decode(errors="replace"),
            vector=vectors.decode(vector, self.type, self.dimensions),
            created_at=_time(created_at),
            metadata=_document(metadata),
        )

    def schema(self, numbers: Sequence[str]) -> list[list[Any]]:
        """Tags are told apart by case."""
        tags = [[name, "TAG", "CASESENSITIVE"] for name in (labels.USER, labels.LABELS)]
        return [*tags, *([labels.number(key), "NUMERIC"] for key in numbers)]

    def vector(self) -> list[Any]:
        """By its field's name."""
        return [self.fields.vector]


@dataclass(frozen=True, kw_only=True, slots=True)
class Json:
    """JSON documents: vectors and tags as arrays."""

    fields: Fields
    dimensions: int

    def write(self, batch: MemoryBatch, keys: Sequence[str]) -> list[Command]:
        """JSON.SET, once a memory."""
        return [("JSON.SET", key, "$", _json(self._document(batch, row))) for row, key in enumerate(keys)]

    def _document(self, batch: MemoryBatch, row: int) -> dict[str, Any]:
        fields, user, time, metadata = self.fields, batch.users[row], batch.created_at[row], batch.metadata[row]
        document: dict[str, Any] = {fields.content: batch.contents[row], fields.metadata: metadata}
        if batch.dimensions[row]:
            document[fields.vector] = batch.vectors[row].tolist()
        if user is not None:
            document |= {fields.user: user, labels.USER: labels.user(user)}
        if time is not None:
            document[fields.created_at] = time.isoformat()
        document[labels.LABELS] = labels.values(metadata)
        return document | {labels.number(key): number for key, number in labels.numbers(metadata)}

    def read(self, key: str) -> Command:
        """JSON.GET of the whole."""
        return "JSON.GET", key, "$"

    def decode(self, answer: Any) -> Found | None:
        """The answer to a path is a list."""
        if answer is None:
            return None
        (document,) = msgspec.json.decode(answer)
        fields, vector = self.fields, document.get(self.fields.vector)
        numbers = isinstance(vector, list) and all(isinstance(item, (int, float)) for item in vector)
        return Found(
            user=document.get(fields.user),
            content=str(document.get(fields.content, "")),
            vector=np.array(vector if numbers else [], np.float32),
            created_at=_time(str(document.get(fields.created_at, "")).encode()),
            metadata=document.get(fields.metadata) or {},
        )

    def schema(self, numbers: Sequence[str]) -> list[list[Any]]:
        """By path, under the same names as in a hash."""
        found = [[f"$.{labels.USER}", "AS", labels.USER, "TAG", "CASESENSITIVE"]]
        found.append([f"$.{labels.LABELS}[*]", "AS", labels.LABELS, "TAG", "CASESENSITIVE"])
        return [*found, *([f"$.{labels.number(key)}", "AS", labels.number(key), "NUMERIC"] for key in numbers)]

    def vector(self) -> list[Any]:
        """By path."""
        return [f"$.{self.fields.vector}", "AS", self.fields.vector]


def _time(text: bytes | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text.decode()) if text else None
    except (ValueError, UnicodeDecodeError):
        return None
    return found if found is None or found.tzinfo else None


def _document(text: bytes | None) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text) if text else {}
    except msgspec.MsgspecError:
        return {}
    return found if isinstance(found, dict) else {}
