"""One tree of errors; each says what failed and what to do, and carries its exit code.

::

    MemregressError(message, remedy)
     ├─ ConfigError                2   the user's settings or golden set are wrong
     │   ├─ GoldenError                every problem of a golden set, with file, line and field
     │   └─ UnknownBackendError        with a did-you-mean
     ├─ BackendError               3   the store could not be reached, filled or searched
     │   ├─ BackendUnavailable         closed port, wrong password, time-out
     │   ├─ MissingDriverError         prints the pip line
     │   └─ LoadRejected               the store refused memories
     ├─ InstanceError              3   the store could not be started; its log is attached
     └─ PublishError               4   the report could not be delivered
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


class MemregressError(Exception):
    """What failed (`message`), and what to do about it (`remedy`)."""

    exit_code = 3

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n{self.remedy}" if self.remedy else self.message


class ConfigError(MemregressError):
    """Settings, flags or files given by the user are wrong."""

    exit_code = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One thing wrong with a golden set: where it is, and what is wrong there."""

    file: str
    line: int | None = None
    field: str | None = None
    what: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.field}: {self.what}" if self.field else f"{place}: {self.what}"


class GoldenError(ConfigError):
    """A golden set is unusable; `problems` holds all of them, not only the first."""

    def __init__(self, path: str, problems: Sequence[Problem], remedy: str = "") -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        noun = "problem" if count == 1 else "problems"
        shown = "\n".join(f"  {problem}" for problem in self.problems[:SHOWN_PROBLEMS])
        more = f"\n  … and {count - SHOWN_PROBLEMS} more" if count > SHOWN_PROBLEMS else ""
        super().__init__(
            f"golden set {path}: {count} {noun}\n{shown}{more}",
            remedy or "Mend the lines named above, or write the set anew with `memregress golden import`.",
        )


SHOWN_PROBLEMS = 50


class UnknownBackendError(ConfigError):
    """No backend goes by that name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        super().__init__(f"unknown backend {name!r}", f"{did_you_mean(name, names)}Backends: {', '.join(names)}.")


class BackendError(MemregressError):
    """The store could not be reached, filled or searched."""


class BackendUnavailable(BackendError):
    """The store does not answer, or does not let us in."""


class MissingDriverError(BackendError):
    """A Python package that the backend needs is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"the Python package {package!r} is not installed",
            f"Install it with: pip install 'memregress[{extra}]'",
        )


class LoadRejected(BackendError):
    """The store refused to take the golden set."""


class InstanceError(MemregressError):
    """A store could not be started."""


class PublishError(MemregressError):
    """A report could not be written or delivered."""

    exit_code = 4


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``Did you mean 'x'? `` for the closest known word, or nothing."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"Did you mean {close[0]!r}? " if close else ""
