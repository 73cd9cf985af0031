"""What the Markdown needs beside the outcome: what was tested, who may read it, and how much room there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """Of one run; `texts` says whether contents and users may be shown."""

    texts: bool
    salt: str
    """Makes the pseudonyms of users this repository's own."""
    golden: str = ""
    """The golden set's folder, as the workflow names it."""
    options: Sequence[str] = ()
    """What else the replay was told, as words of the command line."""
    run_url: str = ""
    subject: str = "this change"
    """Whom to blame: ``this pull request`` where there is one."""
    tested: str = ""
    """The state that was tested, in words."""
    head: str = ""
    """Its commit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """How much may be said."""

    memories: int
    """Rows of broken memories."""
    causes: int = 50
    details: bool = True


COMMENT = (
    Room(memories=10),
    Room(memories=5),
    Room(memories=0),
    Room(memories=0, causes=10, details=False),
    Room(memories=0, causes=3, details=False),
    Room(memories=0, causes=0, details=False),
)
"""From the longest to the shortest text."""
SUMMARY = (Room(memories=500), *COMMENT)
