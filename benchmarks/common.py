"""What the benchmarks share: golden sets, the best of alternating runs, tables, memory sampled from outside."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from memregress import golden
from memregress.golden import GoldenSet
from memregress.model import Progress
from memregress.testing import sets

SIZES = ((20_000, 384), (20_000, 1_536), (100_000, 384), (100_000, 1_536))
REPEATS = 3


def quiet(_: Progress) -> None:
    """Listen to no progress."""


def arguments(description: str) -> argparse.ArgumentParser:
    """The options every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--sizes",
        type=lambda text: tuple(tuple(map(int, size.split("x"))) for size in text.split(",")),
        default=SIZES,
        help="memories x dimensions, e.g. 20000x384,100000x1536",
    )
    parser.add_argument("--scratch", type=Path, default=Path("/var/tmp"), help="where golden sets are made")
    return parser


def made(folder: Path, memories: int, dimensions: int, *, queries: int = 0) -> GoldenSet:
    """A golden set without users, so that every search goes through the index."""
    path = folder / f"bench-{memories}x{dimensions}-{queries}"
    if path.exists():
        return golden.open(path)
    return sets.make(
        path, memories=memories, users=0, dimensions=dimensions, queries=queries, lifetimes=False, clusters=500
    )


def best(tasks: Mapping[str, Callable[[], float]], repeats: int = REPEATS) -> dict[str, float]:
    """Seconds of each task, the best of several runs; the tasks take turns, so that noise hits all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repeats):
        for name, task in tasks.items():
            seconds[name].append(task())
    return {name: min(values) for name, values in seconds.items()}


def timed(task: Callable[[], object]) -> float:
    """Seconds that a task takes."""
    started = time.perf_counter()
    task()
    return time.perf_counter() - started


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table."""
    table = Table(*columns, title=title, title_justify="left")
    for row in rows:
        table.add_row(*map(str, row))
    Console(width=150).print(table)


def anonymous_peak(command: Sequence[str]) -> tuple[float, int]:
    """Run a command; return the peak of its anonymous memory in MB (mapped files are not in it) and its exit code."""
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            break
        peak = max(peak, *(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon")), 0)
        time.sleep(0.02)
    return peak / 1024, process.wait()
