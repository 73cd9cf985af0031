"""The causes by code, as readers see them: name, title, page."""

from __future__ import annotations

from dataclasses import dataclass

from memregress import diagnose
from memregress.report import DOCS


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One cause, or concern."""

    code: str
    name: str
    title: str
    docs: str


def _entry(rule: diagnose.Cause | diagnose.Systemic | diagnose.Concern) -> Entry:
    return Entry(code=rule.code, name=rule.name, title=rule.title, docs=DOCS.format(name=rule.name))


_ENTRIES = {rule.code: _entry(rule) for rule in diagnose.RULES}


def find(code: str) -> Entry | None:
    """Return the cause of that code, if there is one."""
    return _ENTRIES.get(code)
