"""the memory is stored where no search looks."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    return case.verdict is Verdict.MISSING and case.row in scene.evidence.look.elsewhere


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    places = scene.evidence.look.elsewhere
    lines = [f"{case.id}: {places[case.row]}" for case in cases[:3] if case.row in places]
    return [*lines, "content or vector there is the recorded one, so it is the memory, not another of its name"]


CAUSE = Cause(
    code="MR250",
    name="stored-elsewhere",
    title="the memory is stored where no search looks",
    applies=_applies,
    evidence=_evidence,
    remedy="Move {ids} to {location}, or let the index cover the place where they lie.",
    verdict=Verdict.UNREACHABLE,
)
