"""The actions against a stand-in for GitHub: which comment, which baseline, and no green without evidence."""

import json
import os
import subprocess
import sys

import github_standin as standin
import pytest
import situations
from github_standin import READS, WRITES

from memregress import report_files
from memregress.github.commenting import Marker
from memregress.testing import sets

HEAD, BASE, OLDER = "9c1f0be" + "0" * 33, "4e7d9a2" + "0" * 33, "0123abc" + "0" * 33
ACTION = "import os, sys; from memregress import action; sys.exit(action.main(os.environ))"
PUBLISH = "import os, sys; from memregress import publish; sys.exit(publish.main(os.environ))"


@pytest.fixture
def github():
    with standin.running() as running:
        running.commits = [BASE, "f" * 40, OLDER]
        yield running
        assert running.violations == []


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    return sets.make(tmp_path_factory.mktemp("set") / "golden", memories=120, users=5, dimensions=8, queries=10).path


class Done:
    """What a run of an action said and wrote."""

    def __init__(self, process, folder):
        self.code, self.log = process.returncode, process.stdout + process.stderr
        self.summary = (folder / "summary").read_text() if (folder / "summary").exists() else ""
        text = (folder / "output").read_text() if (folder / "output").exists() else ""
        lines = text.splitlines()
        self.outputs = {one.split("<<")[0]: lines[at + 1] for at, one in enumerate(lines) if "<<memregress_" in one}


def run(program, folder, github, event=None, *, name="pull_request", run_id=100, token=WRITES, check=True, **inputs):
    """Run an action as the runner does, in a process of its own; `check` that it has no fault of its own."""
    change = {
        "number": 412,
        "head": {"sha": HEAD, "repo": {"full_name": "org/app"}},
        "base": {"ref": "main", "sha": BASE},
    }
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "output").unlink(missing_ok=True)
    (folder / "event.json").write_text(json.dumps(event or {"pull_request": change, "repository": {"private": True}}))
    environ = {
        "GITHUB_API_URL": github.url, "GITHUB_GRAPHQL_URL": github.graphql_url, "GITHUB_REPOSITORY": "org/app",
        "GITHUB_SERVER_URL": "https://github.com", "GITHUB_EVENT_NAME": name, "GITHUB_RUN_ID": str(run_id),
        "GITHUB_EVENT_PATH": str(folder / "event.json"), "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"), "INPUT_GITHUB-TOKEN": token,
        **{f"INPUT_{key.replace('_', '-').upper()}": str(value) for key, value in inputs.items()},
    }  # fmt: skip
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GITHUB_", "INPUT_"))}
    process = subprocess.run(
        [sys.executable, "-c", program], env=kept | environ, cwd=folder, capture_output=True, text=True, timeout=100,
        check=False,
    )  # fmt: skip
    assert not check or "Traceback" not in process.stderr
    return Done(process, folder)


def replay(folder, github, golden, **given):
    return run(ACTION, folder, github, **{"backend": "faiss", "golden": golden, **given})


def broken(folder):
    """Settings under which everything is broken."""
    folder.mkdir(exist_ok=True)
    path = folder / "broken.toml"
    path.write_text('[faiss]\nmetric = "l2"\n')
    return path


def test_green_red_green(tmp_path, github, golden):
    """Nothing is said while green; a red run comments, with the URL as an output; the next green one edits that."""
    done = replay(tmp_path, github, golden)
    assert (done.code, done.outputs["comment-url"], github.bodies(412)) == (0, "", [])
    done = replay(tmp_path, github, golden, config=broken(tmp_path), run_id=101)
    assert done.code == 1
    assert done.outputs["comment-url"].startswith("https://github.com/org/app/pull/412#issuecomment-")
    (body,) = github.bodies(412)
    assert "MR102 wrong-metric" in body
    assert Marker.read(body).key == "faiss"
    assert "updated for 9c1f0be" in body
    done = replay(tmp_path, github, golden, run_id=102)
    assert done.code == 0
    (body,) = github.bodies(412)
    assert "✅ memregress: all 120 memories" in body


