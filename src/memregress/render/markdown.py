"""One outcome as GitHub's Markdown, always in the same order: verdict, numbers, causes, how to reproduce it, facts."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator, Sequence

import memregress
from memregress import catalogue
from memregress.backends import registry
from memregress.model import Verdict
from memregress.render import gfm
from memregress.render.facts import Facts, Room
from memregress.report import CauseReport, Failure, Gate, GoldenChange, MemoryReport, Outcome, Report

SAMPLES = 5
"""Memories shown of a systemic break: one problem, however many it hits."""
LOG_LINES = 20
BASELINES = "https://github.com/org/memregress/blob/main/docs/how-to/baselines.md"
HEAD = (
    "| verdict | memory | user | text | search | expected | got |",
    "| --- | --- | --- | --- | --- | --- | --- |",
)


def render(outcome: Outcome, facts: Facts, room: Room) -> str:
    """Return the whole text for one store."""
    return "\n\n".join([f"### {headline(outcome, facts)}", body(outcome, facts, room), footer(outcome, facts)])


def headline(outcome: Outcome, facts: Facts) -> str:
    """Return the verdict in one line of our own words."""
    return f"{icon(outcome)} memregress: {_headline(outcome, facts)}"


def icon(outcome: Outcome) -> str:
    """Return the verdict as a sign; yellow is passed with something to look at."""
    if isinstance(outcome, Failure) or outcome.gate is Gate.ERROR:
        return "⚠️"
    if outcome.gate is Gate.FAILED:
        return "❌"
    return "🟡" if outcome.broken or outcome.counts.get(Verdict.TOLERATED) or loosened(outcome) else "✅"


def loosened(outcome: Outcome) -> bool:
    """Whether the change asks less of the golden set than before."""
    change = outcome.golden_change if isinstance(outcome, Report) else None
    return change is not None and bool(change.removed or change.loosened)


def _headline(outcome: Outcome, facts: Facts) -> str:
    if isinstance(outcome, Failure) or outcome.gate is Gate.ERROR:
        return "nothing was tested, so this is no pass"
    return _broken(outcome, facts) if outcome.broken else _intact(outcome)


def _intact(report: Report) -> str:
    if moved := report.counts.get(Verdict.TOLERATED, 0):
        return f"passed, {_memories(moved)} moved within tolerance"
    first = "" if report.baseline else " (no baseline yet)"
    return f"all {report.tested:,} memories tested are still found{first}"


def _broken(report: Report, facts: Facts) -> str:
    all_, tested, new = report.broken, f"{report.tested:,}", report.new_broken
    if report.gate is Gate.PASSED:
        blame = f"nothing newly broken, {_memories(all_)} broken before" if new == 0 else f"{_memories(all_)} broken"
        return f"passed, with {blame} (of {tested})"
    if len(report.causes) == 1 and all_ > SAMPLES * 2:
        return f"one problem breaks {all_:,} of {tested} memories"
    if new:
        return f"{new:,} of {tested} memories {_are(new)} broken by {facts.subject}"
    return f"{all_:,} of {tested} memories {_are(all_)} broken"


def body(outcome: Outcome, facts: Facts, room: Room) -> str:
    """Return what stands below the verdict."""
    parts = _failure(outcome) if isinstance(outcome, Failure) else _report(outcome, facts, room)
    return "\n\n".join(part for part in parts if part)


def footer(outcome: Outcome, facts: Facts) -> str:
    """Return the small print: the gate, the run, where the rest is."""
    gate = "gate: error" if isinstance(outcome, Failure) else f"fail-on: {outcome.fail_on}, gate: {outcome.gate}"
    links = [f'<a href="{facts.run_url}">run</a>', f'<a href="{facts.run_url}#artifacts">report and JUnit</a>']
    words = [gate, *(links if facts.run_url else []), facts.tested]
    return f"<sub>{' · '.join(word for word in words if word)}</sub>"


def _report(report: Report, facts: Facts, room: Room) -> list[str]:
    causes = [*report.causes, *report.concerns][: room.causes]
    share = max(1, room.memories // max(1, len(report.causes))) if room.memories else 0
    parts = [_lead(report, facts), _counts(report), _golden_change(report.golden_change)]
    parts += [_cause(cause, report, facts, share) for cause in causes]
    if left := len(report.causes) + len(report.concerns) - len(causes):
        parts.append(f"…and {left:,} more causes, in `report.json`.")
    if report.broken and report.target.backend in registry.BACKENDS:
        parts.append(f"#### Reproduce locally\n\n{gfm.block([_reproduce(report, facts)], 'bash')}")
    if room.details:
        parts.append(_facts(report, facts))
    return parts


def _lead(report: Report, facts: Facts) -> str:
    if report.gate is Gate.ERROR:
        return f"**0 of {report.total:,}** memories were tested. A required check is not green without evidence."
    known = report.baseline
    if known is None:
        unknown = f"it cannot be told whether {facts.subject} did it" if report.broken else "nothing can be called new"
        return f"Judged absolutely: there is no baseline, so {unknown} ([how to get one]({BASELINES}))."
    nearest = ", the nearest ancestor with a report" if known.kind == "ancestor" else ""
    return " ".join([*_blame(report, f"{gfm.code(known.name)}{nearest}")])


def _blame(report: Report, base: str) -> Iterator[str]:
    new, fixed = report.new_broken or 0, report.fixed or 0
    old = report.broken - new
    if new:
        yield f"{'It was' if new == 1 else f'All {new:,} were'} intact on {base}."
    if old:
        yield f"{_memories(old)} {_were(old)} broken before{'' if new else f', on {base}'}."
    if fixed:
        yield f"{_memories(fixed)} {_are(fixed)} fixed{'' if new or old else f', compared with {base}'}."
    if not (new or old or fixed):
        yield f"Nothing broke or was fixed, compared with {base}."


def _counts(report: Report) -> str:
    known = report.baseline
    shown = [verdict for verdict in Verdict if report.counts.get(verdict) or (known and known.counts.get(verdict))]
    if known is None:
        rows = [f"| {verdict} | {report.counts[verdict]:,} |" for verdict in shown]
        return "\n".join(["| verdict | memories |", "| --- | ---: |", *rows])
    rows = [_compared(verdict, report.counts.get(verdict, 0), known.counts.get(verdict, 0)) for verdict in shown]
    return "\n".join(["| verdict | now | before | change |", "| --- | ---: | ---: | ---: |", *rows])


def _compared(verdict: Verdict, now: int, before: int) -> str:
    change = f"**{now - before:+,}**" if now != before and verdict is not Verdict.OK else f"{now - before:+,}"
    return f"| {verdict} | {now:,} | {before:,} | {change if now != before else ''} |"


def _golden_change(change: GoldenChange | None) -> str:
    if change is None:
        return ""
    numbers = {"added": change.added, "removed": change.removed, "changed": change.changed}
    words = [f"{_memories(number)} {name}" for name, number in numbers.items() if number]
    words += [f"**{change.loosened:,} expectations loosened**"] if change.loosened else []
    lines = [f"#### The golden set itself is changed: {', '.join(words) or 'its manifest'}"]
    lines += [f"- {gfm.code(text, 200)}" for text in change.samples]
    if (more := change.loosened + change.removed - len(change.samples)) > 0:
        lines.append(f"- …and {more:,} more (`memregress golden diff`)")
    return "\n".join([lines[0], "", *lines[1:]]).rstrip()


def _cause(cause: CauseReport, report: Report, facts: Facts, share: int) -> str:
    count = f"{cause.count:,} of {report.broken:,} broken memories" if cause.count else "broke no memory yet"
    lines = [f"#### {_title(cause)}", "", f"Explains {count}." if cause.count else f"It {count}.", ""]
    lines += [f"- {gfm.code(text, 300)}" for text in cause.evidence[:10]]
    lines += ["", "**What to do**", "", gfm.block(cause.remedy.splitlines(), "sql")]
    if share:
        most = min(share, SAMPLES) if cause.count > SAMPLES * 2 else share
        members = (memory for memory in report.memories if memory.cause == cause.code)
        lines += _table(list(itertools.islice(members, most)), cause.count, facts)
    return "\n".join(lines)


def _title(cause: CauseReport) -> str:
    """The code, as a link to its page; the title is the catalogue's, for a report may be a stranger's."""
    known = catalogue.find(cause.code)
    if known is None:
        return f"{gfm.code(cause.code)} {gfm.code(cause.name)}"
    return f"[{known.code} {known.name}]({known.docs}): {known.title}"


def _reproduce(report: Report, facts: Facts) -> str:
    """The command that replays the first broken memory; of a report, which may be a stranger's, it takes names only."""
    words = ["pipx", "run", "--spec", f"memregress[all]=={memregress.__version__}", "memregress", "replay"]
    words += [facts.golden or "GOLDEN", "--backend", report.target.backend, *facts.options]
    first = next((memory.id for memory in report.memories if memory.verdict.broken), None)
    return shlex.join([*words, *(["--only", first] if first is not None else [])])


