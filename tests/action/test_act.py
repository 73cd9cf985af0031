"""The action end to end: its image is built and run by `act`, on real stores, for each event and each outcome."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import github_standin as standin
import pytest

from memregress.github.commenting import Marker
from memregress.golden import open as open_golden
from memregress.testing import sets

RUNNER = "catthehacker/ubuntu:act-latest"
LOST = "m-000123"

WORKFLOW = """
name: memories
on: [pull_request, merge_group, workflow_dispatch]
jobs:
  service:
    runs-on: ubuntu-latest
    container: catthehacker/ubuntu:act-latest
    services:
      store:
        image: pgvector/pgvector:pg16
        env: {POSTGRES_PASSWORD: "pa55%2Fword-of-the-store", POSTGRES_DB: app}
    steps:
      - uses: actions/checkout@v4
      - uses: org/memregress-action@v1
        id: memregress
        env: {STORE_URL: "postgresql://postgres:pa55%252Fword-of-the-store@store:5432/app"}
        with: {backend: pgvector, golden: golden, url-env: STORE_URL}
      - if: always()
        run: test "${{ steps.memregress.outputs.verdict }}" = passed
  started:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: org/memregress-action@v1
        with: {backend: pgvector, golden: golden, image: "pgvector/pgvector:pg16"}
  broken:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: org/memregress-action@v1
        with: {backend: pgvector, golden: golden, config: broken.toml, key: broken}
  systemic:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: org/memregress-action@v1
        with: {backend: faiss, golden: golden, config: systemic.toml, key: systemic}
  dead:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: org/memregress-action@v1
        with: {backend: pgvector, golden: golden, image: "debian:trixie-slim", key: dead}
  invalid:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: org/memregress-action@v1
        with: {backend: faiss, golden: invalid, key: invalid}
  misspelt:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: org/memregress-action@v1
        with: {backend: faiss, golden: golden, fail-on: regresion}
"""

SCHEMA = f"""
CREATE TABLE memories (id text PRIMARY KEY, user_id text, content text, embedding vector(16), created_at timestamptz,
                       expires_at timestamptz, metadata jsonb);
CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.embedding := NULL; RETURN NEW; END $$;
CREATE TRIGGER lose BEFORE INSERT ON memories FOR EACH ROW WHEN (NEW.id = '{LOST}') EXECUTE FUNCTION lose();
"""

pytestmark = [pytest.mark.docker, pytest.mark.store]


@pytest.fixture(scope="module")
def repository(tmp_path_factory, image):
    """A repository of a user's: its golden set, its settings, and a workflow with a job for each outcome."""
    folder = tmp_path_factory.mktemp("user") / "app"
    (folder / ".github" / "workflows").mkdir(parents=True)
    (folder / ".github" / "workflows" / "memories.yml").write_text(WORKFLOW)
    sets.make(folder / "golden", memories=300, users=10, dimensions=16, queries=20)
    shutil.copytree(folder / "golden", folder / "invalid")
    lines = (folder / "invalid" / "memories.jsonl").read_text().splitlines()
    (folder / "invalid" / "memories.jsonl").write_text("\n".join([lines[0], lines[1][:20], *lines[2:]]) + "\n")
    (folder / "schema.sql").write_text(SCHEMA)
    (folder / "broken.toml").write_text('[pgvector]\nsetup = ["schema.sql"]\n')
    (folder / "systemic.toml").write_text('[faiss]\nmetric = "l2"\n')
    identity = ["-c", "user.name=user", "-c", "user.email=user@example.com"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "memories"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def act(repository, event, github, action, *, private, jobs=()):
    """Run the workflow for an event, and return what each job printed, one object a line."""
    (repository.parent / "event.json").write_text(
        json.dumps(
            {
                "pull_request": {"number": 412, "head": {"sha": "9c1f0be"}, "base": {"ref": "main", "sha": "4e7d9a2"}},
                "merge_group": {"head_sha": "9c1f0be", "base_sha": "4e7d9a2", "base_ref": "refs/heads/main"},
                "repository": {"private": private, "full_name": "org/app"},
            }
        )
    )
    command = [
        str(Path(sys.executable).with_name("act")), event, "--eventpath", "../event.json", "--json", "--rm",
        "--pull=false", "--no-cache-server", "-P", f"ubuntu-latest={RUNNER}",
        "--env", "TESTCONTAINERS_RYUK_DISABLED=true", "--env", "DOCKER_HOST=unix:///var/run/docker.sock",
        "--env", "TESTCONTAINERS_CONNECTION_MODE=gateway_ip",
        "--env", "GITHUB_REPOSITORY=org/app", "--env", f"GITHUB_API_URL={github.url}",
        "--env", f"GITHUB_GRAPHQL_URL={github.graphql_url}", "-s", f"GITHUB_TOKEN={standin.WRITES}",
        "--local-repository", f"org/memregress-action@v1={action}",
        *(word for job in jobs for word in ("--job", job)),
    ]  # fmt: skip
    environment = {**os.environ, "HOME": str(repository.parent), "XDG_CACHE_HOME": str(repository.parent / "cache")}
    done = subprocess.run(
        command, cwd=repository, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    found = {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            entry = json.loads(line)
            found.setdefault(entry.get("jobID"), []).append(entry)
    return {job: Job(entries) for job, entries in found.items() if job}


class Job:
    """What one job said."""

    def __init__(self, entries):
        self.result = next((entry["jobResult"] for entry in entries if "jobResult" in entry), None)
        self.text = "\n".join(entry.get("msg", "") for entry in entries)
        self.outputs = {
            entry["name"]: entry.get("arg", "") for entry in entries if entry.get("command") == "set-output"
        }
        self.summary = next((entry["content"] for entry in entries if entry.get("command") == "summary"), self.text)


@pytest.fixture(scope="module")
def github():
    """A stand-in for GitHub, which the action reaches in the network of the job."""
    with standin.running() as running:
        yield running
        assert running.violations == []


@pytest.fixture(scope="module")
def pull_request(repository, github, action):
    """Every job, for a pull request to a public repository."""
    return act(repository, "pull_request", github, action, private=False)


def test_comments(pull_request, github):
    """Each red job has written its own comment, with the cause; the green ones none; the outputs say where."""
    bodies = {Marker.read(body).key: body for body in github.bodies(412)}
    assert sorted(bodies) == ["broken", "dead", "invalid", "systemic"]
    assert f"`{LOST}`" in bodies["broken"]
    assert "MR201 null-vector" in bodies["broken"]
    assert "one problem breaks 300 of 300 memories" in bodies["systemic"]
    for key in ("dead", "invalid"):
        assert "nothing was tested, so this is no pass" in bodies[key]
    assert "Order 123 is on its way" not in "".join(bodies.values())
    assert "comment-url=https://github.com/org/app/pull/412#issuecomment-" in pull_request["broken"].text


def test_the_image_is_small(image):
    """The image stays under 250 MB with every driver, and runs as root without a shell in between."""
    command = ["docker", "image", "inspect", image]
    (facts,) = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert facts["Size"] < 250e6
    assert (facts["Config"]["User"], facts["Config"]["Entrypoint"][0]) == ("", "/opt/memregress/bin/python")


@pytest.mark.parametrize("job", ["service", "started"])
def test_green(pull_request, job):
    """A healthy store, a service container or started by the action, passes; the outputs and the summary say so."""
    done = pull_request[job]
    assert done.result == "success", done.text
    assert "all 300 memories tested are still found" in done.text
    assert "::set-output:: verdict=passed" in done.text
    assert "::set-output:: tested=300" in done.text
    assert "::notice title=memregress passed::" in done.text


def test_no_secret_is_printed(pull_request):
    """The store's password is in no log, in none of its forms."""
    for done in pull_request.values():
        assert "pa55/word-of-the-store" not in done.text
        assert "url-env" not in done.text or "postgresql://postgres:pa55" not in done.text


def test_one_broken_memory(pull_request):
    """One lost vector fails the check, and is named with cause, remedy, line and a command to reproduce it."""
    done = pull_request["broken"]
    assert done.result == "failure"
    assert "1 of 300 memories is broken" in done.text
    assert f"`{LOST}`" in done.text
    assert "MR201 null-vector" in done.text
    assert "::error title=MR201 null-vector,file=golden/memories.jsonl,line=124::" in done.text
    assert f"memregress replay golden --backend pgvector --config broken.toml --only {LOST}" in done.text
    assert "::set-output:: broken=1" in done.text
    assert "::set-output:: causes=MR201" in done.text


def test_public_repositories_see_no_texts(pull_request, repository):
    """In a public repository contents and users are withheld, and it is said how to change that."""
    text = pull_request["broken"].text
    row = open_golden(repository / "golden").row_of[LOST]
    assert f"Order {row} is on its way" not in text
    assert "u_0003" not in text
    assert "texts and users are withheld" in text


def test_a_systemic_break_is_one_problem(pull_request):
    """A wrong metric is one problem with one annotation, not three hundred."""
    done = pull_request["systemic"]
    assert done.result == "failure"
    assert "one problem breaks 300 of 300 memories" in done.text
    assert done.text.count("::error title=MR102 wrong-metric") == 1


@pytest.mark.parametrize(
    ("job", "says"),
    [("dead", "died with exit code 0"), ("invalid", "memories.jsonl:2"), ("misspelt", "Did you mean 'regression'?")],
)
def test_nothing_tested_is_no_pass(pull_request, job, says):
    """A store that does not start, a damaged golden set, a misspelt input: the check is red, and says why."""
    done = pull_request[job]
    assert done.result == "failure"
    assert "nothing was tested" in done.text
    assert says in done.text
    assert "::set-output:: verdict=error" in done.text
    assert "Traceback" not in done.text


def test_private_repositories_see_texts(repository, github, action):
    """In a private repository the summary shows the beginning of the text and the user."""
    text = act(repository, "pull_request", github, action, private=True, jobs=["broken"])["broken"].text
    assert "Order 123 is on its way" in text
    assert "u_0003" in text


@pytest.mark.parametrize("event", ["merge_group", "workflow_dispatch"])
def test_other_events(repository, github, action, event):
    """A merge queue and a manual run get a verdict too."""
    assert act(repository, event, github, action, private=False, jobs=["started"])["started"].result == "success"


def test_nothing_is_left(pull_request):
    """No container of a run is left."""
    assert pull_request
    command = ["docker", "ps", "-aq", "--filter", "label=org.memregress.run"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""
