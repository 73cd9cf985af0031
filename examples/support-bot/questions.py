"""What customers ask, and under which conditions the bot searches for the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from customers import Order
from dice import Dice

from memregress.model import Memory, Query

QUESTIONS: dict[str, list[str]] = {
    "order": [
        "What exactly did I order in {order}?",
        "Can you tell me what is in order {order} and what I paid?",
        "Did my {item} order go through?",
        "I ordered something from {shop} a while ago, what was it?",
    ],
    "delivery": [
        "Where is my order {order}?",
        "My {item} still hasn't arrived, what is going on?",
        "The parcel from {carrier} never came. Can you check?",
        "Any news about the delivery problem with {order}?",
        "It says delivered, but I have no {item}.",
    ],
    "return": [
        "Have you got my return of the {item}?",
        "When do I get my money back for {order}?",
        "How do I send the {item} back?",
        "What did we agree about returning {order}?",
    ],
    "preference": [
        "How do you contact me, and how should you?",
        "Do you remember how I like my parcels packed?",
        "Which carrier do I prefer?",
        "What do you know about my preferences?",
    ],
    "address": [
        "Where will you leave the parcel if I'm out?",
        "Is my new delivery address in the system?",
        "What do drivers have to know about my door?",
    ],
    "subscription": [
        "When does my next subscription parcel leave?",
        "Is my {shop} subscription still paused?",
        "How much do I pay for the {shop} subscription, and how often?",
        "I want to change my subscription.",
    ],
    "ticket": [
        "What is the status of ticket {ticket}?",
        "Is there an open ticket about my {item}?",
        "I was charged twice, is anybody looking at it?",
        "Has {ticket} been closed?",
    ],
    "promise": [
        "You promised me something about {order}, remember?",
        "Wasn't I supposed to get a voucher for the trouble?",
        "Somebody wanted to call me back.",
        "What did you say about replacing the {item}?",
    ],
    "product": [
        "Was I happy with the {item}?",
        "How do I take care of the {item}?",
        "Which {shop} things do I own already?",
    ],
    "account": [
        "Which email address is on my account?",
        "How much is left on my gift card?",
        "What loyalty level am I on?",
    ],
    "temporary": [
        "Until when is my voucher valid?",
        "You know I'm away at the moment, right?",
        "How long is the {item} reserved for me?",
    ],
}

FOREIGN = {
    "de": ["Wo bleibt meine Bestellung {order}?", "Was hatte ich bei {shop} bestellt?"],
    "fr": ["Où est ma commande {order} ?", "Qu’est-ce que j’ai commandé chez {shop} ?"],
    "es": ["¿Dónde está mi pedido {order}?", "¿Qué había comprado en {shop}?"],
}

FILTERS: list[Callable[[dict[str, Any]], dict[str, Any] | None]] = [
    lambda fields: {"topic": fields["topic"]},
    lambda fields: {"topic": {"in": sorted({fields["topic"], "order", "delivery"})}},
    lambda fields: {"priority": {"gte": max(1, fields["priority"] - 1)}},
    lambda fields: {"priority": {"gte": 2, "lt": 5}} if 2 <= fields["priority"] < 5 else None,
    lambda fields: {"last_seen": {"gte": f"{fields['last_seen'][:7]}-01T00:00:00Z"}},
    lambda fields: {"shop": fields["shop"], "channel": {"in": sorted({fields["channel"], "chat"})}},
    lambda fields: {"tags": fields["tags"][0]} if fields["tags"] else None,
    lambda fields: {"order_id": fields["order_id"]} if "order_id" in fields else None,
    lambda fields: {"resolved": fields["resolved"]} if "resolved" in fields else None,
    lambda fields: {"language": fields["language"]},
    lambda fields: {"amount": {"lte": fields["amount"]}} if "amount" in fields else None,
]


def question(dice: Dice, number: int, about: Memory, own: Sequence[Memory], orders: dict[str, Order]) -> Query:
    """What the customer asks who should be answered with this memory."""
    fields = about.metadata
    texts = FOREIGN.get(fields["language"], QUESTIONS[fields["topic"]])
    named = orders.get(fields.get("order_id", "")) or next(o for o in orders.values() if o.shop == fields["shop"])
    ticket = next((word.strip(":,.") for word in about.content.split() if word.startswith("T-")), "T-10000")
    words = {name: getattr(named, name) for name in ("shop", "item", "carrier")}
    same = [memory.id for memory in own if memory.content == about.content]
    return Query(
        id=f"q-{number:03d}",
        text=dice.pick(texts).format(order=named.id, ticket=ticket, **words),
        user=about.user,
        filter=dice.pick(FILTERS)(fields) if dice.chance(0.4) else None,
        k=dice.pick([3, 5, 5, 8, 10]),
        labels=same if dice.chance(0.35) else [],
    )
