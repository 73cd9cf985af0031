"""The lines of a golden set as bytes: sorted keys, one space after separators, times in UTC; same input, same bytes.

JSON has no NaN and no infinity: as numbers in metadata they become null.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from memregress.model import Expected, Memory, Query

_ENCODER = msgspec.json.Encoder(order="sorted")


def line(value: dict[str, Any]) -> bytes:
    """Return one JSON line."""
    return msgspec.json.format(_ENCODER.encode(value), indent=0) + b"\n"


def memory(item: Memory) -> bytes:
    """Return a memory's line; `vector` stands on it only where there is none."""
    fields: dict[str, Any] = {
        "id": item.id,
        "user": item.user,
        "content": item.content,
        "created_at": optional(item.created_at),
        "expires_at": optional(item.expires_at),
        "metadata": item.metadata,
    }
    if not item.vector:
        fields["vector"] = False
    return line(fields)


def query(item: Query) -> bytes:
    """Return a query's line."""
    return line({**msgspec.structs.asdict(item), "expected": [_expected(expected) for expected in item.expected]})


def _expected(item: Expected) -> dict[str, Any]:
    return msgspec.structs.asdict(item)


def moment(time: datetime) -> datetime:
    """Return the same moment in UTC; a time without zone is left as it is, for reading to find fault with."""
    return time.astimezone(UTC) if time.tzinfo else time


def optional(time: datetime | None) -> datetime | None:
    """Return the same moment in UTC, if there is one."""
    return None if time is None else moment(time)
