"""Filters on metadata: what each condition lets through, and what is no condition."""

from typing import Any

import pytest

from memregress import filters

NOTHING: dict[str, Any] = {}


@pytest.mark.parametrize(
    ("filter_", "metadata", "passes"),
    [
        (None, {"a": 1}, True),
        ({}, {}, True),
        # equality
        ({"topic": "billing"}, {"topic": "billing"}, True),
        ({"topic": "billing"}, {"topic": "Billing"}, False),
        ({"topic": "billing"}, NOTHING, False),
        ({"n": 1}, {"n": 1.0}, True),
        ({"n": 1}, {"n": True}, False),
        ({"n": True}, {"n": 1}, False),
        ({"n": "1"}, {"n": 1}, False),
        ({"n": None}, {"n": None}, True),
        ({"n": None}, NOTHING, False),
        ({"n": None}, {"n": 0}, False),
        ({"n": False}, {"n": False}, True),
        ({"s": ""}, {"s": ""}, True),
        # lists in metadata
        ({"tags": "vip"}, {"tags": ["new", "vip"]}, True),
        ({"tags": "vip"}, {"tags": []}, False),
        ({"tags": {"in": ["a", "b"]}}, {"tags": ["x", "b"]}, True),
        ({"n": {"gte": 5}}, {"n": [1, 9]}, True),
        # membership
        ({"tier": {"in": ["gold", "silver"]}}, {"tier": "silver"}, True),
        ({"tier": {"in": ["gold"]}}, {"tier": "bronze"}, False),
        ({"tier": {"in": []}}, {"tier": "gold"}, False),
        ({"tier": {"in": ["gold", None]}}, {"tier": None}, True),
        # ranges
        ({"n": {"gte": 3, "lt": 5}}, {"n": 3}, True),
        ({"n": {"gte": 3, "lt": 5}}, {"n": 5}, False),
        ({"n": {"gt": 3}}, {"n": 3}, False),
        ({"n": {"lte": 3}}, {"n": 3.0}, True),
        ({"n": {"gt": 0}}, {"n": True}, False),
        ({"n": {"gt": 0}}, {"n": "5"}, False),
        ({"n": {"gt": 0}}, {"n": None}, False),
        ({"n": {"gt": 0}}, NOTHING, False),
        ({"at": {"gte": "2026-01-01T00:00:00Z"}}, {"at": "2026-03-01T00:00:00Z"}, True),
        ({"at": {"gte": "2026-01-01T00:00:00Z"}}, {"at": "2025-12-31T23:59:59Z"}, False),
        # several, and nested objects, which cannot be filtered on
        ({"a": 1, "b": 2}, {"a": 1, "b": 2}, True),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, False),
        ({"n": {"in": [1, 2], "gte": 2}}, {"n": 2}, True),
        ({"n": {"in": [1, 2], "gte": 2}}, {"n": 1}, False),
        ({"a": 1}, {"a": {"b": 1}}, False),
    ],
)
def test_matches(filter_: Any, metadata: dict[str, Any], passes: bool) -> None:
    """A filter lets through what satisfies all its conditions, by the kinds of JSON and not of Python."""
    assert filters.matches(filter_, metadata) is passes


@pytest.mark.parametrize(
    ("filter_", "message"),
    [
        ({"a": {}}, "a: an empty condition"),
        ({"a": {"near": 3}}, "a: near: 3 is not a condition"),
        ({"a": {"in": "gold"}}, "a: in: 'gold' is not a condition"),
        ({"a": {"in": [["gold"]]}}, "a: .* cannot be compared"),
        ({"a": {"gte": True}}, "a: gte: True is not a condition"),
        ({"a": {"gte": None}}, "a: gte: None is not a condition"),
        ({"a": ["x"]}, "a: .* cannot be compared"),
    ],
)
def test_not_a_filter(filter_: Any, message: str) -> None:
    """What is no condition is refused with its key."""
    with pytest.raises(ValueError, match=message):
        list(filters.conditions(filter_))


def test_conditions() -> None:
    """Equality is membership in one value, so adapters have two kinds of condition to translate."""
    found = list(filters.conditions({"a": 1, "b": {"in": [1, 2]}, "c": {"gt": 0, "lte": 9}}))
    assert found == [("a", "in", [1]), ("b", "in", [1, 2]), ("c", "gt", 0), ("c", "lte", 9)]
