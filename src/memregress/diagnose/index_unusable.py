"""An index serves one operator only; searches by another one compare all rows."""

from __future__ import annotations

from memregress.diagnose.cause import Concern
from memregress.diagnose.scene import Scene


def _found(scene: Scene) -> list[str]:
    info = scene.run.info
    return [f"index {info.index} is not used: {info.unusable}"] if info.unusable else []


CONCERN = Concern(
    code="MR803",
    name="index-unusable",
    title="the vector index does not serve these searches",
    found=_found,
    remedy="Build an index for {metric}, or search by the metric that {index} serves.",
)
