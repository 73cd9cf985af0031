"""Users and metadata as tags and numbers that a search can filter by.

A TAG field cuts its text at separators, trims it, and a query gives some characters a meaning. So in memregress's own
documents the tag of a user, and of each value of the metadata, is made of letters and digits only: nothing in a user's
id can then match another user, or be anything but an id.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

USER, LABELS = "memregress_user", "memregress_labels"
"""Fields beside the application's: the user's tag, and the metadata's tags."""
LONGEST = 500
LARGEST = sys.float_info.max
NOBODY = "n"
"""A tag that no value has."""


def escaped(field: str) -> str:
    """Return the name of a field for a query, in which most characters but letters have a meaning."""
    return re.sub(r"(\W)", r"\\\1", field)


def user(name: str) -> str:
    """Return the tag of a user."""
    data = name.encode(errors="surrogatepass")
    return f"u{data.hex()}" if len(data) <= LONGEST else f"h{hashlib.sha256(data).hexdigest()}"


def value(key: str, found: Any) -> str:
    """Return the tag of one value of a key; JSON's kinds are kept apart, 1 and 1.0 are one."""
    data = msgspec.json.encode([key, _kind(found), float(found) if is_number(found) and _exact(found) else found])
    return f"v{hashlib.sha256(data).hexdigest()[:32]}"


def values(metadata: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values that an equality can meet; each item of a list is one."""
    for key, found in metadata.items():
        for item in found if isinstance(found, list) else [found]:
            if item is None or isinstance(item, (str, int, float, bool)):
                yield key, item


def number(key: str) -> str:
    """Return the name of the field that holds a key's numbers."""
    return f"memregress_n_{key.encode().hex()}"


def numbers(metadata: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the keys whose value is a single number."""
    for key, found in metadata.items():
        if is_number(found) and -LARGEST <= found <= LARGEST:
            yield key, found


def is_number(found: Any) -> bool:
    """Whether a value is a number to JSON; true and false are not."""
    return isinstance(found, (int, float)) and not isinstance(found, bool)


def _exact(found: float) -> bool:
    return abs(found) < 1 << 53


def _kind(found: Any) -> str:
    return "number" if is_number(found) else type(found).__name__
