"""The command line as a user runs it: a process, its exit code and what it prints."""

import os
import subprocess
import sys

import pytest

from memregress.testing import sets

COMMAND = [sys.executable, "-m", "memregress"]


@pytest.fixture(scope="session")
def golden(tmp_path_factory):
    """A small golden set."""
    return sets.make(tmp_path_factory.mktemp("sets") / "tiny", memories=200, users=10, dimensions=16, queries=20).path


@pytest.fixture
def memregress(tmp_path):
    """Run memregress in a folder of its own."""

    def run(*arguments, environment=None, limit=None, timeout=120):
        return subprocess.run(
            [*COMMAND, *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **(environment or {})},
            preexec_fn=limit,
            timeout=timeout,
            check=False,
        )

    return run
