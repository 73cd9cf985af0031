"""An index build that failed half-way leaves an index that no search uses."""

from __future__ import annotations

from memregress.diagnose.cause import Concern
from memregress.diagnose.scene import Scene


def _found(scene: Scene) -> list[str]:
    info = scene.run.info
    return (
        []
        if info.valid
        else [f"index {info.index} is marked invalid: searches ignore it and compare all {info.rows:,} rows"]
    )


CONCERN = Concern(
    code="MR802",
    name="index-invalid",
    title="the vector index is invalid and not used",
    found=_found,
    remedy="Build the index {index} again.",
)
