"""The reusable workflow under `act`: legs on real containers, one verdict, one comment on a stand-in for GitHub.

What keeps artifacts and fetches another commit is GitHub's own and not to be had here; actions of a few lines stand in
for it, with a folder.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import github_standin as standin
import pytest

from memregress.github.commenting import Marker
from memregress.testing import sets

ROOT = Path(__file__).parents[2]
RUNNER = "catthehacker/ubuntu:act-latest"
HEAD, BASE = "9c1f0be" + "0" * 33, "4e7d9a2" + "0" * 33

pytestmark = [pytest.mark.docker, pytest.mark.store]

CALLER = """
name: memories
on: [pull_request]
jobs:
  memregress:
    uses: ./.github/workflows/memregress.yml
    with: {golden: golden, backends: "pgvector, faiss", config: memregress.toml}
"""
STEP = "name: x\ninputs: {{{inputs}}}\nruns:\n  using: composite\n  steps:\n    - shell: bash\n      run: {run}\n"
STANDINS = {
    "actions/upload-artifact": (
        "name: {}, path: {}, overwrite: {}, if-no-files-found: {}",
        "rm -rf '/artifacts/${{ inputs.name }}'; cp -r '${{ inputs.path }}' '/artifacts/${{ inputs.name }}'",
    ),
    "actions/download-artifact": (
        "pattern: {}, path: {}",
        "mkdir -p '${{ inputs.path }}'; cp -r /artifacts/${{ inputs.pattern }} '${{ inputs.path }}'",
    ),
    "actions/checkout": (
        "persist-credentials: {}, ref: {}, path: {}, sparse-checkout: {}",
        "mkdir -p '${{ inputs.path }}'; cp -r /artifacts/base/golden '${{ inputs.path }}'",
    ),
}


@pytest.fixture
def repository(tmp_path, image):
    """A repository of a user's that calls the reusable workflow."""
    folder = tmp_path / "app"
    workflows = folder / ".github" / "workflows"
    workflows.mkdir(parents=True)
    shutil.copy(ROOT / ".github" / "workflows" / "memregress.yml", workflows)
    (workflows / "memories.yml").write_text(CALLER)
    sets.make(folder / "golden", memories=200, users=10, dimensions=16, queries=20)
    sets.make(tmp_path / "artifacts" / "base" / "golden", memories=201, users=10, dimensions=16, queries=20)
    (folder / "memregress.toml").write_text('fail_on = "any"\n')
    return folder


def act(repository, github, action):
    """Run the workflow, and return each job's result by name, and the log."""
    identity = ["-c", "user.name=user", "-c", "user.email=user@example.com"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "memories"]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    (repository.parent / "event.json").write_text(
        json.dumps(
            {
                "pull_request": {
                    "number": 412,
                    "head": {"sha": HEAD, "repo": {"full_name": "org/app"}},
                    "base": {"ref": "main", "sha": BASE},
                },
                "repository": {"private": False, "full_name": "org/app"},
            }
        )
    )
    artifacts = repository.parent / "artifacts"
    pins = re.findall(r"uses: (actions/[\w-]+)@(\w+)", (ROOT / ".github" / "workflows" / "memregress.yml").read_text())
    local = []
    for name, pin in sorted(set(pins)):
        folder = repository.parent / name
        folder.mkdir(parents=True, exist_ok=True)
        inputs, run = STANDINS[name]
        (folder / "action.yml").write_text(STEP.format(inputs=inputs, run=json.dumps(run)))
        local += ["--local-repository", f"{name}@{pin}={folder}"]
    command = [
        str(Path(sys.executable).with_name("act")), "pull_request", "-W", ".github/workflows/memories.yml",
        "--eventpath", "../event.json", "--json", "--rm", "--pull=false", "--no-cache-server",
        "-P", f"ubuntu-latest={RUNNER}", "--container-options", f"-v {artifacts}:/artifacts",
        "--env", "TESTCONTAINERS_RYUK_DISABLED=true", "--env", "DOCKER_HOST=unix:///var/run/docker.sock",
        "--env", "TESTCONTAINERS_CONNECTION_MODE=gateway_ip", "--env", "GITHUB_REPOSITORY=org/app",
        "--env", f"GITHUB_API_URL={github.url}", "--env", f"GITHUB_GRAPHQL_URL={github.graphql_url}",
        "-s", f"GITHUB_TOKEN={standin.WRITES}", "--local-repository", f"org/memregress-action@v1={action}", *local,
    ]  # fmt: skip
    environment = {**os.environ, "HOME": str(repository.parent), "XDG_CACHE_HOME": str(repository.parent / "cache")}
    done = subprocess.run(
        command, cwd=repository, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    entries = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    results = {entry["job"]: entry["jobResult"] for entry in entries if "jobResult" in entry}
    return results, "\n".join(entry.get("msg", "") for entry in entries) + done.stderr


def verdict(results):
    """The result of the one required check."""
    (found,) = [result for name, result in results.items() if "verdict" in name]
    return found


def test_one_store_is_broken(repository, github_, action):
    """The broken store is named, the whole check is red, and one comment has both stores and the removed memory."""
    (repository / "memregress.toml").write_text('[faiss]\nmetric = "l2"\n')
    results, log = act(repository, github_, action)
    assert verdict(results) == "failure", log
    (body,) = github_.bodies(412)
    assert "1 of 2 stores broken by this pull request" in body, log
    assert "MR102 wrong-metric" in body
    assert "2 stores expected, 2 reported" in body
    assert "1 memory removed" in body
    assert Marker.read(body).state == "red"
    assert "comment-url=https://github.com/org/app/pull/412#issuecomment-" in log


def test_a_leg_that_is_lost(repository, github_, action):
    """A leg that leaves nothing makes the verdict red, and is named, though every other leg is green."""
    workflow = repository / ".github" / "workflows" / "memregress.yml"
    text = workflow.read_text()
    lost = "      - if: matrix.backend == 'pgvector'\n        run: exit 7\n      - uses: org/memregress-action@v1\n"
    workflow.write_text(text.replace("      - uses: org/memregress-action@v1\n", lost, 1))
    results, log = act(repository, github_, action)
    assert verdict(results) == "failure", log
    (body,) = github_.bodies(412)
    assert "1 of 2 stores not tested, so this is no pass" in body
    assert "no result: its job failed before memregress ran" in body


@pytest.fixture
def github_():
    with standin.running() as running:
        yield running
        assert running.violations == []
