"""Progress on standard error: a bar with rate and time left on a terminal, one line a stage elsewhere."""

from __future__ import annotations

import time
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from memregress import model

EVERY_SECONDS = 15.0
"""How often a stage that goes on tells of itself where there is no terminal."""


class Reporter:
    """Listens to the pipeline; a context manager."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._task: TaskID | None = None
        self._stage = ""
        self._started = self._told = 0.0

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, progress: model.Progress) -> None:
        """Show how far a stage is."""
        if progress.stage != self._stage:
            self._begin(progress)
        rate = self._rate(progress)
        if self._console.is_terminal and self._task is not None:
            self._bar.update(self._task, completed=progress.done, total=progress.total or None, rate=rate)
        elif time.monotonic() - self._told > EVERY_SECONDS and progress.total:
            self._told = time.monotonic()
            self._console.print(f"{progress.stage}: {progress.done:,} of {progress.total:,}, {rate}", highlight=False)

    def _begin(self, progress: model.Progress) -> None:
        self._stage, self._started = progress.stage, time.monotonic()
        if self._console.is_terminal:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(progress.stage, total=progress.total or None, rate="")
        else:
            self._told = self._started
            count = f" {progress.total:,}" if progress.total else ""
            self._console.print(f"{progress.stage}{count} …", highlight=False)

    def _rate(self, progress: model.Progress) -> str:
        seconds = time.monotonic() - self._started
        return f"{progress.done / seconds:,.0f}/s" if progress.done and seconds > 0 else ""
