"""the stored metadata differ, so filters on them may not match."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    return case.verdict is Verdict.ALTERED and "metadata" in case.differs


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    changes = collections.Counter(change for case in cases if case.stored for change in _changes(case, scene))
    return [f"{change} (memories: {count:,})" for change, count in changes.most_common(3)]


def _changes(case: Case, scene: Scene) -> list[str]:
    golden: dict[str, Any] = next(scene.golden.batches([case.row])).metadata[0]
    stored = case.stored.metadata if case.stored else {}
    lines = [f"{key!r} is gone" for key in golden.keys() - stored.keys()]
    lines += [f"{key!r} is new" for key in stored.keys() - golden.keys()]
    changed = [key for key in golden.keys() & stored.keys() if repr(golden[key]) != repr(stored[key])]
    return lines + [f"{key!r} was {_kind(golden[key])}, is {_kind(stored[key])}" for key in changed]


def _kind(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", type(None): "null"}
    return f"{names.get(type(value), 'an object')} ({value!r})"


CAUSE = Cause(
    code="MR212",
    name="metadata-changed",
    title="the stored metadata differ, so filters on them may not match",
    applies=_applies,
    evidence=_evidence,
    remedy="Write the metadata of {ids} again; numbers, booleans and text are different things to a filter.",
)
