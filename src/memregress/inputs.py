"""The action's inputs: strings in the environment, checked before anything is started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from memregress import errors
from memregress.github import reading
from memregress.github.commenting import Mode
from memregress.github.publishing import Terms

AUTO, NO_BASELINE = "auto", "none"
ARTIFACT = "memregress-{key}"
"""What a leg's files are uploaded as, on a pull request for the verdict, on the base branch as the baseline."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Inputs:
    """What a workflow gives with ``with:``; see ``action.yml``."""

    backend: str
    golden: str
    image: str = ""
    url: str = field(default="", repr=False)
    """Read from the variable that `url-env` names: a secret never goes through an input, which the log shows."""
    config: str = ""
    fail_on: str = "regression"
    baseline: str = AUTO
    golden_base: str = ""
    comment: str = "auto"
    snippets: str = "auto"
    key: str = ""
    out: str = "memregress-report"
    github_token: str = field(default="", repr=False)

    @property
    def folder(self) -> Path:
        """Where report files go."""
        return Path(self.out)

    @property
    def name(self) -> str:
        """What tells this store's comment and baseline from others'."""
        return self.key or self.backend

    @property
    def terms(self) -> Terms:
        """How the comment is written."""
        return Terms(token=self.github_token, mode=cast("Mode", self.comment), key=self.name)


NONE = Inputs(backend="", golden="", comment="never")
"""Where the inputs themselves are wrong: what is said then is said at the default places."""


def read(environ: Mapping[str, str]) -> Inputs:
    """Read the inputs.

    Raises:
        ConfigError: one is missing or not among its choices; says which it could be.
    """
    given = reading.given(environ, Inputs, required=("backend", "golden"))
    return Inputs(**{**given, "url": _url(environ)})


def _url(environ: Mapping[str, str]) -> str:
    name = reading.value(environ, "url_env")
    if not name:
        return ""
    if "://" in name:
        raise errors.ConfigError(
            "the input url-env holds a URL",
            "Name the variable that holds it, e.g. `url-env: STORE_URL`: inputs are logged.",
        )
    if not environ.get(name):
        raise errors.ConfigError(
            f"the variable {name}, which url-env names, is empty",
            f"Set it under `env:`, e.g. {name}: ${{{{ secrets.{name} }}}}.",
        )
    return environ[name]
