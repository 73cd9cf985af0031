"""Connections to Milvus: deadlines on everything, and errors in words."""

from __future__ import annotations

import concurrent.futures
import contextlib
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from memregress import errors
from memregress.backends import sending

os.environ.setdefault("GRPC_VERBOSITY", "ERROR")  # read when it is imported; what it would print is not for users

import grpc
from pymilvus import MilvusClient
from pymilvus.exceptions import MilvusException

T = TypeVar("T")

CONNECT_SECONDS = 10
LITE_SECONDS = 60
"""Milvus Lite is a process that the driver starts first; on a busy machine that takes longer than a network does."""
UNAUTHENTICATED = ("auth check failure", "invalid credential", "unauthenticated", "permission deny")


def is_lite(url: str) -> bool:
    """Whether a URL is a file of Milvus Lite."""
    return "://" not in url and url.endswith(".db")


def place(url: str) -> str:
    """Name a server by host and port, or a file; never by anything secret.

    Raises:
        ConfigError: the URL is not one of Milvus.
    """
    if is_lite(url):
        return url
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https", "tcp") or not parts.hostname:
        raise errors.ConfigError(
            "the URL is not one of Milvus",
            "Write http://[user:password@]host:19530[/database] (https:// for TLS), or the path of a file.db.",
        )
    try:
        return f"{parts.hostname}:{parts.port or 19530}"
    except ValueError:
        raise errors.ConfigError("the port in the URL is no number", "Write http://host:19530.") from None


def connect(url: str, *, timeout: float = CONNECT_SECONDS) -> MilvusClient:
    """Open a client; the first answer has to come at once.

    Raises:
        BackendUnavailable: no server answers there, or it does not let us in.
    """
    where = place(url)
    if is_lite(url):
        timeout = max(timeout, LITE_SECONDS)
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it prints each error, which we tell in our own words
    try:
        client = MilvusClient(timeout=timeout, **_arguments(url))
        client.list_collections(timeout=timeout)
    except (MilvusException, grpc.RpcError, ValueError, OSError) as error:
        raise _refused(where, error) from error
    return client


def _arguments(url: str) -> dict[str, str]:
    if is_lite(url):
        Path(url).parent.mkdir(parents=True, exist_ok=True)
        return {"uri": url}
    parts = urlsplit(url)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    scheme = "https" if parts.scheme == "https" else "http"
    address = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return {
        "uri": f"{scheme}://{address}:{parts.port or 19530}",
        "token": f"{user}:{password}" if password else user,
        "db_name": parts.path.strip("/"),
    }


def _refused(where: str, error: Exception) -> errors.MemregressError:
    said = first_line(error)
    if any(sign in said.lower() for sign in UNAUTHENTICATED):
        return errors.BackendUnavailable(
            f"Milvus at {where} does not let us in: {said}",
            "Check user and password in the URL: http://user:password@host:19530; a token stands alone before the @.",
        )
    return errors.BackendUnavailable(
        f"no connection to Milvus at {where}: {said}",
        "Check that the server runs and that host, port and database are right.",
    )


@contextlib.contextmanager
def doing(what: str, where: str) -> Iterator[None]:
    """Turn the driver's errors into ours."""
    try:
        yield
    except MilvusException as error:
        raise _failed(what, where, error) from error
    except (grpc.RpcError, grpc.FutureTimeoutError, ConnectionError) as error:
        raise _lost(what, where, error) from error


def _failed(what: str, where: str, error: MilvusException) -> errors.MemregressError:
    said = first_line(error)
    if is_lost(error):
        return _lost(what, where, error)
    if "not loaded" in said or "state 'released'" in said:
        return errors.BackendUnavailable(
            f"Milvus at {where} serves no search while {what}: {said}",
            "The collection is released: load it (client.load_collection), and wait until it is.",
        )
    if any(sign in said.lower() for sign in UNAUTHENTICATED):
        return errors.BackendUnavailable(f"Milvus at {where} does not permit {what}: {said}", "Grant the user more.")
    return errors.BackendError(f"Milvus at {where} failed while {what}: {said}", "See the server's message.")


def is_lost(error: MilvusException) -> bool:
    """Whether an error says that the server is gone, and not what it answered."""
    said = str(error)
    signs = ("UNAVAILABLE", "Retry ", "DEADLINE_EXCEEDED", "should create connection first", "Fail connecting")
    return isinstance(error.__cause__, grpc.RpcError) or any(sign in said for sign in signs)


def _lost(what: str, where: str, error: Exception) -> errors.BackendUnavailable:
    return errors.BackendUnavailable(
        f"the connection to Milvus at {where} was lost while {what}: {first_line(error)}",
        "The server stopped or was restarted; see its log (out of memory is the usual reason).",
    )


def first_line(error: BaseException) -> str:
    """What an error says, on one line."""
    text = error.message if isinstance(error, MilvusException) else getattr(error, "details", lambda: str(error))()
    lines = str(text or error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


class Pool:
    """Calls over one client, several under way at once."""

    def __init__(self, url: str, *, connections: int, timeout: float) -> None:
        self.client = connect(url)
        self.lite = is_lite(url)
        self.timeout = timeout
        self._lost: MilvusException | None = None
        self._width = 1 if self.lite else connections  # Lite is in process, and answers one after another
        self._threads = concurrent.futures.ThreadPoolExecutor(self._width, "memregress-milvus")

    def ask(self, method: str, *arguments: Any, **more: Any) -> Any:
        """Call a method of the client with a deadline; of a server that was lost, it is not waited for once more."""
        if self._lost is not None:
            raise self._lost
        try:
            return getattr(self.client, method)(*arguments, **{"timeout": self.timeout, **more})
        except MilvusException as error:
            self._lost = error if is_lost(error) else None
            raise
        except grpc.RpcError as error:
            if error.code() is not grpc.StatusCode.UNIMPLEMENTED:
                self._lost = MilvusException(message=first_line(error))
            raise

    def stream(self, task: Callable[[T], Any], arguments: Iterable[T]) -> Iterator[Any]:
        """Call `task` for each argument in a thread that is free; answers in order, a few made ahead."""
        yield from sending.in_order(self._threads, task, arguments, width=self._width)

    def close(self) -> None:
        """Close the client."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with contextlib.suppress(MilvusException, grpc.RpcError):
            self.client.close()
