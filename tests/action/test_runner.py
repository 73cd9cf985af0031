"""The image as GitHub's own runner starts it, where that differs from `act`: its flags, its folders, its network."""

import json
import os
import subprocess
import uuid

import pytest

from memregress import report_files
from memregress.testing import sets

EVENTS = {
    "pull_request": {"pull_request": {"number": 4, "head": {"sha": "h"}, "base": {"ref": "main", "sha": "b"}}},
    "merge_group": {"merge_group": {"head_sha": "h", "base_sha": "b", "base_ref": "refs/heads/main"}},
    "workflow_dispatch": {"inputs": {}},
    "push": {"ref": "refs/heads/main"},
}

pytestmark = [pytest.mark.docker, pytest.mark.store]


def docker(*words, **given):
    return subprocess.run(["docker", *words], capture_output=True, text=True, timeout=300, check=False, **given)


@pytest.fixture(scope="module")
def network():
    """The network of a job with services, and its service: without a published port, and without a health check."""
    name = f"github_network_{uuid.uuid4().hex}"
    assert docker("network", "create", name).returncode == 0
    made = docker(
        "run", "-d", "--rm", "--network", name, "--network-alias", "store", "-e", "POSTGRES_PASSWORD=throw-away-word",
        "pgvector/pgvector:pg16",
    )  # fmt: skip
    yield name
    docker("rm", "-f", "-v", made.stdout.strip())
    docker("network", "rm", name)


def run(image, folder, event, *, network=None, inputs=None, environ=None):
    """Start the image with the runner's own flags, and return the process."""
    work = folder / "workspace"
    for name in ("workspace", "temp", "home", "workflow", "commands"):
        (folder / name).mkdir(exist_ok=True)
    sets.make(work / "golden", memories=120, users=5, dimensions=8, queries=10)
    (folder / "workflow" / "event.json").write_text(json.dumps(EVENTS[event]))
    for name in ("output", "summary", "state"):
        (folder / "commands" / name).touch()
    variables = {
        "HOME": "/github/home", "GITHUB_ACTIONS": "true", "CI": "true", "GITHUB_EVENT_NAME": event,
        "GITHUB_EVENT_PATH": "/github/workflow/event.json", "GITHUB_REPOSITORY": "org/app", "GITHUB_RUN_ID": "1",
        "GITHUB_OUTPUT": "/github/file_commands/output", "GITHUB_STEP_SUMMARY": "/github/file_commands/summary",
        "GITHUB_STATE": "/github/file_commands/state", "GITHUB_WORKSPACE": "/github/workspace",
        **{f"INPUT_{name.upper()}": value for name, value in (inputs or {}).items()},
    }  # fmt: skip
    mounts = {
        "/var/run/docker.sock": "/var/run/docker.sock", folder / "temp": "/github/runner_temp",
        folder / "home": "/github/home", folder / "workflow": "/github/workflow",
        folder / "commands": "/github/file_commands", work: "/github/workspace",
    }  # fmt: skip
    words = [
        "run",
        "--name",
        f"memregress_{uuid.uuid4().hex}",
        "--label",
        "x",
        "--workdir",
        "/github/workspace",
        "--rm",
    ]
    words += [word for name in variables for word in ("-e", name)]
    words += [word for name, value in (environ or {}).items() for word in ("-e", f"{name}={value}")]
    words += ["--network", network] if network else []
    words += [word for place, there in mounts.items() for word in ("-v", f"{place}:{there}")]
    return docker(*words, image, env={**os.environ, **variables})


@pytest.mark.parametrize("event", sorted(EVENTS))
def test_a_service_by_its_name(image, network, tmp_path, event):
    """On each event the action reaches a service of the job by name, and writes outputs, summary and report."""
    done = run(
        image, tmp_path, event, network=network,
        inputs={"backend": "pgvector", "golden": "golden", "url-env": "STORE_URL"},
        environ={"STORE_URL": "postgresql://postgres:throw-away-word@store:5432/postgres"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "::add-mask::throw-away-word" in done.stdout
    assert "verdict<<" in (tmp_path / "commands" / "output").read_text()
    assert "all 120 memories" in (tmp_path / "commands" / "summary").read_text()
    assert report_files.read(tmp_path / "workspace" / "memregress-report" / "report.json").tested == 120


@pytest.mark.parametrize("services", [False, True])
def test_a_store_that_the_action_starts(image, network, tmp_path, services):
    """With services in the job and without, a store beside the action is reached, and gone afterwards."""
    mark = uuid.uuid4().hex
    done = run(
        image, tmp_path, "pull_request", network=network if services else None, environ={"MEMREGRESS_RUN": mark},
        inputs={"backend": "pgvector", "golden": "golden", "image": "pgvector/pgvector:pg16"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert docker("ps", "-aq", "--filter", f"label=org.memregress.run={mark}").stdout == ""


def test_no_socket(image, tmp_path):
    """Without Docker's socket there is one clear message with the two other ways, and the check is red."""
    done = run(
        image, tmp_path, "pull_request", inputs={"backend": "pgvector", "golden": "golden"},
        environ={"DOCKER_HOST": "unix:///nowhere.sock"},
    )  # fmt: skip
    assert done.returncode == 3
    assert "/nowhere.sock: No such file or directory" in done.stdout
    assert "give the URL of a running pgvector store" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
