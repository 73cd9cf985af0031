"""a filter or policy excludes the memory."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    return case.ladder is not None and case.ladder.exact is False and case.ladder.exact_unfiltered is True


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    return ["exact search finds them without the query's user and filter, and not with them", *_policy(scene)]


def _policy(scene: Scene) -> list[str]:
    return ["lifetimes are judged at " + scene.golden.shape.clock.isoformat()] if scene.golden.shape.lifetimes else []


CAUSE = Cause(
    code="MR402",
    name="filter-excludes",
    title="a filter or policy excludes the memory",
    applies=_applies,
    evidence=_evidence,
    remedy=(
        "Compare the user, metadata and lifetime of {ids} with the query's filter, and look for row security "
        "or a view between."
    ),
    verdict=Verdict.HIDDEN,
)
