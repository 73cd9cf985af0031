"""The runner's commands: lines of the log that it obeys, and files it reads values from.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands. Text from a golden set is a
stranger's: it is escaped where it goes into a command, and `silenced` elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

MESSAGE_LIMIT = 4_000
"""The runner cuts messages at 4,096 characters."""
WEAK = frozenset({"postgres", "password", "memregress", "test", "secret", "redis"})
"""Passwords of throw-away servers: masking them would blot the words out of the whole log."""
SHORTEST_SECRET = 6


def annotation(level: str, message: str, *, title: str, file: str | None = None, line: int | None = None) -> str:
    """Return the command for an annotation; `level` is ``error``, ``warning`` or ``notice``."""
    properties = {"title": title, "file": file, "line": line}
    given = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value is not None)
    return f"::{level} {given}::{_data(message[:MESSAGE_LIMIT])}"


def group(title: str) -> str:
    """Return the command that begins a foldable group."""
    return f"::group::{_data(title)}"


def endgroup() -> str:
    """Return the command that ends it."""
    return "::endgroup::"


@contextlib.contextmanager
def silenced(say: Callable[[str], None]) -> Iterator[None]:
    """Have the runner take the lines said within for text, whatever they begin with.

    Indenting them would not do: it looks for commands after leading spaces, and for ``##[`` anywhere in a line.
    """
    token = secrets.token_hex(16)
    say(f"::stop-commands::{token}")
    try:
        yield
    finally:
        say(f"::{token}::")


@contextlib.contextmanager
def silenced_in_job(say: Callable[[str], None]) -> Iterator[None]:
    """The same for a program that may run in a job or elsewhere, where there is nothing to silence."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        yield
        return
    with silenced(say):
        yield


def masks(url: str) -> list[str]:
    """Return the commands that blot a URL's secrets out of the log: whole, and the password in each of its forms."""
    password = urlsplit(url).password or ""
    forms = {url, password, unquote(password), quote(unquote(password), safe="")}
    secret = len(unquote(password)) >= SHORTEST_SECRET and unquote(password).lower() not in WEAK
    return [f"::add-mask::{_data(form)}" for form in sorted(forms) if form and secret]


def write_value(path: Path, name: str, value: str) -> None:
    """Append a value to a file of the runner's, behind a delimiter that the value cannot guess."""
    delimiter = f"memregress_{secrets.token_hex(16)}"
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{name}<<{delimiter}\n{value}\n{delimiter}\n")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
