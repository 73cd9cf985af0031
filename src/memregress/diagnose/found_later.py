"""the memory was found when it was asked for again."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.compare import Witness
from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene


def _applies(case: Case, scene: Scene) -> bool:
    ladder = case.ladder
    if ladder is None or case.witness is Witness.INDEX:  # the index was asked by force; the plain search had found it
        return False
    if scene.run.info.settings.get("consistency") == "strong":  # nothing can be late; such an index answers unevenly
        return False
    return bool(ladder.again) and ladder.same_path and ladder.exact is not False


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
