"""other memories rank above it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    return case.verdict is Verdict.OUTRANKED


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    verdicts = scene.verdicts
    rows = [case.row for case in cases]
    ranks = [
        f"{case.id}: rank {verdicts.got_rank[case.row] or 'beyond k'}, was {verdicts.expected_rank[case.row]}"
        for case in cases[:3]
    ]
    moved = float(np.nanmax(np.abs(verdicts.got[rows] - verdicts.expected[rows]), initial=0))
    return [*ranks, f"largest change of their own similarity: {moved:.2e}"]


CAUSE = Cause(
    code="MR603",
    name="outranked",
    title="other memories rank above it",
    applies=_applies,
    evidence=_evidence,
    remedy="Compare the metric, the query vectors and the memories ranked above with the golden set's.",
)
