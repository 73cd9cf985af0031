"""the memory was found when it was asked for again."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene


def _applies(case: Case, scene: Scene) -> bool:
    return case.ladder is not None and bool(case.ladder.again) and case.ladder.exact is not False


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    level = scene.run.info.settings.get("consistency")
    return [
        "they were there when the memories were read back, and a search did not return them",
        "the very same search, asked once more after the replay, does",
        *([f"searches ask at consistency = {level}"] if level else []),
    ]


CAUSE = Cause(
    code="MR707",
    name="found-later",
    title="the memory was found when it was asked for again",
    applies=_applies,
    evidence=_evidence,
    remedy="Replay when nothing writes; else look for a replica that answers searches, behind what was written.",
)
