"""the memory went away while the store was replayed."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    return case.row in scene.evidence.look.gone and case.copies > 0


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    settings = scene.run.info.settings
    known = {"maxmemory_policy", "evicted_keys", "expired_keys"} & set(settings)
    counted = ", ".join(f"{name} = {settings[name]}" for name in sorted(known))
    return [
        "they were there when the memories were read back, and are not there any more",
        *([f"the server counts: {counted}"] if counted else []),
    ]


CAUSE = Cause(
    code="MR252",
    name="gone-meanwhile",
    title="the memory went away while the store was replayed",
    applies=_applies,
    evidence=_evidence,
    remedy="Look for what deletes, expires or evicts {ids}: a clean-up job, a lifetime, a limit on memory.",
    verdict=Verdict.MISSING,
)
