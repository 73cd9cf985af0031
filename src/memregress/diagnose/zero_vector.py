"""the stored vector is all zeros."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Metric


def _applies(case: Case, _: Scene) -> bool:
    return case.stored is not None and case.dimensions > 0 and not case.stored.vector.any()


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    lines = ["every component of the stored vector is 0; the golden vector's length is not"]
    if scene.run.info.metric is Metric.COSINE:
        lines.append("it has no direction, so no cosine index holds it, and its similarity to anything is undefined")
    return lines


CAUSE = Cause(
    code="MR204",
    name="zero-vector",
    title="the stored vector is all zeros",
    applies=_applies,
    evidence=_evidence,
    remedy="Embed the memories {ids} again; zeros usually are a failed embedding call's default.",
)
