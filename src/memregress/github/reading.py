"""Reading the inputs of an action.

The runner passes `fail-on` as ``INPUT_FAIL-ON``; some shells drop names with a dash, so ``INPUT_FAIL_ON`` is read too.
An input that is empty is not given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from memregress import errors

CHOICES = {
    "fail_on": ("regression", "any", "never"),
    "snippets": ("auto", "full", "none"),
    "comment": ("auto", "always", "never"),
}
KEY = re.compile(r"[A-Za-z0-9._-]{1,60}")
"""What may name a comment, an artifact and a folder."""


def given(environ: Mapping[str, str], kind: Any, *, required: Sequence[str]) -> dict[str, str]:
    """Return the inputs that are given, by the fields of a dataclass.

    Raises:
        ConfigError: one is missing or not among its choices; says which it could be.
    """
    found = {item.name: text for item in fields(kind) if (text := value(environ, item.name))}
    found.pop("url", None)
    for name in required:
        if name not in found:
            raise errors.ConfigError(
                f"the input {_kebab(name)} is missing", f"Add `{_kebab(name)}:` under `with:` in the workflow."
            )
    for name, choices in CHOICES.items():
        if name in found and found[name] not in choices:
            hint = errors.did_you_mean(found[name], choices)
            raise errors.ConfigError(
                f"the input {_kebab(name)} is {found[name]!r}", f"{hint}It is one of {', '.join(choices)}."
            )
    if "key" in found:
        check_key("key", found["key"])
    return found


def check_key(name: str, text: str) -> None:
    """Refuse what cannot name a folder."""
    if not KEY.fullmatch(text) or text in (".", ".."):
        raise errors.ConfigError(
            f"the input {name} holds {text!r}", "Use letters, digits, dots, dashes and underscores, at most 60."
        )


def value(environ: Mapping[str, str], name: str) -> str:
    """Return an input by the name of its field; empty if it is not given."""
    kebab = f"INPUT_{_kebab(name).upper()}"
    return (environ.get(kebab) or environ.get(f"INPUT_{name.upper()}") or "").strip()


def _kebab(name: str) -> str:
    return name.replace("_", "-")
