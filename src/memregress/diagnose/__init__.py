"""Diagnosis: for each broken memory one cause. Pure; rules run most certain first, and one answers.

What many changes have in common may then say more than each of them: systemic causes take over whole groups.

Of a systemic break only a sample carries evidence; the others take the cause that their like in the sample have,
and the finding says so.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memregress.diagnose import (
    batch_lost,
    content_changed,
    created_moved,
    crowded_out,
    dead_entries,
    dimension_mismatch,
    document_refused,
    duplicated,
    evicted,
    expiry_lost,
    filter_excludes,
    filter_starves,
    forbidden_returned,
    found_later,
    ghosts_returned,
    gone_meanwhile,
    graph_island,
    ids_changed,
    index_absent,
    index_differs,
    index_incomplete,
    index_invalid,
    index_stale,
    index_unusable,
    leaked_across_users,
    lifetime_changed,
    lifetimes_scaled,
    metadata_changed,
    model_changed,
    null_vector,
    other_memory,
    outranked,
    precision_lost,
    row_missing,
    row_rejected,
    score_formula,
    search_effort,
    segments,
    similarity_moved,
    stored_elsewhere,
    tenant_mapping,
    threshold_cuts,
    times_shifted,
    unexplained,
    users_folded,
    vector_altered,
    vector_rescaled,
    vector_resized,
    vector_transformed,
    vectors_offset,
    wrong_metric,
    wrong_user,
    zero_vector,
)
from memregress.diagnose.cause import Cause, Concern, Systemic
from memregress.diagnose.scene import Case, Scene, quoted
from memregress.model import CODE, Verdict

__all__ = [
    "CAUSES",
    "CONCERNS",
    "RULES",
    "SYSTEMIC",
    "Case",
    "Cause",
    "Concern",
    "Finding",
    "Findings",
    "Scene",
    "Systemic",
    "diagnose",
]

CAUSES: tuple[Cause, ...] = tuple(
    module.CAUSE
    for module in (
        dimension_mismatch,
        wrong_metric,
        document_refused,
        row_rejected,
        ids_changed,
        stored_elsewhere,
        evicted,
        row_missing,
        gone_meanwhile,
        null_vector,
        zero_vector,
        other_memory,
        vector_resized,
        precision_lost,
        vector_rescaled,
        vector_transformed,
        vector_altered,
        wrong_user,
        content_changed,
        metadata_changed,
        lifetime_changed,
        forbidden_returned,
        users_folded,
        leaked_across_users,
        threshold_cuts,
        index_differs,
        ghosts_returned,
        duplicated,
        crowded_out,
        filter_excludes,
        found_later,
        dead_entries,
        index_incomplete,
        index_stale,
        filter_starves,
        search_effort,
        graph_island,
        outranked,
        similarity_moved,
        unexplained,
    )
)
"""In the order they are asked; the last applies to anything."""
SYSTEMIC: tuple[Systemic, ...] = tuple(
    module.CAUSE
    for module in (
        batch_lost,
        vectors_offset,
        model_changed,
        tenant_mapping,
        expiry_lost,
        times_shifted,
        lifetimes_scaled,
        score_formula,
    )
)
"""In the order they are asked."""
CONCERNS: tuple[Concern, ...] = tuple(
    module.CONCERN for module in (index_absent, index_invalid, index_unusable, created_moved)
)
RULES: tuple[Cause | Systemic | Concern, ...] = (*CAUSES, *SYSTEMIC, *CONCERNS)
"""Everything that has a code."""
_OF_MEMORIES: tuple[Cause | Systemic, ...] = (*CAUSES, *SYSTEMIC)
_BY_CODE = {cause.code: cause for cause in _OF_MEMORIES}


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One cause and the memories it broke, as rows in order; none for a concern."""

    code: str
    name: str
    title: str
    rows: Sequence[int]
    evidence: Sequence[str]
    remedy: str
    sampled: int | None = None
    """How many of the memories were asked about one by one, where not all were."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """What broke, worst verdict and largest first, then concerns; and the cause (code) of each broken memory by row."""

    findings: Sequence[Finding]
    concerns: Sequence[Finding]
    cause_of: Mapping[int, str]


def diagnose(scene: Scene) -> Findings:
    """Name the cause of every broken memory; where a cause knows the verdict better, `scene.verdicts` is corrected."""
    cases = [scene.case(row) for row in scene.verdicts.broken.tolist()]
    answers: dict[int, Cause | Systemic] = {case.row: _ask(case, scene) for case in cases if _decidable(case, scene)}
    _generalise(cases, answers, scene)
    usual = _usual(cases, answers)
    for case in cases:
        alike = usual.get(case.group) or usual.get((case.verdict,))
        answers.setdefault(case.row, alike or unexplained.CAUSE)
    members: dict[str, list[Case]] = collections.defaultdict(list)
    for case in cases:
        members[answers[case.row].code].append(case)
    found = [_finding(_BY_CODE[code], members[code], scene) for code in members]
    _correct(scene, {_BY_CODE[code]: [case.row for case in members[code]] for code in members})
    found.sort(key=lambda finding: (min(scene.verdicts.code[list(finding.rows)]), -len(finding.rows)))
    return Findings(
        findings=found,
        concerns=[concern for concern in (_concern(rule, scene) for rule in CONCERNS) if concern],
        cause_of={row: cause.code for row, cause in answers.items()},
    )


def _decidable(case: Case, scene: Scene) -> bool:
    """Whether a memory carries the evidence that its rules look at."""
    if scene.run.refused is not None or case.row in scene.run.rejected:
        return True
    if case.verdict is Verdict.MISSING and scene.evidence.look.sought:
        return case.copies > 0 or case.row in scene.evidence.look.sought
    if case.verdict is Verdict.ALTERED:
        return case.stored is not None
    return case.verdict is not Verdict.UNREACHABLE or case.ladder is not None


def _ask(case: Case, scene: Scene) -> Cause:
    return next(cause for cause in CAUSES if cause.applies(case, scene))


def _generalise(cases: Sequence[Case], answers: dict[int, Cause | Systemic], scene: Scene) -> None:
    """Let systemic causes take over the memories that they explain together."""
    for systemic in SYSTEMIC:
        members = [case for case in cases if case.row in answers and answers[case.row].code in systemic.of]
        if members:
            answers.update({case.row: systemic for case in systemic.explains(members, scene)})


def _usual(
    cases: Sequence[Case], answers: Mapping[int, Cause | Systemic]
) -> dict[tuple[object, ...], Cause | Systemic]:
    """The most frequent cause among memories that are alike."""
    votes: dict[tuple[object, ...], collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for case in cases:
        if case.row in answers:
            for group in (case.group, (case.verdict,)):
                votes[group][answers[case.row].code] += 1
    return {group: _BY_CODE[counter.most_common(1)[0][0]] for group, counter in votes.items()}


def _finding(cause: Cause | Systemic, cases: Sequence[Case], scene: Scene) -> Finding:
    asked = [case for case in cases if _decidable(case, scene)]
    facts = {**scene.facts, "ids": quoted([case.id for case in cases]), "count": len(cases)}
    return Finding(
        code=cause.code,
        name=cause.name,
        title=cause.title,
        rows=[case.row for case in cases],
        evidence=[*cause.evidence(asked or cases, scene), *segments.shared([case.row for case in cases], scene)],
        remedy=_fill(scene.remedies.get(cause.code, cause.remedy), facts),
        sampled=len(asked) if len(asked) < len(cases) else None,
    )


def _concern(rule: Concern, scene: Scene) -> Finding | None:
    evidence = rule.found(scene)
    if not evidence:
        return None
    remedy = _fill(scene.remedies.get(rule.code, rule.remedy), scene.facts)
    return Finding(code=rule.code, name=rule.name, title=rule.title, rows=(), evidence=evidence, remedy=remedy)


def _fill(template: str, facts: Mapping[str, object]) -> str:
    return template.format_map(collections.defaultdict(lambda: "?", facts))


def _correct(scene: Scene, members: Mapping[Cause | Systemic, Sequence[int]]) -> None:
    for cause, rows in members.items():
        if cause.verdict is not None:
            scene.verdicts.code[np.array(rows)] = CODE[cause.verdict]
