"""the memory is stored under another id."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose import renaming
from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict

NEARLY_ALL = 0.9
"""Share of the missing memories that were looked for, from which on the others are taken to be there, too."""


def _applies(case: Case, scene: Scene) -> bool:
    if case.verdict is not Verdict.MISSING or case.copies > 0:
        return False
    aliases = scene.evidence.aliases
    found = aliases.get(case.row, ...)
    if found is not ...:
        return found is not None
    return sum(alias is not None for alias in aliases.values()) > NEARLY_ALL * len(aliases) > 0


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    pairs = {case.id: alias for case in cases if (alias := scene.evidence.aliases.get(case.row)) is not None}
    lines = [f"{id_} is there as {alias}: same vector, same content" for id_, alias in list(pairs.items())[:3]]
    rule = renaming.described(pairs)
    return [*lines, f"ids were {rule}"] if rule and len(pairs) > 1 else lines


CAUSE = Cause(
    code="MR215",
    name="ids-changed",
    title="the memory is stored under another id",
    applies=_applies,
    evidence=_evidence,
    remedy="Write {ids} under the ids they were recorded with; whatever refers to them no longer finds them.",
)
