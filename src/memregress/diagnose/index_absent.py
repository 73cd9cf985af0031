"""Searches without an index are exact, and slow: nothing is lost, and nothing is as it was meant."""

from __future__ import annotations

from memregress.diagnose.cause import Concern
from memregress.diagnose.scene import Scene


def _found(scene: Scene) -> list[str]:
    info = scene.run.info
    if info.kind != "none" or not scene.wants_index:
        return []
    return [f"{info.location} has no vector index: every search compares all {info.rows:,} rows"]


CONCERN = Concern(
    code="MR801",
    name="index-absent",
    title="there is no vector index",
    found=_found,
    remedy="Create the index, or say that none is meant.",
)
