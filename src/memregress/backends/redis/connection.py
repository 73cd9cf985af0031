"""Connections to Redis: deadlines on everything, errors in words, pipelines over a few connections at once."""

from __future__ import annotations

import concurrent.futures
import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import hiredis
import redis
from redis import exceptions

from memregress import errors
from memregress.backends import sending

T = TypeVar("T")

CONNECT_SECONDS = 10
UNKNOWN = "unknown command"
PARAMETERS = ("db", "username", "password")
"""What a URL may ask for."""

Command = Sequence[Any]


def place(url: str) -> str:
    """Name a server by host and port, or its socket; never by anything secret.

    Raises:
        ConfigError: the URL is not one of Redis, or has parameters that are not the server's business.
    """
    parts = urlsplit(_plain(url))
    if parts.scheme not in ("redis", "rediss", "unix"):
        raise errors.ConfigError(
            "the URL is not one of Redis", "Write redis://[user:password@]host:port/0, rediss:// for TLS, or unix://."
        )
    strange = [name for name in parse_qs(parts.query) if name not in PARAMETERS and not name.startswith("ssl_")]
    if strange:  # the driver would take them for settings of its own, before ours
        raise errors.ConfigError(
            f"the URL has a parameter {strange[0]!r}", f"It may have {', '.join(PARAMETERS)}, and ssl_… with rediss://."
        )
    if parts.scheme == "unix":
        return parts.path
    try:
        return f"{parts.hostname or 'localhost'}:{parts.port or 6379}"
    except ValueError:
        raise errors.ConfigError("the port in the URL is no number", "Write redis://host:6379/0.") from None


def _plain(url: str) -> str:
    """The URL without the word that some clients have for a cluster: whether it is one, the server says."""
    scheme, mark, rest = url.partition("+cluster://")
    return f"{scheme}://{rest}" if mark and scheme in ("redis", "rediss") else url


def connect(url: str, *, timeout: float) -> redis.Redis:
    """Open a client on which no answer takes longer than `timeout` seconds; the first has to come at once."""
    where = place(url)
    try:
        with contextlib.closing(_client(url, CONNECT_SECONDS)) as first:  # TLS that nobody speaks, a server that hangs
            first.ping()
        return _client(url, timeout)
    except (exceptions.RedisError, ValueError, TypeError, OSError) as error:
        raise _refused(where, error) from error


def _client(url: str, timeout: float) -> redis.Redis:
    return redis.Redis.from_url(
        _plain(url),
        protocol=3,  # its answers say where the server gave up early
        decode_responses=False,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=timeout,
        client_name="memregress",
    )


def _refused(where: str, error: Exception) -> errors.MemregressError:
    if isinstance(error, (exceptions.AuthenticationError, exceptions.NoPermissionError)) or "NOAUTH" in str(error):
        return errors.BackendUnavailable(
            f"Redis at {where} does not let us in: {_first_line(error)}",
            "Check user and password in the URL: redis://user:password@host:port/0.",
        )
    if isinstance(error, exceptions.BusyLoadingError):
        return errors.BackendUnavailable(f"Redis at {where} is still loading its data", "Wait for it, then run again.")
    return errors.BackendUnavailable(
        f"no connection to Redis at {where}: {_first_line(error)}",
        "Check that the server runs and that host and port are right.",
    )


@contextlib.contextmanager
def doing(what: str, where: str) -> Iterator[None]:
    """Turn the driver's errors into ours."""
    try:
        yield
    except exceptions.RedisError as error:
        raise _failed(what, where, error) from error
    except OSError as error:
        raise _lost(what, where, error) from error


def _failed(what: str, where: str, error: exceptions.RedisError) -> errors.MemregressError:
    said = _first_line(error)
    if isinstance(error, (exceptions.AuthenticationError, exceptions.NoPermissionError)):
        return errors.BackendUnavailable(
            f"Redis at {where} does not permit {what}: {said}", "Give the user the commands it names (ACL SETUSER)."
        )
    if isinstance(error, exceptions.OutOfMemoryError):
        return errors.BackendUnavailable(
            f"Redis at {where} ran out of memory while {what}: {said}", "Raise its maxmemory, or test a --sample."
        )
    if isinstance(error, (exceptions.ConnectionError, exceptions.TimeoutError)):
        return _lost(what, where, error)
    if UNKNOWN in said.lower():
        return errors.BackendUnavailable(
            f"Redis at {where} has no search engine: {said}",
            "Use Redis Stack, Redis 8 or later, or load the module RediSearch.",
        )
    return errors.BackendError(f"Redis at {where} failed while {what}: {said}", _remedy(said))


def _remedy(said: str) -> str:
    if "timeout" in said.lower():
        return "Raise the search engine's TIMEOUT (FT.CONFIG SET TIMEOUT)."
    if "LIMIT exceeds" in said:
        return "Raise the search engine's MAXSEARCHRESULTS (FT.CONFIG SET) to what the queries ask for."
    return "See the server's message."


def _lost(what: str, where: str, error: Exception) -> errors.BackendUnavailable:
    return errors.BackendUnavailable(
        f"the connection to Redis at {where} was lost while {what}: {_first_line(error)}",
        "The server stopped or was restarted; see its log (out of memory is the usual reason).",
    )


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


class Pool:
    """Sends pipelines over a few connections, each in a thread of its own."""

    def __init__(self, client: redis.Redis, connections: int) -> None:
        self.client = client
        self._connections = connections
        self._threads = concurrent.futures.ThreadPoolExecutor(connections, "memregress-redis")

    def ask(self, *command: Any) -> Any:
        """Send one command and return its answer."""
        return self.client.execute_command(*command)  # type: ignore[no-untyped-call]

    def stream(self, task: Callable[[T], Any], arguments: Iterable[T]) -> Iterator[Any]:
        """Call `task` for each argument in a thread that is free; answers in order, a few made ahead."""
        yield from sending.in_order(self._threads, task, arguments, width=self._connections)

    def pipelines(self, batches: Iterable[Sequence[Command]]) -> Iterator[list[Any]]:
        """Send each batch as one pipeline and yield its answers; a command that failed is answered by its error."""
        yield from self.stream(self.send, batches)

    def send(self, commands: Sequence[Command]) -> list[Any]:
        """Send one pipeline and return its answers.

        Without redis-py's own, which sends every few kilobytes by themselves and looks at each answer several times.
        """
        pool = self.client.connection_pool
        connection: Any = pool.get_connection()
        try:
            packed = b"".join([hiredis.pack_command(tuple(command)) for command in commands])
            connection.send_packed_command([packed], check_health=False)
            return [_answer(connection) for _ in commands]
        except BaseException:  # also Ctrl-C: answers are still to come, and must not be taken for others'
            connection.disconnect()
            raise
        finally:
            pool.release(connection)

    def close(self) -> None:
        """Close every connection."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self.client.close()


def _answer(connection: Any) -> Any:
    try:
        return connection.read_response()
    except exceptions.ResponseError as error:
        return error
