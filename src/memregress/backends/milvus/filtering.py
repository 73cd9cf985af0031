"""The conditions of a search as Milvus's expressions. https://milvus.io/docs/boolean.md

A text in an expression is quoted: what would end it, and line ends, are escaped, and nothing else has a meaning there.
In memregress's own collections the metadata's values are labels, too: to Milvus true is 1, and null is nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec
from pymilvus import DataType

from memregress import errors, filters
from memregress.backends.milvus.collection import OWN, Collection
from memregress.filters import Condition
from memregress.model import Filter

ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
OPERATORS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
DISTINCT = 5_000
"""Items of lists under a key that are remembered, for ranges over them."""


class Conditions(Protocol):
    """What turns a user and a filter into an expression."""

    def expression(self, user: str | None, filter_: Filter | None, /) -> str:
        """Return the expression; empty if every row may be found."""


def quoted(text: str) -> str:
    """Write a text as a literal."""
    return '"' + "".join(ESCAPES.get(character, character) for character in text) + '"'


def label(key: str, value: Any) -> str:
    """Name one value of a key; JSON's kinds are kept apart, 1 and 1.0 are one."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    plain = float(value) if number and abs(value) < 1 << 53 else value
    data = msgspec.json.encode([key, "number" if number else type(value).__name__, plain])
    return hashlib.sha256(data).hexdigest()[:24]


def labels(metadata: Mapping[str, Any]) -> list[str]:
    """Name everything that an equality can meet."""
    return [label(key, item) for key, item in _items(metadata)]


def _items(metadata: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, found in metadata.items():
        for item in found if isinstance(found, list) else [found]:
            if item is None or isinstance(item, (str, int, float, bool)):
                yield key, item


@dataclass(kw_only=True, slots=True)
class Known:
    """Items of lists that were loaded: the server has no ranges over these."""

    items: dict[str, set[Any]] = field(default_factory=dict)

    def add(self, metadata: Mapping[str, Any]) -> None:
        """Note the lists of a memory."""
        for key, found in metadata.items():
            if isinstance(found, list) and len(known := self.items.setdefault(key, set())) <= DISTINCT:
                known.update(
                    item for item in found if isinstance(item, (str, int, float)) and not isinstance(item, bool)
                )

    def within(self, condition: Condition) -> list[str]:
        """Name the items that a range meets."""
        known = self.items.get(condition.key, set())
        if len(known) > DISTINCT:
            raise errors.ConfigError(
                f"a query ranges over lists of {condition.key}, which have more than {DISTINCT:,} values",
                "Leave the query out.",
            )
        return [
            label(condition.key, item) for item in known if filters.matches(_alone(condition), {condition.key: [item]})
        ]


def _alone(condition: Condition) -> Filter:
    return {condition.key: {condition.test: condition.operand}}


class Own:
    """Conditions on memregress's own collection."""

    def __init__(self, user: str, metadata: str, known: Known) -> None:
        self._user = user
        self._metadata = metadata
        self._known = known

    def expression(self, user: str | None, filter_: Filter | None, /) -> str:
        """Return the expression; empty if every row may be found."""
        words = [] if user is None else [f"{self._user} == {quoted(user)}"]
        if user == "":
            words.append(f'{OWN}["user"] == true')
        words += [self._condition(condition) for condition in filters.conditions(filter_)]
        return " and ".join(words)

    def _condition(self, condition: Condition) -> str:
        if condition.test == "in":
            return _any([label(condition.key, item) for item in condition.operand])
        operand = condition.operand
        bound = quoted(operand) if isinstance(operand, str) else repr(operand)
        single = f"{self._metadata}[{quoted(condition.key)}] {OPERATORS[condition.test]} {bound}"
        listed = self._known.within(condition)
        return f"({single} or {_any(listed)})" if listed else single


def _any(names: list[str]) -> str:
    if not names:
        return f'{OWN}["labels"] == "none"'
    return f'json_contains_any({OWN}["labels"], [{", ".join(map(quoted, names))}])'


class Theirs:
    """Conditions on an application's own collection: by its fields, or by its field of JSON."""

    def __init__(self, user: str, metadata: str, collection: Collection) -> None:
        self._user = user
        self._metadata = metadata
        self._collection = collection

    def expression(self, user: str | None, filter_: Filter | None, /) -> str:
        """Return the expression; empty if every row may be found."""
        words = [] if user is None else [f"{self._field(self._user)} == {quoted(user)}"]
        words += [self._condition(condition) for condition in filters.conditions(filter_)]
        return " and ".join(words)

    def _condition(self, condition: Condition) -> str:
        path = self._field(condition.key)
        if condition.test != "in":
            operand = condition.operand
            bound = quoted(operand) if isinstance(operand, str) else repr(operand)
            return f"{path} {OPERATORS[condition.test]} {bound}"
        words = [word for item in condition.operand for word in self._equal(path, item)]
        return f"({' or '.join(words)})" if words else f'{self._collection.key} == ""'

    def _equal(self, path: str, item: Any) -> Iterator[str]:
        if item is None:
            return  # no expression of all versions meets null
        value = quoted(item) if isinstance(item, str) else str(item).lower() if isinstance(item, bool) else repr(item)
        yield f"{path} == {value}"
        if path.startswith(f"{self._metadata}["):
            yield f"json_contains({path}, {value})"

    def _field(self, key: str) -> str:
        if key in self._collection.types:
            return key
        if self._collection.types.get(self._metadata) == DataType.JSON and key != self._user:
            return f"{self._metadata}[{quoted(key)}]"
        if self._collection.dynamic:
            return f"$meta[{quoted(key)}]"
        raise errors.ConfigError(
            f"a query filters by {key}, which the collection does not have",
            f"It has {', '.join(self._collection.types)}; name yours under [milvus.fields] in memregress.toml.",
        )
