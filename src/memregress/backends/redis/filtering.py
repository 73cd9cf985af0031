"""The conditions of a search as RediSearch's query language, dialect 2, with every value as a parameter or a tag.

https://redis.io/docs/latest/develop/ai/search-and-query/query/
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from memregress import errors, filters
from memregress.backends.redis import labels
from memregress.filters import Condition
from memregress.model import Filter

NOTHING = f"@{labels.LABELS}:{{{labels.NOBODY}}}"
BOUNDS = {"gt": "({value} +inf", "gte": "{value} +inf", "lt": "-inf ({value}", "lte": "-inf {value}"}
DISTINCT = 20_000
"""Values of a key that are remembered, for ranges that the server has none for."""


@dataclass(kw_only=True, slots=True)
class Known:
    """What was loaded: keys with numbers of their own, and the other values of each key, as tags."""

    numbers: set[str] = field(default_factory=set)
    values: dict[str, dict[Any, str]] = field(default_factory=dict)
    complete: bool = True
    """Whether everything was seen; not of an index that was there before."""

    def add(self, metadata: Mapping[str, Any]) -> None:
        """Note the keys and values of a memory."""
        for key, found in metadata.items():
            if isinstance(found, str):
                self._note(key, found)
            elif isinstance(found, list):
                for item in found:
                    if isinstance(item, str) or labels.is_number(item):
                        self._note(key, item)
            elif key not in self.numbers and labels.numbers({key: found}):
                self.numbers.add(key)

    def _note(self, key: str, item: Any) -> None:
        values = self.values.get(key)
        if values is None:
            values = self.values[key] = {}
        if item not in values and len(values) <= DISTINCT:  # one more than may be: too many
            values[item] = labels.value(key, item)

    def of(self, key: str) -> Mapping[Any, str]:
        """Return the values of a key and their tags.

        Raises:
            ConfigError: not all of them are known, so that a range over them would leave memories out.
        """
        values = self.values.get(key, {})
        if self.complete and len(values) <= DISTINCT:
            return values
        many = f"it has more than {DISTINCT:,} values" if self.complete else "the index was there before"
        raise errors.ConfigError(
            f"a query ranges over {key}, where Redis has no range (text, lists), and {many}", "Leave the query out."
        )


class Own:
    """Conditions on memregress's own documents."""

    def __init__(self, known: Known) -> None:
        self._known = known

    def expression(self, user: str | None, filter_: Filter | None, _: dict[str, Any], /) -> str:
        """Return the expression; empty if every document may be found. Tags need no parameters."""
        words = [] if user is None else [f"@{labels.USER}:{{{labels.user(user)}}}"]
        words += [self._condition(condition) for condition in filters.conditions(filter_)]
        return " ".join(words)

    def _condition(self, condition: Condition) -> str:
        if condition.test == "in":
            return _tags([labels.value(condition.key, item) for item in condition.operand])
        return self._range(condition)

    def _range(self, condition: Condition) -> str:
        key, bound, compare = condition.key, condition.operand, filters.RANGES[condition.test]
        values = self._known.of(key) if self._known.complete or isinstance(bound, str) else {}
        alike = [tag for item, tag in values.items() if _text(item) is _text(bound) and compare(item, bound)]
        words = [_tags(alike)] if alike else []
        if key in self._known.numbers and not _text(bound):
            words.append(_within(labels.number(key), condition))
        return f"({' | '.join(words)})" if words else NOTHING


class Theirs:
    """Conditions on an application's own documents: by the fields of its index."""

    def __init__(self, user: str, attributes: Mapping[str, Mapping[str, Any]]) -> None:
        self._user = user
        self._attributes = attributes

    def expression(self, user: str | None, filter_: Filter | None, parameters: dict[str, Any], /) -> str:
        """Return the expression; empty if every document may be found."""
        words = [] if user is None else [self._equal(self._user, [user], parameters)]
        for condition in filters.conditions(filter_):
            if condition.test == "in":
                words.append(self._equal(condition.key, condition.operand, parameters))
            else:
                words.append(self._range(condition))
        return " ".join(words)

    def _equal(self, key: str, operands: list[Any], parameters: dict[str, Any]) -> str:
        if self._kind(key) == "NUMERIC":
            numbers = [_number(item) for item in operands if labels.is_number(item)]
            words = [f"@{labels.escaped(key)}:[{number} {number}]" for number in numbers]
            return f"({' | '.join(words)})" if words else _none(key)
        texts = [text for text in map(_tag, operands) if text or (text == "" and self._takes_empty(key))]
        names = []
        for text in texts:
            names.append(f"$p{len(parameters)}")
            parameters[f"p{len(parameters)}"] = text
        return f"@{labels.escaped(key)}:{{{' | '.join(names)}}}" if names else self._no_tag(key)

    def _range(self, condition: Condition) -> str:
        if self._kind(condition.key) != "NUMERIC":
            raise errors.ConfigError(
                f"the index has no numbers in {condition.key}, which a query ranges over",
                "Index it as NUMERIC, or leave the query out.",
            )
        return _within(condition.key, condition) if labels.is_number(condition.operand) else _none(condition.key)

    def _takes_empty(self, key: str) -> bool:
        return b"INDEXEMPTY" in self._attributes[key].get("flags", ())

    def _no_tag(self, key: str) -> str:
        """No document has a tag and has it not."""
        name = labels.escaped(key)
        return f"@{name}:{{{labels.NOBODY}}} -@{name}:{{{labels.NOBODY}}}"

    def _kind(self, key: str) -> str:
        found = self._attributes.get(key)
        if found is None or found["type"] not in ("TAG", "NUMERIC"):
            raise errors.ConfigError(
                f"a query filters by {key}, which the index does not have as TAG or NUMERIC",
                f"It has {', '.join(self._attributes)}; name the user's under [redis.fields] in memregress.toml.",
            )
        return str(found["type"])


def _tags(tags: list[str]) -> str:
    return f"@{labels.LABELS}:{{{'|'.join(tags)}}}" if tags else NOTHING


def _within(field: str, condition: Condition) -> str:
    return f"@{labels.escaped(field)}:[{BOUNDS[condition.test].format(value=_number(condition.operand))}]"


def _none(field: str) -> str:
    """No number is above 0 and not."""
    return f"@{labels.escaped(field)}:[(0 0]"


def _tag(item: Any) -> str | None:
    """An application's tag of a value: text as it is, other values as in JSON; null is none."""
    if item is None:
        return None
    return item if isinstance(item, str) else msgspec.json.encode(item).decode()


def _text(item: Any) -> bool:
    return isinstance(item, str)


def _number(value: Any) -> str:
    try:
        number = float(value)
    except OverflowError:  # an integer beyond what the server's doubles hold
        number = math.inf if value > 0 else -math.inf
    return f"{'+' if number > 0 else '-'}inf" if math.isinf(number) else repr(number)
