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
    kept = {case.row: case.stored.metadata for case in cases if case.stored is not None}
    recorded = [document for batch in scene.golden.batches(list(kept)) for document in batch.metadata]
    pairs = list(zip(recorded, kept.values(), strict=True))
    changes = collections.Counter(kind for golden, stored in pairs for kind in _kinds(golden, stored))
    if len(pairs) > 1:
        return [f"{change} (memories: {count:,})" for change, count in changes.most_common(3)]
    changes = collections.Counter(change for golden, stored in pairs for change in _changes(golden, stored))
    return [f"{change} (memories: {count:,})" for change, count in changes.most_common(3)]


def _kinds(golden: dict[str, Any], stored: dict[str, Any]) -> list[str]:
    """What happened, without the values: the same words for all memories to which the same happened."""
    if golden and not stored:
        return ["all metadata are gone"]
    lines = [f"{key!r} is gone" for key in sorted(golden.keys() - stored.keys())]
    lines += [f"{key!r} is new" for key in sorted(stored.keys() - golden.keys())]
    for key in golden.keys() & stored.keys():
        if repr(golden[key]) != repr(stored[key]):
            one, other = _type(golden[key]), _type(stored[key])
            lines.append(f"{key!r} was {one}, is {other}" if one != other else f"{key!r} has another value")
    return lines


def _changes(golden: dict[str, Any], stored: dict[str, Any]) -> list[str]:
    lines = [f"{key!r} is gone" for key in sorted(golden.keys() - stored.keys())]
    lines += [f"{key!r} is new" for key in sorted(stored.keys() - golden.keys())]
    changed = [key for key in golden.keys() & stored.keys() if repr(golden[key]) != repr(stored[key])]
    return lines + [f"{key!r} was {_kind(golden[key])}, is {_kind(stored[key])}" for key in changed]


def _kind(value: Any) -> str:
    return f"{_type(value)} ({value!r})"


def _type(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", type(None): "null"}
    return names.get(type(value), "an object")


CAUSE = Cause(
    code="MR212",
    name="metadata-changed",
    title="the stored metadata differ, so filters on them may not match",
    applies=_applies,
    evidence=_evidence,
    remedy="Write the metadata of {ids} again; numbers, booleans and text are different things to a filter.",
)
