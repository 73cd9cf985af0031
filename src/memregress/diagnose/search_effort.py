"""the approximate search is not thorough enough."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.sweep import Sweep

SHOWN = 5
"""Efforts that are told."""


def _applies(case: Case, scene: Scene) -> bool:
    return case.ladder is not None and bool(case.ladder.exact) and bool(case.ladder.wide)


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    lines = [
        "exact search finds them, and so does the same index at its widest",
        f"it misses them at {scene.facts['settings'] or 'its default settings'}",
    ]
    swept = scene.evidence.sweep
    if swept is not None:
        lines.append(f"{swept.name} that finds them, of {swept.asked:,}: {_table(swept)}")
    if not isnan(scene.rebuilt_share):
        lines.append(f"a fresh build with these settings finds {scene.rebuilt_share:.0%} of them")
    return lines


def _table(swept: Sweep) -> str:
    """The efforts that were tried, thinned out; milliseconds are those of one search among many."""
    shown = swept.steps if len(swept.steps) <= SHOWN else [*swept.steps[: SHOWN - 1], swept.steps[-1]]
    if swept.enough is not None:
        shown = [step for step in swept.steps if step.effort <= swept.enough][-SHOWN:]
    return ", ".join(f"{step.effort:,} finds {step.found:,} ({step.milliseconds:.2g} ms)" for step in shown)


CAUSE = Cause(
    code="MR702",
    name="search-effort",
    title="the approximate search is not thorough enough",
    applies=_applies,
    evidence=_evidence,
    remedy="Search more thoroughly: raise the effort of the index {index}.",
)