def test_a_token_that_may_only_read(tmp_path, github, golden):
    """The verdict stands, the log has the permissions to give, and for a fork the way that works."""
    done = replay(tmp_path, github, golden, config=broken(tmp_path), token=READS)
    assert (done.code, github.bodies(412)) == (1, [])
    assert "the comment is not posted" in done.log
    assert "pull-requests: write" in done.log
    change = {"number": 412, "head": {"sha": HEAD, "repo": {"full_name": "stranger/app"}}, "base": {"ref": "main"}}
    done = replay(tmp_path, github, golden, config=broken(tmp_path), token=READS, event={"pull_request": change})
    assert done.code == 1
    assert "comes from a fork" in done.log


def test_github_is_down(tmp_path, github, golden):
    """A green check stays green, a red one red, and the summary is there."""
    github.fail_first("GET", "comments", 403, "rate limit", **{"Retry-After": "3600"})
    github.fail_first("GET", "comments", 403, "rate limit", **{"Retry-After": "3600"})
    assert replay(tmp_path, github, golden).code == 0
    done = replay(tmp_path, github, golden, config=broken(tmp_path))
    assert done.code == 1
    assert "MR102" in done.summary


@pytest.mark.parametrize("event", ["push", "merge_group", "workflow_dispatch"])
def test_events_without_a_pull_request(tmp_path, github, golden, event):
    """A verdict, no comment, and no call that a comment would need."""
    done = replay(tmp_path, github, golden, name=event, event={"ref": "main"}, config=broken(tmp_path))
    assert done.code == 1
    assert [call for call in github.calls if "comments" in call] == []


def recorded(tmp_path, github, golden, sha, *, config=None, name="memregress-faiss", **given):
    """The base branch's run: its report, as an artifact."""
    extra = {"config": config} if config else {}
    done = replay(tmp_path / "base", github, golden, name="push", event={"ref": "main"}, fail_on="never", **extra)
    assert done.code == 0
    data = (tmp_path / "base" / "memregress-report" / "report.json").read_bytes()
    github.artifact(name, sha, {"report.json": data, "junit.xml": b"<x/>"}, **given)


@pytest.mark.parametrize(("sha", "kind"), [(BASE, "exact"), (OLDER, "ancestor")])
def test_baseline_of_the_base_branch(tmp_path, github, golden, sha, kind):
    """What was broken on the base branch already passes; it is said which report that is."""
    recorded(tmp_path, github, golden, sha, config=broken(tmp_path))
    done = replay(tmp_path, github, golden, config=broken(tmp_path))
    assert (done.code, done.outputs["new-broken"]) == (0, "0")
    document = report_files.read(tmp_path / "memregress-report" / "report.json")
    assert (document.baseline.kind, document.baseline.name) == (kind, f"main@{sha[:7]}")
    assert f"main@{sha[:7]}" in done.summary
    assert ("nearest ancestor" in done.summary) is (kind == "ancestor")


def test_the_base_run_that_tested_nothing_is_passed_over(tmp_path, github, golden):
    """Where the base commit's own run could not start its store, or tested nothing, the nearest ancestor's counts."""
    recorded(tmp_path, github, golden, OLDER, config=broken(tmp_path))
    github.artifact("memregress-faiss", "f" * 40, {"report.json": report_files.encode(situations.document(tested=0))})
    github.artifact("memregress-faiss", BASE, {"failure.json": b"{}"})
    done = replay(tmp_path, github, golden, config=broken(tmp_path))
    assert (done.code, done.outputs["new-broken"]) == (0, "0")
    assert report_files.read(tmp_path / "memregress-report" / "report.json").baseline.name == f"main@{OLDER[:7]}"


def test_many_artifacts_of_pull_requests(tmp_path, github, golden):
    """The base branch's report is found behind those of many pull requests, which go by the same name."""
    recorded(tmp_path, github, golden, BASE, config=broken(tmp_path))
    for number in range(250):
        github.artifact("memregress-faiss", f"{number:040x}", {"report.json": b"{}"}, branch=f"feature-{number}")
    done = replay(tmp_path, github, golden, config=broken(tmp_path))
    assert (done.code, done.outputs["new-broken"]) == (0, "0")


