"""Redis Cluster, of real servers on loopback: one node is a server like any other, three are refused in words."""

import contextlib
import signal
import socket
import subprocess
import time

import numpy as np
import pytest
import redis as client
from redis import exceptions

from memregress import errors, instances, pipeline
from memregress.backends import redis, registry
from memregress.testing import sets

pytestmark = pytest.mark.store


def free_port():
    """One whose neighbour 10,000 further on, which nodes talk over, is free as well."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as one:
            port = one.getsockname()[1]
            if port > 55_000:
                continue
            with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port + 10_000)):
                return port


@contextlib.contextmanager
def cluster(folder, size):
    """The ports of nodes that share all slots."""
    program, modules = registry.find("redis").load_server()._programs()  # noqa: SLF001
    with contextlib.ExitStack() as stack:
        ports = [free_port() for _ in range(size)]
        for port in ports:
            (folder / str(port)).mkdir()
            command = [
                program, "--port", str(port), "--bind", "127.0.0.1", "--dir", folder / str(port), "--save", "",
                "--cluster-enabled", "yes", *(word for module in modules for word in ("--loadmodule", module)),
            ]  # fmt: skip
            process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.DEVNULL))
            stack.callback(process.send_signal, signal.SIGTERM)
        nodes = [stack.enter_context(contextlib.closing(client.Redis(port=port))) for port in ports]
        for node in nodes:
            wait(node.ping)
        for number, node in enumerate(nodes):
            node.execute_command("CLUSTER", "ADDSLOTSRANGE", 16384 * number // size, 16384 * (number + 1) // size - 1)
            node.execute_command("CLUSTER", "MEET", "127.0.0.1", ports[0])
        for node in nodes:
            wait(lambda node=node: f"cluster_known_nodes:{size}" in state(node) and "cluster_state:ok" in state(node))
        yield ports


def state(node):
    answer = node.execute_command("CLUSTER", "INFO")
    return answer.decode() if isinstance(answer, bytes) else str(answer)


def wait(ready):
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with contextlib.suppress(exceptions.RedisError):
            if ready():
                return
        time.sleep(0.05)
    raise TimeoutError


def check(golden, url, **given):
    entry = registry.find("redis")
    return pipeline.check(
        pipeline.Request(golden=golden.path, target=instances.choose(entry, url=url), options=redis.Options(), **given),
        progress=lambda _: None,
    )


@pytest.fixture
def golden(tmp_path):
    return sets.make(tmp_path / "golden", memories=300)


def test_three_nodes_are_refused(tmp_path, golden):
    """No node's search engine sees the others' keys, so that nothing is loaded and nothing judged."""
    with cluster(tmp_path, 3) as ports:
        nodes = [client.Redis(port=port, protocol=3) for port in ports]
        for port, scheme in zip(ports, ("redis", "redis+cluster", "redis"), strict=True):
            with pytest.raises(errors.BackendUnavailable, match="one of 3 nodes that share the keys") as caught:
                check(golden, f"{scheme}://127.0.0.1:{port}/0")
            assert "coordinator" in caught.value.remedy
        assert [node.dbsize() for node in nodes] == [0, 0, 0]
        assert seen_by_one(nodes) < 30  # what is said of the search engine is so
        for node in nodes:
            node.close()


def seen_by_one(nodes):
    """How many of 30 documents, spread over the nodes, the only index that can be made finds."""
    schema = ("t", "TAG", "v", "VECTOR", "FLAT", 6, "TYPE", "FLOAT32", "DIM", 2, "DISTANCE_METRIC", "L2")
    index = "x"
    makers = []
    for node in nodes:
        with contextlib.suppress(exceptions.MovedError):
            node.execute_command("FT.CREATE", index, "PREFIX", 1, "x:", "SCHEMA", *schema)
            makers.append(node)
        for number in range(30):
            with contextlib.suppress(exceptions.MovedError):
                node.hset(f"x:{number}", mapping={"t": "a", "v": np.array([number, 0], "<f4").tobytes()})
    (maker,) = makers
    assert sum(node.dbsize() for node in nodes) == 30
    return maker.execute_command("FT.SEARCH", index, "*", "LIMIT", 0, 0)[b"total_results"]


def test_a_cluster_of_one_node(tmp_path, golden):
    """It has all keys, and is filled, searched and cleaned up like any server."""
    with cluster(tmp_path, 1) as (port,):
        report = check(golden, f"redis+cluster://127.0.0.1:{port}/0")
        assert report.gate == "passed"
        assert report.tested == 300
        with contextlib.closing(client.Redis(port=port)) as node:
            assert node.dbsize() == 0
            assert node.execute_command("FT._LIST") == []
