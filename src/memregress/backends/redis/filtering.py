"""The conditions of a search as RediSearch's query language, dialect 2, with every value as a parameter or a tag.

https://redis.io/docs/latest/develop/ai/search-and-query/query/
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memregress import errors, filters
from memregress.backends.redis import labels
from memregress.filters import Condition
from memregress.model import Filter

NOTHING = f"@{labels.LABELS}:{{{labels.NOBODY}}}"
BOUNDS = {"gt": "({value} +inf", "gte": "{value} +inf", "lt": "-inf ({value}", "lte": "-inf {value}"}
DISTINCT = 20_000
"""Values of a key that are remembered, for ranges over text."""


@dataclass(kw_only=True, slots=True)
class Known:
    """What was loaded: keys with numbers of their own, and the values of the others, as tags."""

    numbers: set[str] = field(default_factory=set)
    values: dict[str, dict[Any, str]] = field(default_factory=dict)
    complete: bool = True
    """Whether `values` holds all there are; not of an index that was there before."""

    def add(self, metadata: Mapping[str, Any]) -> None:
        """Note the keys and values of a memory."""
        for key, found in metadata.items():
            for item in found if isinstance(found, list) else [found] if isinstance(found, str) else []:
                if isinstance(item, (str, int, float)) and not isinstance(item, bool):
                    values = self.values.setdefault(key, {})
                    if len(values) < DISTINCT:
                        values.setdefault(item, labels.value(key, item))
        self.numbers.update(key for key, _ in labels.numbers(dict(metadata)))


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
        known, key = self._known.values.get(condition.key, {}), condition.key
        if not self._known.complete:
            known = {}
        compare, bound = filters.RANGES[condition.test], condition.operand
        alike = [tag for item, tag in known.items() if isinstance(item, str) is isinstance(bound, str)
                 and compare(item, bound)]  # fmt: skip
        if isinstance(bound, str):
            if not self._known.complete:
                raise errors.ConfigError(
                    f"a range over text ({key}) cannot be searched in an index that was there before",
                    "Redis has ranges over numbers only; leave the query out, or replay without --in-place.",
                )
            return _tags(alike)
        words = [_tags(alike)] if alike else []
        if key in self._known.numbers:
            words.append(f"@{labels.number(key)}:[{BOUNDS[condition.test].format(value=_number(bound))}]")
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
        kind = self._kind(key)
        if not operands:
            return f"@{key}:{{{labels.NOBODY * 40}}}"
        if kind == "NUMERIC":
            return f"({' | '.join(f'@{key}:[{_number(item)} {_number(item)}]' for item in operands)})"
        names = []
        for item in operands:
            name = f"p{len(parameters)}"
            parameters[name] = str(item)
            names.append(f"${name}")
        return f"@{key}:{{{' | '.join(names)}}}"

    def _range(self, condition: Condition) -> str:
        if self._kind(condition.key) != "NUMERIC":
            raise errors.ConfigError(
                f"the index has no numbers in {condition.key}, which a query ranges over",
                "Index it as NUMERIC, or leave the query out.",
            )
        return f"@{condition.key}:[{BOUNDS[condition.test].format(value=_number(condition.operand))}]"

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


def _number(value: Any) -> str:
    try:
        number = float(value)
    except OverflowError:  # an integer beyond what the server's doubles hold
        number = math.inf if value > 0 else -math.inf
    return f"{'+' if number > 0 else '-'}inf" if math.isinf(number) else repr(number)
