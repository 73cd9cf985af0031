"""Build the report of a run: judge the gate, and put rows back into words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

import memregress
from memregress import measures
from memregress.compare import Verdicts, Witness
from memregress.diagnose import Finding, Findings, graph_island, index_incomplete, search_effort
from memregress.golden import GoldenSet
from memregress.model import Verdict
from memregress.report import (
    DOCS,
    CauseReport,
    FailOn,
    Gate,
    GoldenReport,
    MemoryReport,
    Observed,
    Report,
    TargetReport,
)
from memregress.run import Run

SNIPPETS = 200
SNIPPET_LENGTH = 160
LUCK = (graph_island.CAUSE.code, index_incomplete.CAUSE.code)
MAX_INDEX_MISSES = 0.01
"""Share of the tested memories that an approximate index may miss at the settings in force, where nothing else is
set: healthy HNSW indexes miss up to about that many, and other ones in every build."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """What the gate goes by."""

    fail_on: FailOn
    baseline: Report | None
    baseline_name: str | None
    max_index_misses: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """Where the store came from, in words that hold no secret."""

    backend: str
    instance: str
    space: str
    in_place: bool


def build(
    *,
    golden: GoldenSet,
    run: Run,
    verdicts: Verdicts,
    findings: Findings,
    terms: Terms,
    origin: Origin,
    now: datetime,
) -> Report:
    """Put everything into one document."""
    overall, by_user = measures.measure(golden, run)
    counts = {verdict.value: len(verdicts.rows(verdict)) for verdict in Verdict}
    tested = len(golden) - counts[Verdict.UNTESTED.value]
    memories = _memories(golden, run, verdicts, findings, terms)
    judgement = _judge(golden, memories, tested, terms, in_place=origin.in_place)
    return Report(
        memregress=memregress.__version__,
        created_at=now,
        gate=judgement.gate,
        reason=judgement.reason,
        fail_on=terms.fail_on,
        baseline=terms.baseline_name,
        counts=counts,
        tested=tested,
        total=len(golden),
        broken=len(verdicts.broken),
        new_broken=None if terms.baseline is None else sum(bool(memory.new) for memory in memories),
        fixed=None if terms.baseline is None else len(_fixed(terms.baseline, memories)),
        memories=memories,
        causes=[_cause(finding) for finding in findings.findings],
        concerns=[_cause(finding) for finding in findings.concerns],
        notes=[*judgement.notes, *_notes(run)],
        measures=overall,
        users=by_user,
        timings={stage: round(seconds, 3) for stage, seconds in run.seconds.items()},
        golden=_golden(golden),
        target=_target(run, origin),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Judgement:
    gate: Gate
    reason: str
    notes: list[str]


def _judge(golden: GoldenSet, memories: list[MemoryReport], tested: int, terms: Terms, *, in_place: bool) -> _Judgement:
    if tested == 0:
        return _Judgement(gate=Gate.ERROR, reason="nothing was tested", notes=[])
    against = [memory for memory in memories if memory.verdict.broken]
    notes = _baseline_notes(golden, terms)
    if terms.fail_on is FailOn.REGRESSION and terms.baseline is not None:
        against = [memory for memory in against if memory.new]
    # An index that this run built itself misses by luck of the build; one that is in place is production's.
    budgeted = {search_effort.CAUSE.code} if in_place else {search_effort.CAUSE.code, *LUCK}
    misses = [memory for memory in against if memory.cause in budgeted]
    budget = MAX_INDEX_MISSES if terms.max_index_misses is None else terms.max_index_misses
    if misses and len(misses) <= budget * tested:
        against = [memory for memory in against if memory.cause not in budgeted]
        share = len(misses) / tested
        notes.append(
            f"{len(misses):,} of {tested:,} memories ({share:.2%}) are missed by the approximate index at the settings"
            f" in force, within the budget of {budget:.2%} (max_index_misses)"
        )
    kind = "newly broken" if terms.fail_on is FailOn.REGRESSION and terms.baseline is not None else "broken"
    if not against:
        return _Judgement(
            gate=Gate.PASSED, reason=f"no memory is {kind}" if not misses else "within the budget", notes=notes
        )
    reason = f"{len(against):,} of {tested:,} memories {'is' if len(against) == 1 else 'are'} {kind}"
    if terms.fail_on is FailOn.NEVER:
        return _Judgement(gate=Gate.PASSED, reason=f"{reason}, and --fail-on is never", notes=notes)
    return _Judgement(gate=Gate.FAILED, reason=reason, notes=notes)


def _baseline_notes(golden: GoldenSet, terms: Terms) -> list[str]:
    if terms.fail_on is FailOn.REGRESSION and terms.baseline is None:
        return ["there is no baseline, so every broken memory counts"]
    if terms.baseline is not None and terms.baseline.golden.digest != golden.digest:
        return ["the baseline was made with another golden set; memories are matched by id"]
    return []


def _notes(run: Run) -> list[str]:
    notes = []
    if run.info.approximate and run.index_check is not None:
        check = run.index_check
        searched = int(run.probes.answers.used_index.sum())
        notes.append(
            f"the store answered {len(run.probes) - searched:,} of {len(run.probes):,} self-probes without its index;"
            f" sent through it once more, {int(check.found.sum()):,} of {len(check.rows):,} come back"
            f" and {int(check.reached.sum()):,} at its widest"
        )
    if not len(run.recorded) and not run.positions:
        notes.append("no recorded query was replayed")
    return notes


def _fixed(baseline: Report, memories: list[MemoryReport]) -> list[str]:
    now = {memory.id for memory in memories if memory.verdict.broken}
    return [memory.id for memory in baseline.memories if memory.verdict.broken and memory.id not in now]


def _cause(finding: Finding) -> CauseReport:
    return CauseReport(
        code=finding.code,
        name=finding.name,
        title=finding.title,
        count=len(finding.rows),
        evidence=list(finding.evidence),
        remedy=finding.remedy,
        docs=DOCS.format(name=finding.name),
        sampled=finding.sampled,
    )


def _memories(golden: GoldenSet, run: Run, verdicts: Verdicts, findings: Findings, terms: Terms) -> list[MemoryReport]:
    """Every memory that is not ok, worst first; of untested ones only the number is told (`tested` and `total`)."""
    rows = verdicts.rows(*(verdict for verdict in Verdict if verdict.broken or verdict is Verdict.TOLERATED))
    rows = rows[np.lexsort((rows, verdicts.code[rows]))]
    before = None if terms.baseline is None else {m.id for m in terms.baseline.memories if m.verdict.broken}
    snippets = _snippets(golden, rows[:SNIPPETS].tolist())
    return [
        _memory(golden, run, verdicts, row, cause=findings.cause_of.get(row), before=before, snippet=snippets.get(row))
        for row in rows.tolist()
    ]


def _snippets(golden: GoldenSet, rows: list[int]) -> Mapping[int, str]:
    wanted = sorted(rows)
    contents = [content for batch in golden.batches(wanted) for content in batch.contents] if wanted else []
    return {row: content[:SNIPPET_LENGTH] for row, content in zip(wanted, contents, strict=True)}


def _memory(
    golden: GoldenSet,
    run: Run,
    verdicts: Verdicts,
    row: int,
    *,
    cause: str | None,
    before: set[str] | None,
    snippet: str | None,
) -> MemoryReport:
    file, line = golden.line_of(row)
    verdict, id_ = verdicts.of(row), golden.ids[row]
    return MemoryReport(
        id=id_,
        user=golden.users[row],
        verdict=verdict,
        cause=cause,
        search=_search(golden, run, verdicts, row),
        expected=Observed(similarity=_number(verdicts.expected[row]), rank=int(verdicts.expected_rank[row]) or None),
        got=Observed(
            similarity=_number(verdicts.got[row]),
            rank=int(verdicts.got_rank[row]) or None,
            note=_note(run, verdict, row, returned=bool(np.isfinite(verdicts.got[row]))),
        ),
        new=None if before is None or not verdict.broken else id_ not in before,
        file=file,
        line=line,
        snippet=snippet,
    )


def _number(value: np.float32) -> float | None:
    return round(float(value), 7) if np.isfinite(value) else None


def _note(run: Run, verdict: Verdict, row: int, *, returned: bool) -> str | None:
    if verdict is Verdict.MISSING:
        return "no row" if run.stored.copies[row] == 0 else "a row without a vector"
    changed = [name for name, flags in run.stored.differs.items() if flags[row]]
    if changed:
        return f"another {' and '.join(changed)}"
    return "not returned" if verdict in (Verdict.UNREACHABLE, Verdict.HIDDEN) and not returned else None


def _search(golden: GoldenSet, run: Run, verdicts: Verdicts, row: int) -> str | None:
    witness = Witness(int(verdicts.witness[row]))
    if witness is Witness.QUERY:
        return golden.queries[run.positions[int(verdicts.search[row])]].id
    names = {Witness.PROBE: "self-probe", Witness.INDEX: "self-probe through the index", Witness.STORED: "readback"}
    return names.get(witness)


def _golden(golden: GoldenSet) -> GoldenReport:
    return GoldenReport(
        name=golden.manifest.name,
        digest=golden.digest,
        memories=len(golden),
        queries=len(golden.queries),
        dimensions=golden.shape.dimensions,
        metric=golden.shape.metric.value,
        model=golden.manifest.vectors.model,
        captured_at=golden.shape.clock,
    )


def _target(run: Run, origin: Origin) -> TargetReport:
    used = run.probes.answers.used_index.sum() + run.recorded.answers.used_index.sum()
    check = run.index_check
    return TargetReport(
        backend=origin.backend,
        instance=origin.instance,
        space=origin.space,
        in_place=origin.in_place,
        index=run.info,
        index_searches=int(used),
        searches=len(run.probes) + len(run.recorded),
        index_checked=0 if check is None else len(check.rows),
        index_checked_found=0 if check is None else int(check.found.sum()),
        tolerance=run.tolerance.value,
        tolerance_origin=run.tolerance.origin,
    )
