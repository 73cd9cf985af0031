"""searches use another metric than the golden set was recorded with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    if case.verdict not in (Verdict.DRIFTED, Verdict.OUTRANKED, Verdict.UNREACHABLE):
        return False
    return scene.run.info.metric is not scene.golden.shape.metric


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    seen = [case for case in cases if not np.isnan(scene.verdicts.got[case.row])][:1]
    lines = [f"recorded by {scene.golden.shape.metric}, searched by {scene.run.info.metric}"]
    return lines + [
        f"similarity {scene.verdicts.expected[case.row]:.6f} became {scene.verdicts.got[case.row]:.6f}" for case in seen
    ]


CAUSE = Cause(
    code="MR102",
    name="wrong-metric",
    title="searches use another metric than the golden set was recorded with",
    applies=_applies,
    evidence=_evidence,
    remedy=(
        "Search by {metric}: the operator in the query and the index's operator class or metric must both be "
        "{metric}'s."
    ),
)
