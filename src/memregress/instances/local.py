"""Servers of our own on this machine: awaited, ended with their group, and their log shown where they fail."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memregress import errors

PAUSE = 0.02
"""Seconds between two questions whether a server is ready."""
LOG_LINES = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Local:
    """A server: what it is called, where it logs, and what tells why it does not answer yet."""

    name: str
    log: Path
    trouble: Callable[[], str]

    def wait(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        """Return when the server answers.

        Raises:
            InstanceError: it died, or did not answer within `deadline` seconds.
        """
        until = time.monotonic() + deadline
        while reason := self.trouble():
            if process.poll() is not None:
                raise self.failure(f"the server died with exit code {process.returncode}")
            if time.monotonic() > until:
                raise self.failure(f"the server did not answer within {deadline:.0f} s: {reason}")
            time.sleep(PAUSE)

    def failure(self, what: str) -> errors.InstanceError:
        """Return an error that has the last lines of the log."""
        lines = self.log.read_text(errors="replace").splitlines()[-LOG_LINES:]
        log = "\n".join(f"  | {line}" for line in lines) or "  (its log is empty)"
        return errors.InstanceError(f"embedded {self.name}: {what}\n{log}", "Give a URL, or an image to run in Docker.")


def end(process: subprocess.Popen[bytes], gently: signal.Signals) -> None:
    """Stop a program, by force if it takes its time; the group of a program that is gone is gone with it."""
    with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
        process.send_signal(gently)
        process.wait(10)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