def _table(members: Sequence[MemoryReport], count: int, facts: Facts) -> list[str]:
    more = count - len(members)
    rest = ["", f"…and {more:,} more, in `report.json`."] if more > 0 else []
    return ["", *HEAD, *(_row(memory, facts) for memory in members), *rest] if members else []


def _row(memory: MemoryReport, facts: Facts) -> str:
    user = text = ""
    if memory.user is not None:
        user = gfm.code(memory.user) if facts.texts else gfm.pseudonym(memory.user, facts.salt)
    if memory.snippet is not None:
        text = gfm.code(memory.snippet) if facts.texts else gfm.hashed(memory.snippet)
    expected = _side(memory.expected.rank, memory.expected.similarity, None)
    got = _side(memory.got.rank, memory.got.similarity, memory.got.note)
    search = gfm.code(memory.search) if memory.search else ""
    return f"| {' | '.join([memory.verdict, gfm.code(memory.id, 80), user, text, search, expected, got])} |"


def _side(rank: int | None, similarity: float | None, note: str | None) -> str:
    parts = [f"rank {rank}" if rank else "", f"{similarity:.4f}" if similarity is not None else ""]
    return ", ".join(part for part in [*parts, gfm.code(note) if note else ""] if part)


def _facts(report: Report, facts: Facts) -> str:
    index, golden = report.target.index, report.golden
    stages = ", ".join(f"{gfm.code(stage)} {seconds:.1f} s" for stage, seconds in list(report.timings.items())[:12])
    lines = [
        f"golden set {gfm.code(golden.name)}, {golden.memories:,} memories, {golden.queries:,} queries",
        f"store {gfm.code(index.server)}, {gfm.code(report.target.instance)}, index {gfm.code(index.kind)}",
        f"{stages}",
        *(gfm.code(note, 300) for note in report.notes[:10]),
    ]
    if not facts.texts:
        lines.append("texts and users are withheld, since this repository is public (input `snippets`)")
    return gfm.fold("Run facts", "\n".join(f"- {line}" for line in lines if line))


def _failure(failure: Failure) -> list[str]:
    parts = [
        "**No memory** was tested. A required check is not green without evidence; the change itself was not judged.",
        gfm.code(failure.message, 500),
        f"**What to do:** {gfm.code(failure.remedy, 500)}" if failure.remedy else "",
        "\n".join(_problem(item.file, item.line, item.field, item.what) for item in failure.problems[:LOG_LINES]),
    ]
    if failure.log:
        log = gfm.block(failure.log[-LOG_LINES:], "text", 4_000)
        parts.append(gfm.fold("Last lines of the store's log", log, opened=True))
    return parts


def _problem(file: str, line: int | None, field: str | None, what: str) -> str:
    return f"- {gfm.code(f'{file}:{line}' if line else file)} {gfm.code(f'{field or chr(45)}: {what}', 300)}"


def _memories(count: int) -> str:
    return f"{count:,} {'memory' if count == 1 else 'memories'}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
