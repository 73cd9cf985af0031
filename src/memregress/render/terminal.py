"""Text from a stranger, made safe to print: a golden set in a pull request must not be able to steer a terminal."""

from __future__ import annotations

import re

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

_UNSAFE = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # C0 and C1 controls: escape sequences begin here, lines end here
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional marks: what is shown is not what is there
    "\u2028\u2029\ufeff\ufff9-\ufffb"  # separators and annotations
    "\ud800-\udfff"  # halves of characters, which cannot be printed at all
    "\U000e0000-\U000e007f"  # tags: text that nobody sees
    "]"
)


def plain(text: str, *, limit: int | None = None) -> str:
    r"""Return text as one line without control characters: they are shown as escapes (``\n``, ``\x1b``, ``\u202e``).

    At most `limit` characters of it are kept, then an ellipsis.
    """
    cut = text if limit is None or len(text) <= limit else f"{text[:limit]}…"
    return _UNSAFE.sub(_escape, cut)


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
