"""Text that fits where it goes: ever less is said until the limit is kept, and what was left out is named."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memregress.render.facts import COMMENT, SUMMARY, Room

COMMENT_CHARACTERS = 60_000
"""GitHub refuses comments of more than 65,536."""
SUMMARY_BYTES = 900 << 10
"""GitHub drops a summary of more than 1 MiB whole."""

Render = Callable[[Room], str]


def comment(render: Render, *, reserve: int = 0) -> str:
    """Return the longest text that fits a comment beside `reserve` characters."""
    return _fit(render, COMMENT, lambda text: len(text) <= COMMENT_CHARACTERS - reserve)


def summary(render: Render) -> str:
    """Return the longest text that fits the summary of a job."""
    return _fit(render, SUMMARY, lambda text: len(text.encode()) <= SUMMARY_BYTES) + "\n"


def _fit(render: Render, rooms: Sequence[Room], fits: Callable[[str], bool]) -> str:
    for number, room in enumerate(rooms):
        text = render(room)
        if number:
            text += "\n\n<sub>Shortened to fit here; everything is in report.json, an artifact of the run.</sub>"
        if fits(text):
            return text
    return text.splitlines()[0]
