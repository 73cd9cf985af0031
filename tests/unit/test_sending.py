"""Sending in threads, stopped at any moment: nothing begins any more, and what had begun has ended."""

import concurrent.futures
import threading

import pytest

from memregress.backends import sending


@pytest.fixture
def threads():
    """Two threads."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        yield pool


def test_answers_come_in_order(threads):
    """Whatever takes how long."""
    assert list(sending.in_order(threads, lambda n: n * n, range(50), width=2)) == [n * n for n in range(50)]


def test_an_error_of_a_task_is_raised(threads):
    """Where its answer would have come."""
    answers = sending.in_order(threads, lambda n: 6 // n, [3, 0, 2], width=2)
    assert next(answers) == 2
    with pytest.raises(ZeroDivisionError):
        next(answers)


def test_stopped(threads):
    """What is under way is told until it ends, and of what was handed over nothing begins."""
    begun, told, under_way = [], threading.Semaphore(0), threading.Event()

    def task(number):
        begun.append(number)
        under_way.set()
        for _ in range(2):  # the first time it did not listen yet
            assert told.acquire(timeout=sending.PATIENCE)
        begun.remove(number)

    def arguments():
        yield 1
        assert under_way.wait(sending.PATIENCE)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(sending.in_order(threads, task, arguments(), width=1, on_interrupt=told.release))
    assert begun == []


def test_handed_over_and_not_begun():
    """A task that a thread takes up only after the interrupt is not done."""
    done = []
    with concurrent.futures.ThreadPoolExecutor(1) as one:
        held = threading.Event()
        one.submit(held.wait)

        def arguments():
            yield 1
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            list(sending.in_order(one, done.append, arguments(), width=1))
        held.set()
    assert done == []
