"""Filters on metadata: equality, membership and ranges; structured, never a statement of some store.

A filter is an object; every one of its conditions must hold::

    {"topic": "billing"}                        equal; for a list, one of its items is equal
    {"tier": {"in": ["gold", "silver"]}}        one of these
    {"priority": {"gte": 3, "lt": 5}}           a range, over numbers, or over text in its code point order
                                                (so RFC 3339 times in UTC order as times)

A memory without the key fails every condition on it. Adapters translate a filter for their store; this module
holds the meaning they have to agree with.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from memregress.model import Filter

RANGES: Mapping[str, Callable[[Any, Any], bool]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}


class Condition(NamedTuple):
    """One condition: `test` is ``in`` or one of `RANGES`; equality is membership in one value."""

    key: str
    test: str
    operand: Any


def conditions(filter_: Filter | None) -> Iterator[Condition]:
    """Yield a filter's conditions.

    Raises:
        ValueError: naming the key and what is wrong with its condition.
    """
    for key, wanted in (filter_ or {}).items():
        if not isinstance(wanted, dict):
            yield Condition(key, "in", [_scalar(key, wanted)])
            continue
        if not wanted:
            raise ValueError(f"{key}: an empty condition; use a value, 'in', or {', '.join(RANGES)}")
        for test, operand in wanted.items():
            yield _condition(key, test, operand)


def _condition(key: str, test: str, operand: Any) -> Condition:
    if test == "in" and isinstance(operand, list):
        return Condition(key, test, [_scalar(key, item) for item in operand])
    if test in RANGES and isinstance(operand, (int, float, str)) and not isinstance(operand, bool):
        return Condition(key, test, operand)
    raise ValueError(f"{key}: {test}: {operand!r} is not a condition; use 'in' with a list, or a range with a bound")


def _scalar(key: str, value: Any) -> Any:
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise ValueError(f"{key}: {value!r} cannot be compared; use text, a number, true, false or null")


def matches(filter_: Filter | None, metadata: Mapping[str, Any]) -> bool:
    """Whether metadata satisfies a filter."""
    return all(_holds(condition, metadata) for condition in conditions(filter_))


def _holds(condition: Condition, metadata: Mapping[str, Any]) -> bool:
    if condition.key not in metadata:
        return False
    value = metadata[condition.key]
    values = value if isinstance(value, list) else [value]
    if condition.test == "in":
        return any(_equal(value, wanted) for value in values for wanted in condition.operand)
    compare = RANGES[condition.test]
    return any(_comparable(value, condition.operand) and compare(value, condition.operand) for value in values)


def _kind(value: Any) -> str:
    """JSON's kinds: in Python ``True == 1``, in JSON and in every store they differ."""
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, (int, float)) else type(value).__name__


def _equal(value: Any, wanted: Any) -> bool:
    return _kind(value) == _kind(wanted) and bool(value == wanted)


def _comparable(value: Any, bound: Any) -> bool:
    return _kind(value) == _kind(bound) and _kind(value) in ("number", "str")
