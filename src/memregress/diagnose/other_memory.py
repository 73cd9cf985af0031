"""the id answers with another memory's vector or content."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    return case.twin is not None


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    ids = scene.golden.ids
    lines = [f"{case.id} holds what belongs to {ids[case.twin]}" for case in cases[:3] if case.twin is not None]
    shifts = {case.twin - case.row for case in cases if case.twin is not None}
    if len(cases) > 1 and len(shifts) == 1:
        lines.append(f"all {len(cases):,} are shifted by the same {shifts.pop():+d} rows")
    return lines


CAUSE = Cause(
    code="MR205",
    name="other-memory",
    title="the id answers with another memory's vector or content",
    applies=_applies,
    evidence=_evidence,
    remedy="Match by id, not by position, wherever ids and vectors are written apart; then write {ids} again.",
    verdict=Verdict.MISATTRIBUTED,
)
