"""the index holds another vector than the store."""

from __future__ import annotations

from collections.abc import Sequence

from memregress import similarity
from memregress.compare import Witness
from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict

MOVED = (Verdict.DRIFTED, Verdict.OUTRANKED, Verdict.UNREACHABLE)


def _applies(case: Case, scene: Scene) -> bool:
    """Read back it is right, and its own vector finds it at a similarity that it cannot have, unlike most others."""
    if case.verdict not in MOVED or case.copies != 1 or "vector" in case.differs:
        return False
    if case.dimensions != scene.golden.shape.dimensions:
        return False
    held, own = _held(case, scene), _own(case, scene)
    return held is not None and abs(held - own) > float(scene.run.tolerance.slack(own)) and _few(scene)


def _held(case: Case, scene: Scene) -> float | None:
    if case.row in scene.evidence.look.held:
        return scene.evidence.look.held[case.row]
    if case.witness is Witness.PROBE and case.verdict in (Verdict.DRIFTED, Verdict.OUTRANKED):
        got = float(scene.verdicts.got[case.row])
        return None if got != got else got  # noqa: PLR0124  NaN: not found
    return None


def _own(case: Case, scene: Scene) -> float:
    vector = scene.vector(case.row)
    return float(similarity.pairs(scene.golden.shape.metric, vector, vector))


def _few(scene: Scene) -> bool:
    """A scale of the store's own would move all of them."""
    return len(scene.verdicts.rows(*MOVED)) < max(2, len(scene.run.probes) / 2)


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    lines = [
        f"{case.id}: read back its vector is the recorded one, and the index gives it {held:.4f} for that vector,"
        f" not {_own(case, scene):.4f}"
        for case in cases[:3]
        if (held := _held(case, scene)) is not None
    ]
    others = scene.run.info.settings.get("other_databases")
    return [
        *lines,
        *([f"the server has other databases, which its indexes take writes from: {others}"] if others else []),
    ]


CAUSE = Cause(
    code="MR750",
    name="index-differs",
    title="the index holds another vector than the store",
    applies=_applies,
    evidence=_evidence,
    remedy="Write {ids} again, or build the index {index} again, and look for what writes past the store.",
)
