"""The outcome as GitHub's Markdown, for the summary of a job.

Whatever comes from a golden set stands in a code span of which it cannot get out, on one line, with control and
bidirectional characters shown as escapes: it can neither ping anybody, nor load an image, nor break a table.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass

from memregress.model import Verdict
from memregress.render import terminal
from memregress.report import CauseReport, Failure, Gate, MemoryReport, Outcome, Report

LIMIT_BYTES = 1_000_000
"""GitHub drops a summary of more than 1 MiB whole."""
MEMORIES = 10
LOG_LINES = 20
ID_LENGTH, TEXT_LENGTH = 80, 60
ICON = {Gate.PASSED: "✅", Gate.FAILED: "❌", Gate.ERROR: "⚠️"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What the text needs beside the outcome; `texts` says whether contents and users may be shown."""

    reproduce: str
    run_url: str
    texts: bool
    salt: str


def summary(outcome: Outcome, facts: Facts) -> str:
    """Return the summary of a job, below GitHub's limit."""
    text = _failure(outcome) if isinstance(outcome, Failure) else _report(outcome, facts)
    if len(text.encode()) > LIMIT_BYTES:
        text = f"{text.encode()[:LIMIT_BYTES].decode(errors='ignore')}\n\n…cut; the rest is in report.json.\n"
    return text


def code(text: str, limit: int = TEXT_LENGTH) -> str:
    """Return a stranger's text as one inert code span that fits a table's cell.

    The fence is one backtick longer than any run within (CommonMark 6.1); a pipe needs a backslash even there.
    """
    plain = terminal.plain(unicodedata.normalize("NFC", text), limit=limit)
    longest = max((len(run) for run in re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    padded = f" {plain} " if longest or plain.startswith(" ") or not plain.strip() else plain
    return f"{fence}{padded}{fence}".replace("|", "\\|")


def _report(report: Report, facts: Facts) -> str:
    parts = [f"### {ICON[report.gate]} memregress: {_headline(report)}\n", _counts(report)]
    parts += [_cause(cause, report, facts) for cause in report.causes + report.concerns]
    if report.broken:
        parts.append(f"#### Reproduce locally\n\n```bash\n{_block(facts.reproduce)}\n```\n")
    parts.append(_facts(report, facts))
    return "\n".join(parts)


def _headline(report: Report) -> str:
    if report.gate is Gate.ERROR:
        return f"nothing was tested, so this is no pass ({report.reason})"
    if not report.broken:
        return f"all {report.tested:,} memories tested are still found"
    if len(report.causes) == 1 and report.broken > MEMORIES:
        return f"one problem breaks {report.broken:,} of {report.tested:,} memories"
    return f"{report.broken:,} of {report.tested:,} memories {'is' if report.broken == 1 else 'are'} broken"


def _counts(report: Report) -> str:
    rows = [f"| {verdict} | {report.counts[verdict]:,} |" for verdict in Verdict if report.counts.get(verdict)]
    compared = ""
    if report.new_broken is not None:
        compared = f"\n{report.new_broken:,} newly broken and {report.fixed or 0:,} fixed since the baseline.\n"
    return "\n".join(["| verdict | memories |", "| --- | ---: |", *rows, compared])


def _cause(cause: CauseReport, report: Report, facts: Facts) -> str:
    count = f"{cause.count:,} of {report.broken:,} broken memories" if cause.count else "broke no memory yet"
    lines = [f"#### [{cause.code} {cause.name}]({cause.docs}): {cause.title}\n", f"{count}.\n"]
    lines += [f"- {code(text, 300)}" for text in cause.evidence]
    lines += ["\n**What to do**\n", f"```sql\n{_block(cause.remedy)}\n```\n"]
    members = [memory for memory in report.memories if memory.cause == cause.code]
    if members:
        lines.append(_memories(members, facts))
    return "\n".join(lines)


def _memories(members: list[MemoryReport], facts: Facts) -> str:
    head = [
        "| verdict | memory | user | text | search | expected | got |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    rows = [_row(memory, facts) for memory in members[:MEMORIES]]
    more = len(members) - MEMORIES
    return "\n".join([*head, *rows, f"\n…and {more:,} more in report.json.\n" if more > 0 else ""])


def _row(memory: MemoryReport, facts: Facts) -> str:
    user = "" if memory.user is None else code(memory.user if facts.texts else _pseudonym(memory.user, facts))
    text = "" if memory.snippet is None else _text(memory.snippet, facts)
    sides = [_side(memory.expected.rank, memory.expected.similarity, None)]
    sides.append(_side(memory.got.rank, memory.got.similarity, memory.got.note))
    search = code(memory.search) if memory.search else ""
    return f"| {' | '.join([memory.verdict, code(memory.id, ID_LENGTH), user, text, search, *sides])} |"


def _text(text: str, facts: Facts) -> str:
    """The beginning of a content, or where it is not for everybody, what tells it from others."""
    if facts.texts:
        return code(text)
    return code(f"sha256 {hashlib.sha256(text.encode(errors='replace')).hexdigest()[:12]}, {len(text)} characters")


def _pseudonym(user: str, facts: Facts) -> str:
    return "user " + hashlib.sha256(f"{facts.salt}\0{user}".encode(errors="replace")).hexdigest()[:8]


def _side(rank: int | None, similarity: float | None, note: str | None) -> str:
    parts = [f"rank {rank}" if rank else "", f"{similarity:.4f}" if similarity is not None else "", note or ""]
    return ", ".join(part for part in parts if part)


def _facts(report: Report, facts: Facts) -> str:
    index, golden = report.target.index, report.golden
    lines = [
        f"golden set {code(golden.name)}, {golden.memories:,} memories, {golden.queries:,} queries",
        f"store {code(index.server)}, {code(report.target.instance)}, index {code(index.kind)}",
        *(code(note, 300) for note in report.notes),
    ]
    if not facts.texts:
        lines.append("texts and users are withheld, since this repository is public (input `snippets`)")
    body = "\n".join(f"- {line}" for line in lines)
    return f"<details><summary>Run facts</summary>\n\n{body}\n\n</details>\n"


def _failure(failure: Failure) -> str:
    parts = [
        "### ⚠️ memregress: nothing was tested, so this is no pass\n",
        f"{code(failure.message, 500)}\n",
        f"**What to do:** {code(failure.remedy, 500)}\n" if failure.remedy else "",
    ]
    places = [f"{item.file}:{item.line}" if item.line else item.file for item in failure.problems[:LOG_LINES]]
    for place, item in zip(places, failure.problems, strict=False):
        parts.append(f"- {code(place)} {code(f'{item.field or chr(45)}: {item.what}', 300)}")
    if failure.log:
        lines = "\n".join(_block(line) for line in failure.log[-LOG_LINES:])
        parts.append(
            f"\n<details open><summary>Last lines of the store's log</summary>\n\n```text\n{lines}\n```\n\n</details>\n"
        )
    return "\n".join(parts)


def _block(text: str) -> str:
    """A line for a fenced block: without a line's end, and with no run of backticks that could end the block."""
    return re.sub("`{3,}", lambda run: "ˋ" * len(run.group()), terminal.plain(text))
