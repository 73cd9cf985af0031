"""How names were changed: what the new ones have in common with the old ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import quote

PLAIN: Mapping[str, Callable[[str], str]] = {
    "put in lower case": str.lower,
    "put in upper case": str.upper,
    "stripped of white space": str.strip,
    "stripped of hyphens": lambda name: name.replace("-", ""),
    "stripped of leading zeros": lambda name: name.lstrip("0"),
    "written with _ for -": lambda name: name.replace("-", "_"),
    "written with - for _": lambda name: name.replace("_", "-"),
    "escaped as in URLs": lambda name: quote(name, safe=""),
    "cut to what stands before @": lambda name: name.partition("@")[0],
}


def described(pairs: Mapping[str, str]) -> str | None:
    """Say by which rule old names became the new ones; nothing where there is none for all of them."""
    if not pairs:
        return None
    for words, rule in PLAIN.items():
        if all(rule(old) == new for old, new in pairs.items()):
            return words
    return _affixed(pairs) or _cut(pairs)


def _affixed(pairs: Mapping[str, str]) -> str | None:
    """A text that stands before or behind all the new names, or stood there in the old ones."""
    for words, longer, shorter in (
        ("given the {where} {text!r}", pairs.values(), pairs.keys()),
        ("stripped of the {where} {text!r}", pairs.keys(), pairs.values()),
    ):
        ends = {(long[: -len(short)], "prefix") for long, short in zip(longer, shorter, strict=True) if short}
        if len(ends) == 1 and all(long.endswith(short) for long, short in zip(longer, shorter, strict=True)):
            text, where = ends.pop()
            return words.format(where=where, text=text)
        ends = {(long[len(short) :], "suffix") for long, short in zip(longer, shorter, strict=True) if short}
        if len(ends) == 1 and all(long.startswith(short) for long, short in zip(longer, shorter, strict=True)):
            text, where = ends.pop()
            return words.format(where=where, text=text)
    return None


def _cut(pairs: Mapping[str, str]) -> str | None:
    """All new names have one length, and each is the beginning of the old one."""
    lengths = {len(new) for new in pairs.values()}
    if len(lengths) == 1 and all(old.startswith(new) and old != new for old, new in pairs.items()):
        return f"cut to {lengths.pop()} characters"
    return None
