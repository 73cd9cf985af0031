"""The gate: what turns broken memories into pass or fail. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memregress.diagnose import found_later, graph_island, index_incomplete, search_effort
from memregress.golden import GoldenSet
from memregress.report import BaselineReport, FailOn, Gate, GoldenChange, MemoryReport, Report

PASSING = (search_effort.CAUSE.code, found_later.CAUSE.code)
"""A more thorough search finds these, or the same one a moment later."""
LUCK = (graph_island.CAUSE.code, index_incomplete.CAUSE.code)
MAX_INDEX_MISSES = 0.01
"""Share of the tested memories that an approximate index may miss at the settings in force, where nothing else is
set: healthy HNSW indexes miss up to about that many, and other ones in every build."""
USUAL_SPREAD = 2
"""How many times the misses of one build another may have: 511 to 887 were seen in four builds of one HNSW index."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Baseline:
    """The report of the base branch, and where it came from."""

    report: Report
    name: str
    kind: Literal["file", "exact", "ancestor"] = "file"

    @property
    def broken(self) -> set[str]:
        """The ids of its broken memories."""
        return {memory.id for memory in self.report.memories if memory.verdict.broken}

    def summary(self) -> BaselineReport:
        """What of it goes into the report."""
        return BaselineReport(name=self.name, kind=self.kind, counts=self.report.counts, tested=self.report.tested)


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """What the gate goes by."""

    fail_on: FailOn
    baseline: Baseline | None
    golden_change: GoldenChange | None
    max_index_misses: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """What the gate says, why in one sentence, and what else has to be known."""

    gate: Gate
    reason: str
    notes: list[str]


def judge(golden: GoldenSet, memories: list[MemoryReport], tested: int, terms: Terms, *, in_place: bool) -> Judgement:
    """Judge a run; where nothing was tested, nothing passes."""
    if tested == 0:
        return Judgement(gate=Gate.ERROR, reason="nothing was tested", notes=[])
    against = [memory for memory in memories if memory.verdict.broken]
    notes = _baseline_notes(golden, terms)
    if terms.fail_on is FailOn.REGRESSION and terms.baseline is not None:
        against = [memory for memory in against if memory.new]
    # An index that this run built itself misses by luck of the build; one that is in place is production's.
    budgeted = {*PASSING} if in_place else {*PASSING, *LUCK}
    misses = [memory for memory in against if memory.cause in budgeted]
    budget = _budget(terms, budgeted)
    if misses and len(misses) <= budget * tested:
        against = [memory for memory in against if memory.cause not in budgeted]
        share = len(misses) / tested
        notes.append(
            f"{len(misses):,} of {tested:,} memories ({share:.2%}) are missed by searches at the settings in force,"
            f" within the budget of {budget:.2%} (max_index_misses)"
        )
    kind = "newly broken" if terms.fail_on is FailOn.REGRESSION and terms.baseline is not None else "broken"
    if not against:
        return Judgement(
            gate=Gate.PASSED, reason=f"no memory is {kind}" if not misses else "within the budget", notes=notes
        )
    reason = f"{len(against):,} of {tested:,} memories {'is' if len(against) == 1 else 'are'} {kind}"
    if terms.fail_on is FailOn.NEVER:
        return Judgement(gate=Gate.PASSED, reason=f"{reason}, and --fail-on is never", notes=notes)
    return Judgement(gate=Gate.FAILED, reason=reason, notes=notes)


def _budget(terms: Terms, budgeted: set[str]) -> float:
    """The share of memories that the index may miss: as given, else the usual, which a baseline tells.

    Each build of an approximate index misses others, and more or fewer of them. Where the baseline's missed more than
    the least budget, so many may be missed again, and up to twice as many.
    """
    if terms.max_index_misses is not None:
        return terms.max_index_misses
    if terms.baseline is None or terms.fail_on is not FailOn.REGRESSION or not terms.baseline.report.tested:
        return MAX_INDEX_MISSES
    before = terms.baseline.report
    share = sum(memory.cause in budgeted for memory in before.memories if memory.verdict.broken) / before.tested
    return max(MAX_INDEX_MISSES, USUAL_SPREAD * share)


def _baseline_notes(golden: GoldenSet, terms: Terms) -> list[str]:
    if terms.fail_on is FailOn.REGRESSION and terms.baseline is None:
        return ["there is no baseline, so every broken memory counts"]
    if terms.baseline is not None and terms.baseline.report.golden.digest != golden.digest:
        return ["the baseline was made with another golden set; memories are matched by id"]
    return []


def fixed(baseline: Baseline, memories: list[MemoryReport]) -> set[str]:
    """The ids of memories that only the baseline has broken."""
    return baseline.broken - {memory.id for memory in memories if memory.verdict.broken}
