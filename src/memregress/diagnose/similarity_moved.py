"""found at its rank, with another similarity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    return case.verdict is Verdict.DRIFTED


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    rows = [case.row for case in cases]
    shift = np.abs(scene.verdicts.got[rows] - scene.verdicts.expected[rows])
    tolerance = scene.run.tolerance
    return [
        f"similarities moved by {shift.min():.2e} to {shift.max():.2e}",
        f"tolerated is {tolerance.value:.1e}: {tolerance.origin}",
    ]


CAUSE = Cause(
    code="MR604",
    name="similarity-moved",
    title="found at its rank, with another similarity",
    applies=_applies,
    evidence=_evidence,
    remedy="If thresholds depend on it, adapt them; if the change is meant, raise similarity_tolerance or record anew.",
)
