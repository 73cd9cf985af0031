"""Sending in threads what is made in the caller's: the next parts while the servers are busy with earlier ones."""

from __future__ import annotations

import collections
import concurrent.futures
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")

AHEAD = 2
"""Parts made ahead for each thread."""
PATIENCE = 10
"""Seconds that what is under way may take to end after an interrupt."""
INSIST = 0.25
"""Seconds after which `on_interrupt` is called again: what had begun may not have been sent at the first time."""


def in_order(
    threads: concurrent.futures.Executor,
    task: Callable[[Any], T],
    arguments: Iterable[Any],
    *,
    width: int,
    on_interrupt: Callable[[], None] = lambda: None,
) -> Iterator[T]:
    """Call `task` for each argument, on `width` threads, and yield the answers in order.

    Where it ends early, by an error or Ctrl-C, nothing more begins, `on_interrupt` is called, and what is under way is
    waited for: nothing is still being sent when the caller begins to put things away. A caller that writes takes the
    answers in one go (`list`, `itertools.chain`): one that an interrupt stops between two of them, in its own code,
    leaves this suspended for as long as the traceback lives.
    """
    futures: collections.deque[concurrent.futures.Future[T]] = collections.deque()
    under_way = _UnderWay()

    def call(argument: Any) -> T:
        with under_way:
            return task(argument)

    try:
        for argument in arguments:
            futures.append(threads.submit(call, argument))
            if len(futures) > AHEAD * width:
                yield futures.popleft().result()
        while futures:
            yield futures.popleft().result()
    except BaseException:
        under_way.stop()
        on_interrupt()
        until = time.monotonic() + PATIENCE
        while not under_way.over(INSIST) and time.monotonic() < until:
            on_interrupt()
        raise


class _UnderWay:
    """Counts the tasks that have begun and not ended, in their own threads: an interrupt cannot come between."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0
        self._stopped = False

    def __enter__(self) -> None:
        with self._changed:
            if self._stopped:
                raise concurrent.futures.CancelledError
            self._count += 1

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._count -= 1
            self._changed.notify_all()

    def stop(self) -> None:
        """Let nothing more begin."""
        with self._changed:
            self._stopped = True

    def over(self, seconds: float) -> bool:
        """Whether all that had begun ends within so long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._count, seconds)
