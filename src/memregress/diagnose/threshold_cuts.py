"""the similarity threshold cuts memories it used to pass."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.compare import Witness
from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    return case.verdict is Verdict.HIDDEN and case.witness is Witness.QUERY


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    values = scene.verdicts.got[[case.row for case in cases]]
    threshold = scene.min_similarity
    name = "the recorded threshold" if threshold is None else f"the threshold {threshold:g}"
    return [
        f"stored, found and at their rank, with similarities of {values.min():.4f} to {values.max():.4f}, below {name}",
        f"a threshold of {values.min() - 5e-5:.4f} keeps them all",
    ]


CAUSE = Cause(
    code="MR401",
    name="threshold-cuts",
    title="the similarity threshold cuts memories it used to pass",
    applies=_applies,
    evidence=_evidence,
    remedy="Lower min_similarity, or accept the cut: record what the new threshold returns as a new golden set.",
)
