"""Users and metadata as tags and numbers that a search can filter by.

A TAG field cuts its text at separators, trims it, and a query gives some characters a meaning. So in memregress's own
documents the tag of a user, and of each value of the metadata, is made of letters and digits only: nothing in a user's
id can then match another user, or be anything but an id.
"""

from __future__ import annotations

import functools
import hashlib
import re
import sys
from collections.abc import Mapping
from typing import Any

import msgspec

USER, LABELS = "memregress_user", "memregress_labels"
"""Fields beside the application's: the user's tag, and the metadata's tags."""
LONGEST = 500
LARGEST = sys.float_info.max
NOBODY = "n"
"""A tag that no value has."""
SCALARS = (str, int, float, bool)
KINDS = {str: "str", int: "number", float: "number", bool: "bool"}
_json = msgspec.json.Encoder().encode


def escaped(field: str) -> str:
    """Return the name of a field for a query, in which most characters but letters have a meaning."""
    return re.sub(r"(\W)", r"\\\1", field)


@functools.lru_cache(maxsize=1 << 12)
def user(name: str) -> str:
    """Return the tag of a user."""
    data = name.encode(errors="surrogatepass")
    return f"u{data.hex()}" if len(data) <= LONGEST else f"h{hashlib.sha256(data).hexdigest()}"


def value(key: str, found: Any) -> str:
    """Return the tag of one value of a key; JSON's kinds are kept apart, 1 and 1.0 are one."""
    kind = KINDS.get(type(found)) or _kind(found)
    if kind == "str":
        return _text(key, found)
    return _tag(key, kind, float(found) if kind == "number" and abs(found) < 1 << 53 else found)


@functools.lru_cache(maxsize=1 << 16)
def _text(key: str, found: str) -> str:
    """Texts come again and again, in many memories."""
    return _tag(key, "str", found)


def _tag(key: str, kind: str, found: Any) -> str:
    return f"v{hashlib.sha256(_json((key, kind, found))).hexdigest()[:32]}"


def values(metadata: Mapping[str, Any]) -> list[str]:
    """Return the tags of all that an equality can meet; each item of a list is one."""
    tags = []
    for key, found in metadata.items():
        if isinstance(found, str):
            tags.append(_text(key, found))
        elif isinstance(found, list):
            tags += [value(key, item) for item in found if item is None or isinstance(item, SCALARS)]
        elif found is None or isinstance(found, SCALARS):
            tags.append(value(key, found))
    return tags


@functools.lru_cache(maxsize=1 << 10)
def number(key: str) -> str:
    """Return the name of the field that holds a key's numbers."""
    return f"memregress_n_{key.encode().hex()}"


def numbers(metadata: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return the keys whose value is a single number."""
    return [(key, found) for key, found in metadata.items() if is_number(found) and -LARGEST <= found <= LARGEST]


def is_number(found: Any) -> bool:
    """Whether a value is a number to JSON; true and false are not."""
    return isinstance(found, (int, float)) and not isinstance(found, bool)


def _kind(found: Any) -> str:
    return "number" if is_number(found) else type(found).__name__
