"""the stored content is another one than was recorded."""

from __future__ import annotations

import collections
import functools
import html
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _mojibake(encoding: str) -> Callable[[str], str]:
    return lambda text: text.encode().decode(encoding, errors="replace")


CHANGES: Mapping[str, Callable[[str], str]] = {
    "is stripped of white space at its ends": str.strip,
    "has white space put together": lambda text: " ".join(text.split()),
    "is UTF-8 that was read as Latin-1": _mojibake("latin-1"),
    "is UTF-8 that was read as Windows-1252": _mojibake("cp1252"),
    "has lost whatever is not ASCII": lambda text: text.encode("ascii", "ignore").decode(),
    "has ? for whatever is not ASCII": lambda text: text.encode("ascii", "replace").decode(),
    "is escaped for HTML": html.escape,
    "is unescaped from HTML": html.unescape,
    "is escaped as JSON": lambda text: json.dumps(text)[1:-1],
    "is JSON, quotes included": json.dumps,
    "is in lower case": str.lower,
    "is in upper case": str.upper,
    "has lost its line breaks": lambda text: text.replace("\n", " "),
    "is in Unicode's form NFC": functools.partial(unicodedata.normalize, "NFC"),
    "is in Unicode's form NFD": functools.partial(unicodedata.normalize, "NFD"),
    "is in Unicode's form NFKC": functools.partial(unicodedata.normalize, "NFKC"),
}


def _applies(case: Case, scene: Scene) -> bool:
    return case.verdict is Verdict.ALTERED and "content" in case.differs


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    kept = {case.row: case.stored.content for case in cases if case.stored is not None}
    recorded = [text for batch in scene.golden.batches(list(kept)) for text in batch.contents]
    pairs = list(zip(recorded, kept.values(), strict=True))
    how = collections.Counter(_how(golden, stored, pairs) for golden, stored in pairs)
    return [f"{count:,} of {len(pairs):,}: the content {words}" for words, count in how.most_common(3)]


def _how(golden: str, stored: str, pairs: Sequence[tuple[str, str]]) -> str:
    if not stored:
        return "is empty"
    for words, change in CHANGES.items():
        if change(golden) == stored:
            return words
    if golden.startswith(stored):
        longest = max(len(other) for _, other in pairs)
        return f"is cut to {longest} characters" if len(stored) == longest else "is cut"
    if golden in stored:
        return "has text added to it"
    return "is another text than recorded"


CAUSE = Cause(
    code="MR211",
    name="content-changed",
    title="the stored content is another one than was recorded",
    applies=_applies,
    evidence=_evidence,
    remedy=(
        "Write the content of {ids} again; look for a changed encoding, a column that cuts, or an update that"
        " went astray."
    ),
)
