"""The report for a person at a terminal, to be read in ten seconds: verdict, causes, remedies, whom it hit."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from memregress.model import Verdict
from memregress.render.terminal import plain
from memregress.report import CauseReport, Gate, MemoryReport, Report

MEMORIES_PER_CAUSE = 5
SNIPPET = 70
STYLE = {Gate.PASSED: "bold green", Gate.FAILED: "bold red", Gate.ERROR: "bold yellow"}
MARK = {Gate.PASSED: "✓", Gate.FAILED: "✗", Gate.ERROR: "!"}


def show(report: Report, console: Console) -> None:
    """Print a report."""
    with console.capture() as capture:
        console.print(Group(*_parts(report)), highlight=False, markup=False)
    lines = capture.get().splitlines()
    print("\n".join(line.rstrip() for line in lines), file=console.file)  # tables pad their last column


def _parts(report: Report) -> Iterable[RenderableType]:
    yield _headline(report)
    for cause in report.causes:
        yield Text()
        yield _cause(cause, [memory for memory in report.memories if memory.cause == cause.code])
    for concern in report.concerns:
        yield Text()
        yield _cause(concern, [])
    yield Text()
    yield _facts(report)


def _headline(report: Report) -> Text:
    text = Text()
    text.append(f"{MARK[report.gate]} {report.gate.upper()}", style=STYLE[report.gate])
    text.append(f"  {plain(report.reason)}")
    if report.fixed:
        text.append(f"; {report.fixed:,} fixed since the baseline")
    return text


def _cause(cause: CauseReport, memories: list[MemoryReport]) -> RenderableType:
    title = Text()
    title.append(plain(f"{cause.code} {cause.name}"), style="bold" if cause.count else "bold yellow")
    title.append(f"  {plain(cause.title)}")
    title.append(f"  {_count(cause.count, 'memory', 'memories')}" if cause.count else "  broke no memory", style="dim")
    table = Table.grid(padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for memory in memories[:MEMORIES_PER_CAUSE]:
        table.add_row(memory.verdict.value, _memory(memory))
    if len(memories) > MEMORIES_PER_CAUSE:
        table.add_row("", Text(f"… and {len(memories) - MEMORIES_PER_CAUSE:,} more in report.json", style="dim"))
    for line in cause.evidence:
        table.add_row("seen", Text(plain(line)))
    if cause.sampled is not None:
        table.add_row("", Text(f"{cause.sampled:,} of them were looked at one by one", style="dim"))
    table.add_row("remedy", Text("\n".join(map(plain, cause.remedy.splitlines())), style="cyan"))
    table.add_row("more", Text(plain(cause.docs), style="dim"))
    return Group(title, Padding(table, (0, 0, 0, 2)))


def _memory(memory: MemoryReport) -> Text:
    text = Text(plain(memory.id), style="bold")
    rest = [f"user {plain(memory.user)}"] if memory.user is not None else []
    rest += [plain(memory.search)] if memory.search and memory.search != "readback" else []
    rest += [plain(memory.got.note)] if memory.got.note else [_change(memory)]
    rest += [f"{plain(memory.file)}:{memory.line}"]
    text.append(f"  {' · '.join(part for part in rest if part)}", style="not bold")
    if memory.snippet:
        text.append(f"\n“{plain(memory.snippet, limit=SNIPPET)}”", style="not bold italic")
    return text


def _change(memory: MemoryReport) -> str:
    parts = []
    if memory.expected.rank is not None and memory.got.rank not in (None, memory.expected.rank):
        parts.append(f"rank {memory.expected.rank} → {memory.got.rank}")
    if memory.got.similarity is not None and memory.expected.similarity is not None:
        parts.append(f"similarity {memory.expected.similarity:.4f} → {memory.got.similarity:.4f}")
    return ", ".join(parts)


def _facts(report: Report) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    index = report.target.index
    counts = [f"{report.counts[verdict]:,} {verdict}" for verdict in Verdict if report.counts.get(verdict)]
    table.add_row("memories", f"{report.tested:,} of {report.total:,} tested: {', '.join(counts)}")
    table.add_row("store", plain(f"{index.server} ({report.target.instance}), {index.location}, {_index(report)}"))
    table.add_row(
        "golden set",
        f"{plain(report.golden.name)}, {report.golden.memories:,} memories, {report.golden.queries:,} queries",
    )
    if report.measures.queries:
        table.add_row("rankings", _measures(report))
    table.add_row(
        "time",
        ", ".join(f"{plain(stage)} {seconds:.1f} s" for stage, seconds in report.timings.items() if seconds >= 0.05),
    )
    for note in report.notes:
        table.add_row("note", plain(note))
    return table


def _index(report: Report) -> str:
    index, target = report.target.index, report.target
    if index.kind in ("none", "flat"):
        return "exact search, no approximate index"
    settings = ", ".join(f"{name}={value}" for name, value in {**index.parameters, **index.settings}.items())
    return f"{index.kind} ({settings}), used by {target.index_searches:,} of {target.searches:,} searches"


def _measures(report: Report) -> str:
    measures = report.measures
    named = {
        "recall@k": measures.recall_at_k,
        "MRR": measures.mrr,
        "nDCG@k": measures.ndcg_at_k,
        "tau-b": measures.kendall_tau_b,
        "RBO": measures.rank_biased_overlap,
    }
    shown = [f"{name} {value:.3f}" for name, value in named.items() if value is not None]
    shift = measures.largest_similarity_shift
    return ", ".join(shown + ([f"largest similarity shift {shift:.1e}"] if shift is not None else []))


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
