"""Several stores as one check: the legs that were expected, what each ended with, and the verdict over all of them.

A leg that left no result counts as an error: a required check is not green without evidence from every leg.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memregress import errors, report, report_files
from memregress.report import Failure, Gate, Outcome, Report

LARGEST = 64 << 20
"""Bytes of a leg's file; a report of 100,000 broken memories has half of that."""
FILES = ("report.json", "failure.json")


@dataclass(frozen=True, kw_only=True, slots=True)
class Leg:
    """One store; `outcome` is None where the leg left nothing behind."""

    name: str
    outcome: Outcome | None


def read(folder: Path, names: Sequence[str], *, prefix: str = "") -> list[Leg]:
    """Read what each expected leg left in a folder of its own name; nothing else in `folder` is looked at.

    Raises:
        ConfigError: no leg is expected, or a file is no report; says which and where.
    """
    if not names:
        raise errors.ConfigError("no leg is expected", "Name the stores in the input `legs`, one or more.")
    if twice := {name for name in names if names.count(name) > 1}:
        raise errors.ConfigError(f"legs named twice: {', '.join(sorted(twice))}", "Give each a name of its own.")
    return [Leg(name=name, outcome=_outcome(folder / f"{prefix}{name}")) for name in names]


def _outcome(folder: Path) -> Outcome | None:
    for name in FILES:
        path = folder / name
        if path.is_file() and not path.is_symlink():
            if path.stat().st_size > LARGEST:
                raise errors.ConfigError(f"{path} has more than {LARGEST:,} bytes", "It is no report of memregress.")
            return report_files.read(path) if name == FILES[0] else report_files.read_failure(path)
    return None


def gate(legs: Iterable[Leg]) -> Gate:
    """Return the verdict over all legs: failed if one failed, else an error if one proved nothing, else passed."""
    gates = {_gate(leg.outcome) for leg in legs}
    return next((one for one in (Gate.FAILED, Gate.ERROR) if one in gates), Gate.PASSED if gates else Gate.ERROR)


def _gate(outcome: Outcome | None) -> Gate:
    """A report of which nothing was tested is an error, whatever it says itself: it may be a stranger's."""
    if outcome is None or isinstance(outcome, Failure) or not outcome.tested:
        return Gate.ERROR
    return outcome.gate


def reports(legs: Iterable[Leg]) -> dict[str, Report]:
    """Return the reports by the names of their legs."""
    return {leg.name: leg.outcome for leg in legs if isinstance(leg.outcome, Report)}


def broken_on(legs: Sequence[Leg]) -> dict[str, list[str]]:
    """Return the legs on which each memory is broken, by id; where a memory was judged on one leg only, nothing."""
    found: dict[str, list[str]] = {}
    for name, document in reports(legs).items():
        for memory in report.broken(document.memories):
            found.setdefault(memory.id, []).append(name)
    return found if len(reports(legs)) > 1 else {}
