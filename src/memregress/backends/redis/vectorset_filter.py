"""The conditions of a search as the FILTER of VSIM, over the attributes of a vector set's elements.

https://redis.io/docs/latest/develop/data-types/vector-sets/filtered-search/. The server compares a text between quotes
with the JSON as it was written, escapes and all, so that a quote or a backslash in a value cannot be asked for. In sets
of memregress's own, users and values are tags of letters and digits.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

import msgspec

from memregress import errors, filters
from memregress.backends.redis import labels
from memregress.backends.redis.filtering import Known
from memregress.filters import Condition
from memregress.model import Filter

ENDS = "memregress_ends"
"""When an element's lifetime is over, in seconds since 1970; a set's elements have none of their own."""
NEVER = 1e15
NOTHING = f'"{labels.NOBODY}" in .{labels.LABELS}'
SIGNS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
LONGEST = 60
"""Characters of a number; what is smaller is nothing."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Own:
    """Conditions on elements that memregress wrote."""

    def __init__(self, known: Known, *, alive_at: float | None) -> None:
        self._known = known
        self._alive_at = alive_at

    def expression(self, user: str | None, filter_: Filter | None) -> str:
        """Return the expression; empty if every element may be found."""
        words = [] if self._alive_at is None else [f".{ENDS} > {self._alive_at!r}"]
        words += [] if user is None else [f'.{labels.USER} == "{labels.user(user)}"']
        return " and ".join([*words, *(self._condition(condition) for condition in filters.conditions(filter_))])

    def _condition(self, condition: Condition) -> str:
        if condition.test == "in":
            return _any([labels.value(condition.key, item) for item in condition.operand])
        key, bound, compare = condition.key, condition.operand, filters.RANGES[condition.test]
        text = isinstance(bound, str)
        values = self._known.of(key) if self._known.complete or text else {}
        words = [tag for item, tag in values.items() if isinstance(item, str) is text and compare(item, bound)]
        found = [_any(words)] if words else []
        if key in self._known.numbers and not text:
            found.append(f".{labels.number(key)} {SIGNS[condition.test]} {_number(bound)}")
        return f"({' or '.join(found)})" if found else NOTHING


class Theirs:
    """Conditions on an application's own elements: by the attributes of its JSON."""

    def __init__(self, user: str) -> None:
        self._user = user

    def expression(self, user: str | None, filter_: Filter | None) -> str:
        """Return the expression; empty if every element may be found."""
        words = [] if user is None else [f"{_name(self._user)} == {_literal(user)}"]
        for condition in filters.conditions(filter_):
            name = _name(condition.key)
            if condition.test == "in":
                equal = [f"{name} == {_literal(item)}" for item in condition.operand if item is not None]
                words.append(f"({' or '.join(equal)})" if equal else f"({name} == 0 and {name} == 1)")
            else:
                words.append(f"{name} {SIGNS[condition.test]} {_literal(condition.operand)}")
        return " and ".join(words)


def _any(tags: list[str]) -> str:
    words = [f'"{tag}" in .{labels.LABELS}' for tag in tags]
    return f"({' or '.join(words)})" if words else NOTHING


def _name(key: str) -> str:
    if NAME.fullmatch(key):
        return f".{key}"
    raise errors.ConfigError(f"a FILTER of a vector set cannot name {key!r}", "Leave the query out, or rename it.")


def _literal(value: Any) -> str:
    if isinstance(value, str):
        if '"' in value or "\\" in value:
            raise errors.ConfigError(
                "a FILTER of a vector set cannot ask for a text with a quote or a backslash", "Leave the query out."
            )
        return f'"{value}"'
    return _number(value) if labels.is_number(value) else msgspec.json.encode(value).decode()


def _number(value: float) -> str:
    """As a double; a FILTER takes no sign in an exponent, and what is beyond a double is as far as one goes."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    text = repr(max(-labels.LARGEST, min(labels.LARGEST, number))).replace("e+", "e")
    return format(Decimal(text), "f")[:LONGEST] if "e-" in text else text
