"""Text from a stranger, made safe to print."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memregress.render import terminal


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ünïcode 👩\u200d🚒 日本", "plain ünïcode 👩\u200d🚒 日本"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x9b31m", "\\x9b31m"),
        ("\x00\x07\x7f", "\\x00\\x07\\x7f"),
        ("safe\u202eevil", "safe\\u202eevil"),
        ("\u2066\u2069\u200f\u2028\ufeff", "\\u2066\\u2069\\u200f\\u2028\\ufeff"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\\ud800"),
        ("[bold]x[/bold]", "[bold]x[/bold]"),
    ],
)
def test_plain(text: str, shown: str) -> None:
    """Controls and bidirectional marks are shown as escapes, everything else as it is."""
    assert terminal.plain(text) == shown


def test_limit() -> None:
    """Long text is cut, and says so."""
    assert terminal.plain("abcdef", limit=3) == "abc…"
    assert terminal.plain("abc", limit=3) == "abc"


@given(st.text())
def test_one_printable_line(text: str) -> None:
    """Whatever comes in, one line without control characters comes out."""
    shown = terminal.plain(text)
    assert len(shown.splitlines()) <= 1
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in shown)
