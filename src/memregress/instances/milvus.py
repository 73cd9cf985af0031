"""Servers of Milvus: when one is ready; and Milvus Lite, in this process, in a file of its own."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from memregress import errors
from memregress.backends.milvus import connection
from memregress.instances import ending


def trouble(url: str) -> str:
    """Say why a server does not answer yet; nothing if it does."""
    try:
        client = connection.connect(url, timeout=5)
    except errors.MemregressError as error:
        return error.message
    client.close()
    return ""


@contextlib.contextmanager
def serve(*, deadline: float) -> Iterator[str]:  # noqa: ARG001  the same for all servers
    """Yield the path of a file for Milvus Lite; nothing of it stays. It is ready at once, whatever the `deadline`."""
    folder = Path(tempfile.mkdtemp(prefix="memregress-"))
    try:
        yield str(folder / "milvus.db")
    finally:
        with ending.uninterrupted():
            shutil.rmtree(folder, ignore_errors=True)
