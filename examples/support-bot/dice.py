"""Choices that fall the same everywhere."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Dice:
    """Choices from `random()` alone, the one method whose sequence Python promises to keep."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random

    def number(self, low: int, high: int) -> int:
        """Return a whole number, both ends included."""
        return low + int(self.random() * (high - low + 1))

    def pick(self, items: Sequence[Item]) -> Item:
        """Return one of the items."""
        return items[int(self.random() * len(items))]

    def chance(self, share: float) -> bool:
        """Return true in that share of cases."""
        return self.random() < share

    def weighted(self, weights: dict[str, int]) -> str:
        """Return a name, the more often the more weight it has."""
        point = self.random() * sum(weights.values())
        for name, weight in weights.items():
            point -= weight
            if point < 0:
                return name
        return next(iter(weights))
