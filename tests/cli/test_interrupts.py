"""Ctrl-C, SIGTERM and a server that dies: an exit code, a message, and nothing left behind."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg2
import pytest
import redis

from memregress import instances
from memregress.backends import registry
from memregress.backends.milvus import connection as milvus
from memregress.testing import sets

PROMPT_SECONDS = 20
ATTEMPTS = int(os.environ.get("MEMREGRESS_KILLS", "1"))
"""How often a server is killed whose start takes long."""


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    """Large enough that every stage can be hit: the index of 30,000 memories takes seconds to build."""
    path = tmp_path_factory.mktemp("sets") / "large"
    return sets.make(path, memories=30_000, users=0, dimensions=128, queries=0, lifetimes=False).path


@contextlib.contextmanager
def running(*arguments, url=None, temporary):
    """A replay in progress; killed in the end if it is still there."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memregress", "replay", *map(str, arguments)],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary), **({"MEMREGRESS_URL": url} if url else {})},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def wait_for(process, stage):
    """Read progress until a stage has begun."""
    for line in process.stderr:
        if line.startswith(stage):
            return
    pytest.fail(f"the stage {stage} never came")


def finish(process):
    """The exit code and the rest of the messages, and how long it took."""
    started = time.monotonic()
    rest = process.communicate(timeout=PROMPT_SECONDS * 2)[1]
    return process.returncode, rest, time.monotonic() - started


def stopped(process, stage, sent, code):
    """Stop a replay at a stage: it ends promptly, in order, with the code of the signal."""
    wait_for(process, stage)
    time.sleep(0.05)
    process.send_signal(sent)
    returned, messages, seconds = finish(process)
    assert returned == code, messages
    assert "Traceback" not in messages
    assert seconds < PROMPT_SECONDS


def lost(process):
    """A replay whose server has gone says so, promptly."""
    returned, messages, seconds = finish(process)
    assert returned == 3, messages
    assert re.search(r"(was lost|no connection)", messages)
    assert "what to do" in messages
    assert seconds < PROMPT_SECONDS


def spaces(url):
    """Schemas of replays that are in a database."""
    with contextlib.closing(psycopg2.connect(url)) as connection, connection, connection.cursor() as cursor:
        cursor.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'memregress%'")
        return cursor.fetchall()


@pytest.mark.parametrize("stage", ["load", "index", "verify", "probe"])
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"])
def test_stopped_at(pgvector_url, large, tmp_path, stage, sent, code):
    """Stopped at any stage, a replay ends promptly with its own code, and its space is gone from the store."""
    with running(large, "--backend", "pgvector", url=pgvector_url, temporary=tmp_path) as process:
        stopped(process, stage, sent, code)
    assert spaces(pgvector_url) == []


@pytest.mark.store
def test_an_embedded_server_is_stopped_too(large, tmp_path):
    """Stopped while its embedded server builds an index, a replay leaves neither process nor file."""
    with running(large, "--backend", "pgvector", "--embedded", temporary=tmp_path) as process:
        wait_for(process, "index")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        returned, messages, _ = finish(process)
    assert returned == 130, messages
    assert list(tmp_path.iterdir()) == []
    assert not servers(tmp_path)


def servers(folder):
    """Processes whose command line names a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdecimal() and str(folder).encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
    return found


@pytest.mark.store
@pytest.mark.parametrize("stage", ["load", "index", "probe"])
def test_a_server_that_dies(large, tmp_path, stage):
    """Where the server is killed under a replay, exit 3 says that the connection was lost, within the deadline."""
    with (
        instances.open(instances.choose(registry.find("pgvector"), embedded=True)) as url,
        running(large, "--backend", "pgvector", url=url, temporary=tmp_path) as process,
    ):
        with contextlib.closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
            cursor.execute("SHOW data_directory")
            folder = cursor.fetchone()[0]
        wait_for(process, stage)
        time.sleep(0.05)
        postmaster = int(Path(folder, "postmaster.pid").read_text().splitlines()[0])
        os.kill(postmaster, signal.SIGQUIT)
        lost(process)


@pytest.mark.store
@pytest.mark.parametrize("stage", ["load", "index", "probe"])
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"])
def test_stopped_on_redis(embedded_redis, large, tmp_path, stage, sent, code):
    """The same on Redis: neither documents nor indexes are left."""
    with running(large, "--backend", "redis", url=embedded_redis, temporary=tmp_path) as process:
        stopped(process, stage, sent, code)
    with contextlib.closing(redis.Redis.from_url(embedded_redis)) as connection:
        assert connection.keys("memregress*") == []
        assert connection.execute_command("FT._LIST") == []


@pytest.mark.store
@pytest.mark.parametrize("attempt", range(5))
@pytest.mark.parametrize("stage", ["load", "index", "probe"])
def test_a_redis_that_dies(large, tmp_path, stage, attempt):
    """Killed under a replay, exit 3 says that the connection was lost, within the deadline, every time."""
    with (
        instances.open(instances.choose(registry.find("redis"), embedded=True)) as url,
        running(large, "--backend", "redis", url=url, temporary=tmp_path) as process,
    ):
        with contextlib.closing(redis.Redis.from_url(url)) as connection:
            server = connection.info()["process_id"]
        wait_for(process, stage)
        time.sleep(0.02 * attempt)
        os.kill(server, signal.SIGKILL)
        lost(process)


@pytest.mark.docker
@pytest.mark.parametrize("stage", ["load", "index", "probe"])
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"])
def test_stopped_on_milvus(container_milvus, large, tmp_path, stage, sent, code):
    """The same on Milvus: no collection is left."""
    with running(large, "--backend", "milvus", url=container_milvus, temporary=tmp_path) as process:
        stopped(process, stage, sent, code)
    with contextlib.closing(milvus.connect(container_milvus)) as client:
        assert [name for name in client.list_collections() if name.startswith("memregress")] == []


@pytest.mark.docker
@pytest.mark.parametrize("stage", ["load", "index", "probe"])
@pytest.mark.parametrize("attempt", range(ATTEMPTS))
def test_a_milvus_that_dies(large, tmp_path, stage, attempt):
    """Killed under a replay, exit 3 says that the connection was lost, within the deadline, every time."""
    (tmp_path / "memregress.toml").write_text("[milvus]\ntimeout = 8\n")
    target = instances.choose(registry.find("milvus"), image=registry.find("milvus").container.image)
    with (
        instances.open(target) as url,
        running(
            large, "--backend", "milvus", "--config", tmp_path / "memregress.toml", url=url, temporary=tmp_path
        ) as process,
    ):
        port = url.rpartition(":")[2]
        server = subprocess.check_output(["docker", "ps", "-q", "--filter", f"publish={port}"], text=True).split()
        assert len(server) == 1
        wait_for(process, stage)
        time.sleep(0.05 * attempt)
        subprocess.run(["docker", "kill", *server], check=True, stdout=subprocess.DEVNULL)
        lost(process)
