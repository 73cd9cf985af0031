"""What the bot remembers of a customer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import phrases
import shops
from customers import CAPTURED_AT, Customer, Order, day, money
from dice import Dice

from memregress.model import Memory

TOPICS = {
    "order": 20, "delivery": 17, "return": 11, "preference": 10, "address": 7, "subscription": 8,
    "ticket": 8, "promise": 6, "product": 8, "account": 6, "temporary": 4,
}  # fmt: skip
WITH_OUTCOME = ("delivery", "return", "ticket", "promise")
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
PLANS = ["every two weeks", "monthly", "every six weeks", "once a quarter"]


def slots(dice: Dice, who: Customer, what: Order, moment: datetime) -> dict[str, str]:
    """Words for the templates; `damage` and `reason` are part of a sentence, the rest are names and times."""
    return {
        **{name: getattr(what, name) for name in ("shop", "item", "other", "carrier", "amount")},
        "order": what.id,
        "small": money(dice, 3, 12),
        "date": day(moment),
        "day": dice.pick(DAYS),
        "month": f"{moment:%B}",
        "later": day(moment + timedelta(days=dice.number(7, 40))),
        "until": day(CAPTURED_AT + timedelta(days=dice.number(3, 120))),
        "place": dice.pick(shops.PLACES),
        "reason": dice.pick(shops.REASONS),
        "damage": dice.pick(shops.DAMAGES),
        "plan": dice.pick(PLANS),
        "tier": who.tier,
        "email": who.email,
        "ticket": f"T-{dice.number(10_000, 49_999)}",
        "voucher": f"{what.id[:2]}{dice.number(100_000, 999_999)}",
    }


def memories_of(dice: Dice, who: Customer, count: int) -> Iterator[Memory]:
    """A customer's memories; some say again what an earlier one said, a few in the very same words."""
    told: list[Memory] = []
    while len(told) < count:
        if told and dice.chance(0.02):
            told.append(again(dice, dice.pick(told)))
        else:
            told.append(memory(dice, who))
            if len(told) < count and dice.chance(0.04):
                told.append(reworded(dice, told[-1]))
    yield from told


def memory(dice: Dice, who: Customer) -> Memory:
    """Return one memory about one of the customer's orders."""
    topic = dice.weighted(TOPICS)
    own = phrases.OTHERS.get(who.language, {})
    language = who.language if topic in own and dice.chance(0.7) else "en"
    facts, tails = own[topic] if language != "en" else phrases.ENGLISH[topic]
    what = dice.pick(who.orders)
    latest = (CAPTURED_AT - what.placed) // timedelta(minutes=1) - 60
    spread = 45 if topic == "temporary" else min(60 * 24 * 40, latest)
    moment = what.placed + timedelta(minutes=dice.number(5, max(5, spread)))
    if topic == "temporary":
        moment = CAPTURED_AT - timedelta(minutes=dice.number(30, 60 * 24 * 20))
    words = slots(dice, who, what, moment)
    if topic == "subscription":
        words["item"] = dice.pick(shops.SUBSCRIPTIONS[what.shop])
    fact = dice.pick(facts)
    extra = [dice.pick(tails)] if dice.chance(0.72) else []
    if extra and dice.chance(0.25):
        extra.append(next(tail for tail in tails if tail not in extra))
    text = " ".join([fact, *extra])
    return Memory(
        id=f"m-{int(dice.random() * 2**32):08x}",
        user=who.id,
        content=text.format(**words),
        created_at=moment,
        expires_at=expiry(words) if topic == "temporary" else None,
        metadata=metadata(dice, topic, language, what, moment, names_order="{order}" in text),
    )


def expiry(words: dict[str, str]) -> datetime:
    """The end of the day that the text names."""
    named = datetime.strptime(f"{words['until']} {CAPTURED_AT.year} +0000", "%d %B %Y %z")
    return named + timedelta(hours=23, minutes=59)


def metadata(
    dice: Dice, topic: str, language: str, what: Order, moment: datetime, *, names_order: bool
) -> dict[str, Any]:
    """Return what a bot files beside the text: words, numbers, a list, a time as text, at times a nested object."""
    seen = min(moment + timedelta(minutes=dice.number(0, 60 * 24 * 30)), CAPTURED_AT - timedelta(minutes=5))
    tags = [tag for tag in ("b2b", "complaint", "fragile", "gift", "repeat", "vip") if dice.chance(0.14)]
    fields: dict[str, Any] = {
        "topic": topic,
        "channel": dice.weighted({"chat": 55, "email": 22, "app": 15, "phone": 8}),
        "language": language,
        "priority": dice.number(1, 5),
        "shop": what.shop,
        "tags": tags,
        "last_seen": f"{seen:%Y-%m-%dT%H:%M:00Z}",
    }
    if names_order:
        fields |= {"order_id": what.id, "amount": float(what.amount)}
    if topic in WITH_OUTCOME:
        fields["resolved"] = dice.chance(0.6)
    if dice.chance(0.1):
        fields["extraction"] = {"version": "2.4", "confidence": dice.number(55, 99) / 100}
    return fields


def again(dice: Dice, old: Memory) -> Memory:
    """The same words once more, later: stores that do not look before they write hold many of these."""
    return changed(dice, old, old.content)


def reworded(dice: Dice, old: Memory) -> Memory:
    """The same fact with a few words before it."""
    lead = dice.pick(["Update: ", "As noted before: ", "Still true: ", "Customer repeats: "])
    return changed(dice, old, lead + old.content)


def changed(dice: Dice, old: Memory, content: str) -> Memory:
    """Return a later memory that differs in nothing but its content."""
    earlier = old.created_at or CAPTURED_AT
    room = (CAPTURED_AT - earlier) // timedelta(minutes=1) - 10
    moment = earlier + timedelta(minutes=dice.number(1, max(1, min(room, 60 * 24 * 14))))
    return Memory(
        id=f"m-{int(dice.random() * 2**32):08x}",
        user=old.user,
        content=content,
        created_at=moment,
        expires_at=old.expires_at,
        metadata=old.metadata,
    )
