"""The action's inputs: strings in the environment, checked before anything is started.

The runner passes `fail-on` as ``INPUT_FAIL-ON``; some shells drop names with a dash, so ``INPUT_FAIL_ON`` is read too.
An input that is empty is not given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from memregress import errors

CHOICES = {
    "fail_on": ("regression", "any", "never"),
    "snippets": ("auto", "full", "none"),
}


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
    baseline: str = ""
    snippets: str = "auto"
    out: str = "memregress-report"

    @property
    def folder(self) -> Path:
        """Where report files go."""
        return Path(self.out)


NONE = Inputs(backend="", golden="")
"""Where the inputs themselves are wrong: what is said then is said at the default places."""


def read(environ: Mapping[str, str]) -> Inputs:
    """Read the inputs.

    Raises:
        ConfigError: one is missing or not among its choices; says which it could be.
    """
    given = {name: value for name in _names() if (value := _value(environ, name))}
    for name in ("backend", "golden"):
        if name not in given:
            raise errors.ConfigError(f"the input {name} is missing", f"Add `{name}:` under `with:` in the workflow.")
    for name, choices in CHOICES.items():
        if name in given and given[name] not in choices:
            hint = errors.did_you_mean(given[name], choices)
            raise errors.ConfigError(
                f"the input {_kebab(name)} is {given[name]!r}", f"{hint}It is one of {', '.join(choices)}."
            )
    return Inputs(**{**given, "url": _url(environ)})


def _url(environ: Mapping[str, str]) -> str:
    name = _value(environ, "url_env")
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


def _names() -> list[str]:
    return [item.name for item in fields(Inputs) if item.name != "url"]


def _value(environ: Mapping[str, str], name: str) -> str:
    kebab = f"INPUT_{_kebab(name).upper()}"
    return (environ.get(kebab) or environ.get(f"INPUT_{name.upper()}") or "").strip()


def _kebab(name: str) -> str:
    return name.replace("_", "-")
