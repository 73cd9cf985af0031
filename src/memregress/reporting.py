"""Build the report of a run: judge the gate, and put rows back into words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

import memregress
from memregress import gate, measures
from memregress.compare import Verdicts, Witness
from memregress.diagnose import Finding, Findings
from memregress.golden import GoldenSet
from memregress.golden.diff import Difference
from memregress.model import Verdict
from memregress.report import (
    DOCS,
    CauseReport,
    GoldenChange,
    GoldenReport,
    MemoryReport,
    Observed,
    Report,
    TargetReport,
)
from memregress.run import Run

SNIPPETS = 200
SNIPPET_LENGTH = 160
GOLDEN_SAMPLES = 10


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
    terms: gate.Terms,
    origin: Origin,
    now: datetime,
) -> Report:
    """Put everything into one document."""
    overall, by_user = measures.measure(golden, run)
    counts = {verdict.value: len(verdicts.rows(verdict)) for verdict in Verdict}
    tested = len(golden) - counts[Verdict.UNTESTED.value]
    memories = _memories(golden, run, verdicts, findings, terms)
    judgement = gate.judge(golden, memories, tested, terms, in_place=origin.in_place)
    return Report(
        memregress=memregress.__version__,
        created_at=now,
        gate=judgement.gate,
        reason=judgement.reason,
        fail_on=terms.fail_on,
        baseline=None if terms.baseline is None else terms.baseline.summary(),
        golden_change=terms.golden_change,
        counts=counts,
        tested=tested,
        total=len(golden),
        broken=len(verdicts.broken),
        new_broken=None if terms.baseline is None else sum(bool(memory.new) for memory in memories),
        fixed=None if terms.baseline is None else len(gate.fixed(terms.baseline, memories)),
        memories=memories,
        causes=[_cause(finding) for finding in findings.findings],
        concerns=[_cause(finding) for finding in findings.concerns],
        notes=[*judgement.notes, *_bumped(run, terms.baseline), *_notes(run)],
        measures=overall,
        users=by_user,
        timings={stage: round(seconds, 3) for stage, seconds in run.seconds.items()},
        golden=_golden(golden),
        target=_target(run, origin),
    )


def _bumped(run: Run, baseline: gate.Baseline | None) -> list[str]:
    """What changed of the store itself since the baseline: its version, its index, how it is searched."""
    if baseline is None:
        return []
    then, now = baseline.report.target.index, run.info
    pairs = {
        "server": (then.server, now.server),
        "index": (then.kind, now.kind),
        "built with": (_words(then.parameters), _words(now.parameters)),
        "searched with": (_words(then.settings), _words(now.settings)),
    }
    return [
        f"changed since the baseline: {name} was {before}, is {after}"
        for name, (before, after) in pairs.items()
        if before != after
    ]


def _words(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in settings.items()) or "nothing said"


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


def golden_change(difference: Difference) -> GoldenChange:
    """Put the difference of two golden sets into a few numbers, and the first of what a reviewer has to see."""
    removed = [f"{id_} is removed" for id_ in difference.memories.removed]
    loosened = [f"{item.query or 'policy'}: {item.what}" for item in difference.loosened]
    return GoldenChange(
        added=len(difference.memories.added),
        removed=len(removed),
        changed=len(difference.memories.changed),
        loosened=len(loosened),
        samples=[*loosened, *removed][:GOLDEN_SAMPLES],
    )


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


def _memories(
    golden: GoldenSet, run: Run, verdicts: Verdicts, findings: Findings, terms: gate.Terms
) -> list[MemoryReport]:
    """Every memory that is not ok, worst first; of untested ones only the number is told (`tested` and `total`)."""
    rows = verdicts.rows(*(verdict for verdict in Verdict if verdict.broken or verdict is Verdict.TOLERATED))
    rows = rows[np.lexsort((rows, verdicts.code[rows]))]
    before = None if terms.baseline is None else terms.baseline.broken
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
        if run.stored.copies[row] == 0:
            return "no row"
        return "not there any more" if run.stored.dimensions[row] else "a row without a vector"
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