@pytest.mark.parametrize(
    "given",
    [{"fork": True}, {"branch": "feature"}, {"expired": True}, {"name": "memregress-other"}],
    ids=lambda given: next(iter(given)),
)
def test_what_is_no_baseline(tmp_path, github, golden, given):
    """A fork's artifact, another branch's, another store's, one that is gone: everything counts, and that is said."""
    recorded(tmp_path, github, golden, BASE, config=broken(tmp_path), **given)
    done = replay(tmp_path, github, golden, config=broken(tmp_path))
    assert (done.code, done.outputs["new-broken"]) == (1, "")
    assert "Judged absolutely" in done.summary


@pytest.mark.parametrize(
    "files", [{"other": b""}, {"report.json": b"{}"}, {"../report.json": b"{}"}, {"report.json": b"[" * 100_000}]
)
def test_a_damaged_baseline(tmp_path, github, golden, files):
    """It is named, everything counts, and nothing is unpacked."""
    github.artifact("memregress-faiss", BASE, files)
    done = replay(tmp_path, github, golden, config=broken(tmp_path))
    assert done.code == 1
    assert "::warning title=memregress%3A no baseline" in done.log


def test_no_permission_to_look_for_a_baseline(tmp_path, github, golden):
    """It is said which permission is missing; the check goes on without."""
    github.fail_first("GET", "artifacts", 403, "Resource not accessible by integration")
    done = replay(tmp_path, github, golden)
    assert done.code == 0
    assert "actions: read" in done.log


def test_a_golden_set_that_the_change_loosens(tmp_path, github, golden):
    """A green run comments if the change asks for less than before."""
    base = sets.make(tmp_path / "before", memories=121, users=5, dimensions=8, queries=10).path
    done = replay(tmp_path, github, golden, golden_base=base)
    assert done.code == 0
    (body,) = github.bodies(412)
    assert "The golden set itself is changed" in body
    assert "1 memory removed" in body
    assert Marker.read(body).state == "warn"


def test_a_fault_of_our_own_is_no_finding(tmp_path, github, golden):
    """It ends as a failure, with the code of one, in the summary, the outputs and the log."""
    faulty = (
        "import os, sys; from memregress import action, replaying\n"
        "def replay(*_, **__): raise RuntimeError('::error::boom')\n"
        "replaying.replay = replay; sys.exit(action.main(os.environ))"
    )
    done = run(faulty, tmp_path, github, check=False, backend="faiss", golden=golden)
    assert (done.code, done.outputs["verdict"]) == (3, "error")
    assert "memregress itself failed: RuntimeError" in done.summary
    assert "nothing was tested" in github.bodies(412)[0]


def test_a_fault_of_the_command_line_is_no_finding(tmp_path, golden):
    """The same without GitHub: code 3, what failed, and what to do."""
    faulty = (
        "import sys; from memregress import cli, replaying\n"
        "def replay(*_, **__): raise RuntimeError('boom')\n"
        "replaying.replay = replay; sys.argv = ['memregress', 'replay', sys.argv[1], '--backend', 'faiss']; cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", faulty, golden], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "memregress itself failed: RuntimeError" in done.stderr
    assert "what to do" in done.stderr


def test_an_empty_golden_set_is_no_pass(tmp_path, github):
    """Where there is nothing to test, the check is red, and says so."""
    empty = sets.make(tmp_path / "empty", memories=1, users=1, dimensions=8, queries=0).path
    (empty / "memories.jsonl").write_bytes(b"")
    done = replay(tmp_path, github, empty)
    assert done.code in (2, 3)
    assert done.outputs["verdict"] == "error"
    assert "so this is no pass" in done.summary


# the action `publish`


