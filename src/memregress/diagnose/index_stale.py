"""IVF centres are placed once, by the rows there are at build time; built on an empty table, they do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene

SIGMAS = 3
"""Two healthy builds miss equally often, give or take their standard deviation (misses counted as Poisson)."""


def _applies(case: Case, scene: Scene) -> bool:
    control = scene.evidence.control
    if case.ladder is None or not case.ladder.wide or control is None or not scene.run.info.kind.startswith("ivf"):
        return False
    missed, still_missed = control.searches - control.live, control.searches - control.fresh
    return missed - still_missed > SIGMAS * sqrt(missed + still_missed) and still_missed < missed / 2


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    lines = ["exact search finds them, and so does the index when it visits every list"]
    control = scene.evidence.control
    if control is not None:
        live, fresh = control.live / control.searches, control.fresh / control.searches
        lines.append(
            f"of {control.searches:,} searches drawn evenly, the index answers {live:.0%}, a fresh build {fresh:.0%},"
            f" both at {scene.facts['settings']}"
        )
    lines.append(f"so the centres of the lists ({scene.facts['parameters']}) do not fit the vectors")
    return lines


CAUSE = Cause(
    code="MR704",
    name="index-stale",
    title="the index was built before the data it should serve",
    applies=_applies,
    evidence=_evidence,
    remedy="Build the index {index} again, after the data, and again whenever the data has changed much.",
)
