"""The inputs of the action `publish`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import msgspec

from memregress.github import reading
from memregress.github.commenting import Mode
from memregress.github.publishing import Terms


@dataclass(frozen=True, kw_only=True, slots=True)
class Inputs:
    """What a workflow gives with ``with:``; see ``publish/action.yml``."""

    legs: list[str]
    """The names of the legs that are expected."""
    reports: str = "memregress-reports"
    prefix: str = "memregress-"
    golden: str = ""
    comment: str = "auto"
    snippets: str = "auto"
    key: str = "default"
    github_token: str = field(default="", repr=False)

    @property
    def folder(self) -> Path:
        """Where each leg has a folder of its own."""
        return Path(self.reports)

    @property
    def terms(self) -> Terms:
        """How the comment is written."""
        return Terms(token=self.github_token, mode=cast("Mode", self.comment), key=self.key)


def read(environ: Mapping[str, str]) -> Inputs:
    """Read the inputs; `legs` is a JSON list, or names separated by commas or line ends.

    Raises:
        ConfigError: one is missing, or not what it can be.
    """
    given = reading.given(environ, Inputs, required=("legs",))
    names = _names(given["legs"])
    for name in names:
        reading.check_key("legs", name)
    return Inputs(legs=names, **{name: text for name, text in given.items() if name != "legs"})


def _names(text: str) -> list[str]:
    try:
        return msgspec.json.decode(text, type=list[str])
    except msgspec.MsgspecError:
        return [name for part in text.split(",") for name in part.split()]