def legs(folder, **outcomes):
    """Folders as actions/download-artifact makes them; None leaves one out."""
    for name, outcome in outcomes.items():
        place = folder / "memregress-reports" / f"memregress-{name}"
        place.mkdir(parents=True)
        if isinstance(outcome, bytes):
            (place / "report.json").write_bytes(outcome)
        elif type(outcome).__name__ == "Failure":
            (place / "failure.json").write_bytes(report_files.encode_failure(outcome))
        else:
            (place / "report.json").write_bytes(report_files.encode(outcome))


def test_several_stores(tmp_path, github):
    """One comment, one verdict: red for one broken store, and for one that left nothing."""
    legs(tmp_path, pgvector=situations.null_vector(), faiss=situations.document(backend="faiss"))
    done = run(PUBLISH, tmp_path, github, legs='["pgvector", "faiss", "lost"]')
    assert (done.code, done.outputs["verdict"], done.outputs["broken"]) == (1, "failed", "1")
    (body,) = github.bodies(412)
    assert "1 of 3 stores broken by this pull request; 1 of 3 stores not tested" in body
    assert Marker.read(body).key == "default"


GREEN = situations.document()


@pytest.mark.parametrize(
    ("names", "outcomes", "code"),
    [
        ("one", {"one": GREEN}, 0),
        ("one, two", {"one": GREEN}, 3),
        ("one", {}, 3),
        ("one", {"other": GREEN}, 3),
        ("one", {"one": situations.no_store()}, 3),
        ("one", {"one": situations.document(tested=0)}, 3),
        ("one", {"one": b"{}"}, 2),
        ("one", {"one": b""}, 2),
        ("one", {"one": b"[" * 200_000}, 2),
        ("", {"one": GREEN}, 2),
        ("[]", {"one": GREEN}, 2),
        ("one one", {"one": GREEN}, 2),
        ("../one", {"one": GREEN}, 2),
        ("one two", {"one": GREEN, "two": situations.null_vector()}, 1),
    ],
)
def test_never_green_when_nothing_was_tested(tmp_path, github, names, outcomes, code):
    """Each way in which a leg can prove nothing makes the required check red."""
    legs(tmp_path, **outcomes)
    done = run(PUBLISH, tmp_path, github, legs=names)
    assert done.code == code
    assert done.outputs["verdict"] == {0: "passed", 1: "failed"}.get(code, "error")


def triggered(**head):
    made = {
        "id": 17_733, "run_attempt": 2, "head_sha": HEAD, "head_branch": "feature", "pull_requests": [],
        "head_repository": {"full_name": "stranger/app", "owner": {"login": "stranger"}}, **head,
    }  # fmt: skip
    return {"workflow_run": made, "repository": {"private": False}}


def opened(github, number, sha=HEAD, repository="stranger/app"):
    head = {"label": "stranger:feature", "sha": sha, "repo": {"full_name": repository}}
    github.pulls.append({"number": number, "head": head})


def test_a_fork_is_published_by_a_trusted_workflow(tmp_path, github):
    """The pull request is looked up by owner, branch and commit; an older one of that branch is not taken for it."""
    opened(github, 7, sha="0" * 40)
    opened(github, 8, repository="stranger/other")
    github.pulls.append({"number": 6, "head": {"label": "stranger:feature", "sha": HEAD, "repo": None}})
    opened(github, 9)
    legs(tmp_path, pgvector=situations.null_vector())
    done = run(PUBLISH, tmp_path, github, name="workflow_run", event=triggered(), legs="pgvector")
    assert (done.code, done.outputs["verdict"]) == (0, "failed")
    assert (github.bodies(7), github.bodies(8)) == ([], [])
    (body,) = github.bodies(9)
    assert (Marker.read(body).run, Marker.read(body).attempt) == (17_733, 2)
    assert "penicillin" not in body
    assert "actions/runs/17733" in body


def test_a_fork_without_a_pull_request(tmp_path, github):
    """No comment anywhere."""
    opened(github, 7, sha="0" * 40)
    legs(tmp_path, pgvector=situations.null_vector())
    done = run(PUBLISH, tmp_path, github, name="workflow_run", event=triggered(), legs="pgvector")
    assert done.outputs["verdict"] == "failed"
    assert github.comments == []
    assert "no open pull request" in done.log
