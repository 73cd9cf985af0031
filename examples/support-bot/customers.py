"""Customers and their orders; all invented."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

import shops
from dice import Dice

CAPTURED_AT = datetime(2026, 6, 30, 12, tzinfo=UTC)
HEAVY = (236, 204, 187, 163)
CUSTOMERS = 84
TIERS = ["bronze", "silver", "gold"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Order:
    """One order: two things of one shop."""

    id: str
    shop: str
    item: str
    other: str
    carrier: str
    amount: str
    placed: datetime


@dataclasses.dataclass(frozen=True, kw_only=True)
class Customer:
    """Somebody who writes to the bot."""

    id: str
    language: str
    tier: str
    orders: list[Order]

    @property
    def email(self) -> str:
        """At the domain that is reserved for examples."""
        return f"{self.id}@example.com"


def day(moment: datetime) -> str:
    """Return a date as people write it."""
    return f"{moment.day} {moment:%B}"


def money(dice: Dice, low: int, high: int) -> str:
    """Return an amount between whole euros."""
    return f"{dice.number(low, high)}.{dice.pick(['00', '50', '90', '95', '99'])}"


def customers(dice: Dice) -> list[tuple[Customer, int]]:
    """Each customer with how many memories are kept of them: a few have hundreds, most a dozen or two."""
    counts = [*HEAVY, *(4 + int(72 * dice.random() ** 1.6) for _ in range(CUSTOMERS - len(HEAVY)))]
    numbers = [1003 + 107 * position + dice.number(0, 106) for position in range(CUSTOMERS)]
    return [(customer(dice, number, count), count) for number, count in zip(numbers, counts, strict=True)]


def customer(dice: Dice, number: int, memories: int) -> Customer:
    """Return a customer with as many orders as that many memories need."""
    favourites = [dice.pick(list(shops.SHOPS)) for _ in range(1 + memories // 40)]
    orders = [order(dice, dice.pick(favourites)) for _ in range(2 + memories // 6)]
    language = dice.weighted({"en": 82, "de": 8, "fr": 5, "es": 5})
    return Customer(id=f"cust{number}", language=language, tier=dice.pick(TIERS), orders=orders)


def order(dice: Dice, shop: str) -> Order:
    """Return an order of the past year."""
    prefix, items = shops.SHOPS[shop]
    item = dice.number(0, len(items) - 1)
    return Order(
        id=f"{prefix}-{dice.number(20_000, 98_999)}",
        shop=shop,
        item=items[item],
        other=items[(item + dice.number(1, len(items) - 1)) % len(items)],
        carrier=dice.pick(shops.CARRIERS),
        amount=money(dice, 14, 190),
        placed=CAPTURED_AT - timedelta(days=dice.number(6, 380), minutes=dice.number(0, 1439)),
    )
