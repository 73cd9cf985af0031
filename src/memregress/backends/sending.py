"""Sending in threads what is made in the caller's: the next parts while the servers are busy with earlier ones."""

from __future__ import annotations

import collections
import concurrent.futures
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")

AHEAD = 2
"""Parts made ahead for each thread."""
PATIENCE = 10
"""Seconds that what is under way may take to end after an interrupt."""


def in_order(
    threads: concurrent.futures.Executor,
    task: Callable[[Any], T],
    arguments: Iterable[Any],
    *,
    width: int,
    on_interrupt: Callable[[], None] = lambda: None,
) -> Iterator[T]:
    """Call `task` for each argument, on `width` threads, and yield the answers in order.

    Where it ends early, by an error or Ctrl-C, `on_interrupt` is called, and then what is under way is waited for:
    nothing is still being sent when the caller begins to put things away.
    """
    futures: collections.deque[concurrent.futures.Future[T]] = collections.deque()
    try:
        for argument in arguments:
            futures.append(threads.submit(task, argument))
            if len(futures) > AHEAD * width:
                yield futures[0].result()
                futures.popleft()  # not before: it has to be waited for, too
        while futures:
            yield futures[0].result()
            futures.popleft()
    except BaseException:
        on_interrupt()
        for future in futures:
            future.cancel()
        concurrent.futures.wait(futures, timeout=PATIENCE)
        raise
