"""Time spent by stage, and how far each is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TypeVar

from memregress.model import Progress

Report = Callable[[Progress], None]
Batch = TypeVar("Batch", bound=Sized)
Result = TypeVar("Result")


class Clock:
    """Seconds spent by stage."""

    def __init__(self, report: Report) -> None:
        self.seconds: dict[str, float] = {}
        self._report = report

    def track(self, stage: str, batches: Iterable[Batch], total: int) -> Iterator[Batch]:
        """Pass batches through, timing the consumer and telling it how far the stage is."""
        start, done = time.perf_counter(), 0
        self._report(Progress(stage=stage, done=0, total=total))
        for batch in batches:
            yield batch
            done += len(batch)
            self._report(Progress(stage=stage, done=done, total=total))
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start

    def call(self, stage: str, task: Callable[[], Result]) -> Result:
        """Run a task without known length."""
        start = time.perf_counter()
        self._report(Progress(stage=stage))
        result = task()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start
        return result
