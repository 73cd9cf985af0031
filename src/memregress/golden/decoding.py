"""Why a JSON object is not of the expected type: every wrong field of it, where msgspec names the first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from memregress import errors


class Fault(NamedTuple):
    """A field (None for the whole) and what is wrong with it."""

    field: str | None
    what: str


def time_fault(time: datetime) -> str | None:
    """Return what is wrong with a time, if anything."""
    if time.tzinfo is UTC:
        return None
    if time.tzinfo is None:
        return "time without zone"
    try:
        time.astimezone(UTC)
    except OverflowError:
        return "is out of range"
    return None


def faults(data: bytes, kind: type[msgspec.Struct]) -> list[Fault]:
    """Return everything wrong with an object that could not be decoded as `kind`; at least one."""
    try:
        raw = msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError) as error:
        return [Fault(None, _syntax(error))]
    if not isinstance(raw, dict):
        return [Fault(None, "is not a JSON object")]
    return [*_unknown(raw, kind), *_fields(raw, kind)] or [Fault(None, "is out of range")]


def _syntax(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    return f"is not JSON: {error}"


def _unknown(raw: dict[str, Any], kind: type[msgspec.Struct]) -> list[Fault]:
    known = {field.encode_name for field in msgspec.structs.fields(kind)}
    return [
        Fault(name, f"unknown field. {errors.did_you_mean(name, known)}".rstrip()) for name in raw if name not in known
    ]


def _fields(raw: dict[str, Any], kind: type[msgspec.Struct]) -> list[Fault]:
    found = []
    for field in msgspec.structs.fields(kind):
        if field.encode_name in raw:
            found += _field(field.encode_name, raw[field.encode_name], field.type)
        elif field.required:
            found.append(Fault(field.encode_name, "is missing"))
    return found


def _field(name: str, value: Any, kind: Any) -> list[Fault]:
    if isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return [Fault(f"{name}.{fault.field}", fault.what) for fault in [*_unknown(value, kind), *_fields(value, kind)]]
    try:
        msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        what, _, inner = str(error).partition(" - at `$")
        return [Fault(name + inner.rstrip("`"), what)]
    return []
