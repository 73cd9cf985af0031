"""Connections to PostgreSQL: deadlines on everything, errors in words, and Ctrl-C that is heard.

libpq does not return to Python while it waits, so statements run on worker threads and the main thread waits
for them: an interrupt cancels the statements on the server before it goes on its way.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import queue
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import psycopg2
import psycopg2.errors
from psycopg2.extensions import connection as Connection  # noqa: N812  it is a class
from psycopg2.extensions import parse_dsn

from memregress import errors
from memregress.backends import sending

T = TypeVar("T")

CONNECT_SECONDS = 10
SILENCE_MILLISECONDS = 60_000
"""How long the network may stay silent on sent data before the connection counts as dead."""
DATA_ERRORS = (psycopg2.DataError, psycopg2.IntegrityError, psycopg2.errors.RaiseException)
"""The server refuses a value (not a statement): the row's fault, not the set-up's."""


def place(url: str) -> str:
    """Name a server by host, port and database only; never by anything secret."""
    try:
        parts = parse_dsn(url)
    except psycopg2.ProgrammingError:
        raise errors.ConfigError(
            "the URL is not one of PostgreSQL",
            "Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with special characters percent-encoded.",
        ) from None
    return f"{parts.get('host', 'localhost')}:{parts.get('port', '5432')}/{parts.get('dbname', '')}"


def connect(url: str, *, timeout: float) -> Connection:
    """Open a connection on which no statement takes longer than `timeout` seconds."""
    where = place(url)
    try:
        connection = psycopg2.connect(
            url,
            connect_timeout=CONNECT_SECONDS,
            application_name="memregress",
            tcp_user_timeout=SILENCE_MILLISECONDS,
            keepalives_idle=10,
            keepalives_interval=5,
            keepalives_count=3,
        )
        with connection, connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, false)", [f"{int(timeout * 1000)}ms"])
    except psycopg2.OperationalError as error:
        raise _unavailable(where, str(error).strip()) from error
    return connection


def _unavailable(where: str, message: str) -> errors.BackendUnavailable:
    remedies = {
        "password authentication failed": "Check user and password in the URL (special characters percent-encoded).",
        "does not exist": "Check the database and the user in the URL.",
        "could not translate host name": "Check the host in the URL; a service container is found by its name only "
        "from a job that runs in a container too, else at localhost and its published port.",
        "Connection refused": "Check that the server runs and that host and port are right.",
        "timeout expired": "Check host, port and firewall; the server did not answer in time.",
        "starting up": "The server is still starting; wait until it answers, e.g. with `pg_isready`.",
    }
    remedy = next((text for sign, text in remedies.items() if sign in message), "Check the URL and the server's log.")
    return errors.BackendUnavailable(f"no connection to PostgreSQL at {where}: {message}", remedy)


@contextlib.contextmanager
def translated(doing: str, where: str) -> Iterator[None]:
    """Turn what psycopg2 raises into memregress's errors; `doing` completes "while …"."""
    try:
        yield
    except (psycopg2.OperationalError, psycopg2.InterfaceError) as error:
        raise _interrupted(doing, where, error) from error
    except psycopg2.errors.InsufficientPrivilege as error:
        raise errors.BackendError(
            f"PostgreSQL at {where} does not permit {doing}: {_first_line(error)}",
            "Grant the role of the URL CREATE and TEMPORARY on the database (in place: SELECT and TEMPORARY).",
        ) from error
    except psycopg2.Error as error:
        if type(error) is psycopg2.DatabaseError and error.pgcode is None:  # how a COPY tells of a lost connection
            raise _interrupted(doing, where, error) from error
        raise errors.BackendError(
            f"PostgreSQL at {where} failed while {doing}: {_first_line(error)}",
            "See the server's message; with your own DDL, check the names under [pgvector] in memregress.toml.",
        ) from error


def _interrupted(doing: str, where: str, error: psycopg2.Error) -> errors.BackendError:
    if isinstance(error, psycopg2.errors.QueryCanceled):
        return errors.BackendError(
            f"PostgreSQL at {where} took too long while {doing}: {_first_line(error)}",
            "Raise `timeout` (seconds) under [pgvector] in memregress.toml, or replay a --sample.",
        )
    if isinstance(error, (psycopg2.errors.DiskFull, psycopg2.errors.OutOfMemory)):
        return errors.BackendError(
            f"PostgreSQL at {where} ran out of space while {doing}: {_first_line(error)}",
            "Give the server more disk, memory or shared memory (a container: --shm-size).",
        )
    return errors.BackendUnavailable(
        f"the connection to PostgreSQL at {where} was lost while {doing}: {_first_line(error)}",
        "The server stopped or was restarted; see its log (out of memory is the usual reason).",
    )


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


class Pool:
    """A few connections, each with a thread of its own."""

    def __init__(self, connections: Sequence[Connection]) -> None:
        self.connections = tuple(connections)
        self._threads = concurrent.futures.ThreadPoolExecutor(len(self.connections), "memregress-pgvector")

    def run(self, task: Callable[..., T], arguments: Sequence[Any]) -> list[T]:
        """Call `task(connection, argument)` for each argument, each on a connection of its own."""
        return list(self.stream(task, arguments))

    def stream(self, task: Callable[..., T], arguments: Iterable[Any]) -> Iterator[T]:
        """The same for any number of arguments, each on the next connection that is free; answers in their order.

        Arguments are made in the caller's thread, a few ahead, while the servers are busy with earlier ones.
        """
        free: queue.SimpleQueue[Connection] = queue.SimpleQueue()
        for connection in self.connections:
            free.put(connection)

        def call(argument: Any) -> T:
            connection = free.get()
            try:
                return task(connection, argument)
            finally:
                free.put(connection)

        yield from sending.in_order(
            self._threads, call, arguments, width=len(self.connections), on_interrupt=self._cancel
        )

    def run_one(self, task: Callable[[Connection], T]) -> T:
        """Call `task(connection)` on the first connection."""
        return self.run(lambda connection, _: task(connection), [None])[0]

    def _cancel(self) -> None:
        for connection in self.connections:
            with contextlib.suppress(psycopg2.Error):
                connection.cancel()

    def close(self) -> None:
        """Close every connection."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for connection in self.connections:
            with contextlib.suppress(psycopg2.Error):
                connection.close()
