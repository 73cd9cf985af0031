"""Annotations: the verdict, then one for each cause, at the line of its first memory in the golden set."""

from __future__ import annotations

from pathlib import PurePosixPath

from memregress.github import commands
from memregress.render import terminal
from memregress.report import Failure, Gate, Outcome, Report

MOST = 10
"""The runner shows ten of a kind for a step."""


def lines(outcome: Outcome, golden: str) -> list[str]:
    """Return the commands; `golden` is the golden set's folder, as the workflow names it."""
    if isinstance(outcome, Failure):
        return _of_failure(outcome, golden)
    level = "notice" if outcome.gate is Gate.PASSED else "error"
    first = commands.annotation(level, outcome.reason, title=f"memregress {outcome.gate}")
    return [first, *_of_causes(outcome, golden, level)][:MOST]


def _of_causes(report: Report, golden: str, level: str) -> list[str]:
    found: list[str] = []
    for cause in report.causes:
        memory = next(memory for memory in report.memories if memory.cause == cause.code)
        text = "\n".join([f"{cause.title}: {cause.count:,} memories", *cause.evidence, f"What to do: {cause.remedy}"])
        found.append(
            commands.annotation(
                level,
                "\n".join(terminal.plain(line) for line in text.splitlines()),
                title=f"{cause.code} {cause.name}",
                file=str(PurePosixPath(golden, memory.file)),
                line=memory.line,
            )
        )
    return found


def _of_failure(failure: Failure, golden: str) -> list[str]:
    text = f"{terminal.plain(failure.message)}\n{terminal.plain(failure.remedy)}"
    found = [commands.annotation("error", text, title="memregress: nothing was tested")]
    for problem in failure.problems[: MOST - 1]:
        file = str(PurePosixPath(golden, problem.file))
        what = terminal.plain(f"{problem.field or 'line'}: {problem.what}")
        found.append(commands.annotation("error", what, title="golden set", file=file, line=problem.line))
    return found
