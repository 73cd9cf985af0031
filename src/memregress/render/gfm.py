"""Strangers' text in GitHub's Markdown, of which it cannot get out.

Whatever comes from a golden set, a store or somebody else's report stands in a code span, on one line, with control
and bidirectional characters shown as escapes: it can neither ping anybody, nor load an image, nor break a table.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from memregress.render import terminal

LENGTH = 60


def code(text: str, limit: int = LENGTH) -> str:
    """Return text as one inert code span that fits a table's cell.

    The fence is one backtick longer than any run within (CommonMark 6.1); a pipe needs a backslash even there.
    """
    plain = terminal.plain(unicodedata.normalize("NFC", text), limit=limit)
    longest = max((len(run) for run in re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    padded = f" {plain} " if longest or plain.startswith(" ") or not plain.strip() else plain
    return f"{fence}{padded}{fence}".replace("|", "\\|")


def block(lines: list[str], language: str, limit: int = 2_000) -> str:
    """Return lines as a fenced block: no line ends another, and no run of backticks ends the block."""
    body = "\n".join(re.sub("`{3,}", lambda run: "ˋ" * len(run.group()), terminal.plain(line)) for line in lines)
    cut = body if len(body) <= limit else f"{body[:limit]}…"
    return f"```{language}\n{cut}\n```"


def fold(summary: str, body: str, *, opened: bool = False) -> str:
    """Return a part that is folded away; `summary` is our own text, or `escaped`."""
    return f"<details{' open' if opened else ''}><summary>{summary}</summary>\n\n{body}\n\n</details>"


def escaped(text: str, limit: int = LENGTH) -> str:
    """Return text for the inside of HTML, as code: character references, which mean nothing more there."""
    plain = terminal.plain(unicodedata.normalize("NFC", text), limit=limit)
    return f"<code>{''.join(_reference(character) for character in plain)}</code>"


def _reference(character: str) -> str:
    return character if character.isalnum() or character in " .-" else f"&#{ord(character)};"


def hashed(text: str) -> str:
    """Return what tells a text from others without showing it."""
    return code(f"sha256 {hashlib.sha256(text.encode(errors='replace')).hexdigest()[:12]}, {len(text)} characters")


def pseudonym(user: str, salt: str) -> str:
    """Return a name for a user that is the same in every run of a repository, and no other name."""
    return code("user " + hashlib.sha256(f"{salt}\0{user}".encode(errors="replace")).hexdigest()[:8])
