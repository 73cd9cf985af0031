"""Lifetimes in Redis: lost, over, and over but not swept yet; each put into a real server, each called by its name."""

import contextlib
import signal
import subprocess
import time

import pytest
import redis as client

from memregress.backends import registry


@pytest.mark.parametrize("how", ["restore", "fields"])
def test_lifetimes_lost_on_a_copy(redis, small, broken, how):
    """Copied key by key, documents stay for ever."""
    times = next(small.batches(size=len(small))).expires_at
    mortal = [id_ for id_, time in zip(small.ids, times, strict=True) if time and time > small.shape.clock]

    def copy(connection, space):
        for key in connection.keys(f"{space}:*"):
            if how == "restore":
                connection.restore(key, 0, connection.dump(key), replace=True)
            else:
                fields = connection.hgetall(key)
                connection.delete(key)
                connection.hset(key, mapping=fields)

    assert broken(redis(small, copy)) == [(id_, "expired", "MR302") for id_ in mortal]


def test_a_memory_that_expired(redis, small, only):
    """It is gone; that the server counts expired keys stands beside it, for it does not say which they were."""

    def expire(connection, space):
        connection.pexpire(f"{space}:m-000042", 1)
        while connection.exists(f"{space}:m-000042"):
            time.sleep(0.001)

    report = redis(small, expire)
    only(report, ["m-000042"], "missing", "MR202")
    assert "expired_keys = " in report.causes[0].evidence[1]


@pytest.fixture
def unswept(tmp_path):
    """A server that lets keys lie that are over; the same programs, and a setting that production has not."""
    program, modules = registry.find("redis").load_server()._programs()  # noqa: SLF001
    socket = tmp_path / "s"
    command = [
        program,
        "--port",
        "0",
        "--unixsocket",
        socket,
        "--dir",
        tmp_path,
        "--save",
        "",
        "--enable-debug-command",
        "yes",
    ]
    with subprocess.Popen(
        [*command, *(word for module in modules for word in ("--loadmodule", module))], stdout=subprocess.DEVNULL
    ) as process:
        try:
            while not socket.exists():
                time.sleep(0.01)
            yield f"unix://{socket}?db=0"
        finally:
            process.send_signal(signal.SIGTERM)


@pytest.mark.store
def test_expired_documents_that_take_slots(unswept, small, hit_redis, broken):
    """What is over, and not yet swept, stands in the place of what lives: that is why, and nothing is wrong with it."""
    wanted = small.vectors([42])[0]

    def ghosts(connection, space):
        stop_sweeping(connection)
        document = connection.hgetall(f"{space}:m-000042")
        for row in range(10):
            document[b"embedding"] = wanted.tobytes()
            connection.hset(f"{space}:old-{row}", mapping=document)
            connection.pexpire(f"{space}:old-{row}", 1)
        time.sleep(0.01)

    report = hit_redis(unswept, small, ghosts, options={"index": "flat"}, fill={"index": "flat"})
    assert broken(report)
    assert {(verdict, cause) for _, verdict, cause in broken(report)} <= {
        ("outranked", "MR650"),
        ("unreachable", "MR650"),
    }
    assert "old-" in report.causes[0].evidence[0]


@pytest.mark.store
def test_a_memory_that_is_over_and_lies_there_still(unswept, small, hit_redis, only):
    """Reading it back sweeps it: it is not there, whatever the index counts."""

    def expire(connection, space):
        stop_sweeping(connection)
        connection.pexpire(f"{space}:m-000042", 1)
        time.sleep(0.01)

    only(hit_redis(unswept, small, expire), ["m-000042"], "missing", "MR202")


def stop_sweeping(connection):
    """Let nothing be swept from here on."""
    while True:
        with contextlib.suppress(client.exceptions.BusyLoadingError):
            connection.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", "0")
            return
