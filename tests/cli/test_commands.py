"""What each command prints, writes and returns, and what it says when something is wrong."""

import json
import resource
import shutil
import time
import xml.etree.ElementTree as ET

import jsonschema
import numpy as np
import pytest
from junitparser import JUnitXml


def test_help_is_quick_and_light(memregress):
    """Help of every command has an example, and prints without importing numpy."""
    started = time.perf_counter()
    helped = memregress("--help")
    assert helped.returncode == 0
    assert time.perf_counter() - started < 5
    for command in ("demo", "replay", "report", "schema", "golden"):
        assert command in helped.stdout
        assert "memregress" in memregress(command, "--help").stdout


def test_green_run(memregress, golden, tmp_path):
    """A healthy store: exit 0, the summary on standard output, progress on standard error, and both files."""
    done = memregress("replay", golden, "--backend", "faiss", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("✓ PASSED")
    assert "probe 200" in done.stderr
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert (report["gate"], report["tested"], report["total"], report["memories"]) == ("passed", 200, 200, [])
    assert report["counts"]["ok"] == 200
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["junit.xml", "report.json"]


def test_the_report_fits_its_schema_and_renders_again(memregress, golden, tmp_path):
    """`schema` describes what `replay` wrote, and `report` prints the same summary, JSON and JUnit from it."""
    config = tmp_path / "memregress.toml"
    config.write_text("min_similarity = 0.9\n")
    first = memregress("replay", golden, "--backend", "faiss", "--out", "out")
    assert first.returncode == 1
    path = tmp_path / "out" / "report.json"
    jsonschema.validate(json.loads(path.read_text()), json.loads(memregress("schema").stdout))
    again = memregress("report", path)
    assert (again.returncode, again.stdout) == (0, first.stdout)
    assert memregress("report", path, "--format", "json").stdout == path.read_text()
    assert memregress("report", path, "--format", "junit").stdout == (tmp_path / "out" / "junit.xml").read_text()
    broken = json.loads(path.read_text())["broken"]
    assert broken > 0
    assert JUnitXml.fromfile(str(tmp_path / "out" / "junit.xml")).failures == broken
    ET.parse(tmp_path / "out" / "junit.xml")


def test_quiet_prints_the_summary_only(memregress, golden):
    """With --quiet standard error stays empty."""
    assert memregress("replay", golden, "--backend", "faiss", "-q").stderr == ""


def test_only_and_sample(memregress, golden, tmp_path):
    """--only and --sample test what they say, and the report tells of how many."""
    memregress("replay", golden, "--backend", "faiss", "--only", "m-000007", "--only", "m-000003", "--out", "only")
    report = json.loads((tmp_path / "only" / "report.json").read_text())
    assert (report["tested"], report["total"], report["gate"]) == (2, 200, "passed")
    counts = set()
    for folder in ("one", "two"):
        memregress("replay", golden, "--backend", "faiss", "--sample", "20", "--out", folder)
        counts.add((tmp_path / folder / "report.json").read_text().count("untested"))
        assert json.loads((tmp_path / folder / "report.json").read_text())["tested"] == 20
    assert len(counts) == 1


def test_a_baseline_tells_new_breakage_from_old(memregress, golden, tmp_path):
    """What the baseline has broken already passes, what it has not fails; without one everything counts."""
    loose, tight = tmp_path / "loose.toml", tmp_path / "tight.toml"
    loose.write_text("min_similarity = 0.6\n")
    tight.write_text("min_similarity = 0.9\n")
    arguments = ("replay", golden, "--backend", "faiss")
    first = memregress(*arguments, "--config", loose, "--out", "base")
    assert first.returncode == 1
    assert "there is no baseline" in first.stdout
    base = ("--baseline", tmp_path / "base" / "report.json")
    assert memregress(*arguments, "--config", loose, *base).returncode == 0
    worse = memregress(*arguments, "--config", tight, *base, "--out", "worse")
    assert worse.returncode == 1
    assert "newly broken" in worse.stdout
    report = json.loads((tmp_path / "worse" / "report.json").read_text())
    assert 0 < report["new_broken"] < report["broken"]
    better = memregress(*arguments, "--baseline", tmp_path / "worse" / "report.json", "--out", "better")
    assert better.returncode == 0
    assert json.loads((tmp_path / "better" / "report.json").read_text())["fixed"] == report["broken"]
    assert memregress(*arguments, "--config", tight, "--fail-on", "never").returncode == 0
    assert memregress(*arguments, "--config", loose, *base, "--fail-on", "any").returncode == 1


def test_keep_and_in_place(memregress, golden, tmp_path):
    """--keep leaves the space for --in-place; without it nothing stays."""
    url = tmp_path / "store"
    assert memregress("replay", golden, "--backend", "faiss", "--url", url, "--space", "gone").returncode == 0
    assert not (url / "gone").exists()
    assert memregress("replay", golden, "--backend", "faiss", "--url", url, "--space", "kept", "--keep").returncode == 0
    before = {path: path.read_bytes() for path in (url / "kept").iterdir()}
    in_place = memregress("replay", golden, "--backend", "faiss", "--url", url, "--space", "kept", "--in-place")
    assert in_place.returncode == 0, in_place.stderr
    assert {path: path.read_bytes() for path in (url / "kept").iterdir()} == before


def damage(golden, target, how):
    shutil.copytree(golden, target)
    lines = (target / "memories.jsonl").read_text().splitlines(keepends=True)
    vectors = np.load(target / "memories.npy")
    if how == "truncated line":
        lines[4] = lines[4][:30] + "\n"
    elif how == "row count":
        lines.pop()
    elif how == "duplicate id":
        lines[4] = lines[3]
    elif how == "NaN":
        vectors[4, 2] = np.nan
    elif how == "dimension":
        vectors = vectors[:, :8]
    (target / "memories.jsonl").write_text("".join(lines))
    if how == "pickled":
        np.save(target / "memories.npy", np.array([{"a": 1}] * 200, dtype=object), allow_pickle=True)
    else:
        np.save(target / "memories.npy", vectors)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("truncated line", "memories.jsonl:5"),
        ("row count", "199"),
        ("duplicate id", "memories.jsonl:5"),
        ("NaN", "memories.npy:5"),
        ("dimension", "memories.npy"),
        ("pickled", "memories.npy"),
    ],
)
def test_a_bad_golden_set(memregress, golden, tmp_path, how, says):
    """A damaged golden set is exit 2 with file and line and a remedy, before any store is started."""
    damage(golden, tmp_path / "bad", how)
    done = memregress("replay", "bad", "--backend", "pgvector", "--url", "postgresql://localhost:1/none")
    assert done.returncode == 2
    assert says in done.stderr
    assert "what to do" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--backend", "pgvektor"), 2, "Did you mean 'pgvector'?"),
        ((), 2, "which store?"),
        (("--backend", "faiss", "--in-place"), 2, "--in-place without --url"),
        (("--backend", "faiss", "--keep"), 2, "--keep without --url"),
        (("--backend", "faiss", "--only", "m-0000007"), 2, "Did you mean 'm-000007'?"),
        (("--backend", "faiss", "--only", "m-000007", "--sample", "3"), 2, "Keep one of them"),
        (("--backend", "faiss", "--sample", "0"), 2, "--sample"),
        (("--backend", "faiss", "--fail-on", "sometimes"), 2, "regression"),
        (("--backend", "faiss", "--space", "a/b"), 2, "cannot name a space"),
        (("--backend", "faiss", "--baseline", "none.json"), 2, "none.json"),
        (("--backend", "faiss", "--config", "none.toml"), 2, "none.toml"),
        (("--backend", "faiss", "--image", "redis"), 2, "does not run in a container"),
        (("--backend", "pgvector", "--embedded", "--image", "x"), 2, "one place"),
        (("--backend", "pgvector", "--url", "postgresql://u:s3cret@localhost:1/x"), 3, "no connection to PostgreSQL"),
        (("--backend", "faiss", "--url", "/nowhere/there", "--in-place", "--space", "s"), 3, "no FAISS index"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_is_wrong_is_said(memregress, golden, arguments, code, says):
    """Every mistake is one message with a remedy and the right exit code, and no secret is printed."""
    done = memregress("replay", golden, *arguments)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert "s3cret" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fail_onn = 'any'", "Did you mean 'fail_on'?"),
        ("fail_on = 'sometimes'", "fail_on"),
        ("[faiss]\nindex = 'flatt'", "index"),
        ("[faiss]\nef_serach = 3", "Did you mean 'ef_search'?"),
        ("backend = ", "memregress.toml"),
        ("[qdrant]\n", "qdrant"),
    ],
)
def test_bad_settings(memregress, golden, tmp_path, text, says):
    """A wrong key or value of memregress.toml is named, with what it could have been."""
    (tmp_path / "memregress.toml").write_text(text)
    done = memregress("replay", golden, "--backend", "faiss")
    assert (done.returncode, says in done.stderr) == (2, True), done.stderr


def test_a_report_that_is_none(memregress, tmp_path):
    """A file that is no report is exit 2 and says which field."""
    (tmp_path / "report.json").write_text('{"schema": 1}')
    done = memregress("report", "report.json")
    assert (done.returncode, "no report" in done.stderr) == (2, True)


def test_a_full_disk(memregress, golden, tmp_path):
    """Where the report cannot be written, exit 4 says so, the summary has not been lost, and no half file stays."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))

    done = memregress("replay", golden, "--backend", "faiss", "--out", "out", limit=limit)
    assert done.returncode == 4
    assert "could not be written" in done.stderr
    assert done.stdout.startswith("✓ PASSED")
    assert list((tmp_path / "out").iterdir()) == []


def test_output_pipes(memregress, golden):
    """In a pipe there are no escape sequences, and lines have no trailing spaces."""
    text = memregress("replay", golden, "--backend", "faiss").stdout
    assert "\x1b" not in text
    assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.store
def test_a_table_that_exists_already(memregress, golden, embedded_pgvector):
    """A space that is there already is exit 2, and stays as it was."""
    arguments = ("replay", golden, "--backend", "pgvector", "--space", "taken")
    environment = {"MEMREGRESS_URL": embedded_pgvector}
    assert memregress(*arguments, "--keep", environment=environment).returncode == 0
    done = memregress(*arguments, environment=environment)
    assert (done.returncode, "exists already" in done.stderr) == (2, True)
    assert memregress(*arguments, "--in-place", environment=environment).returncode == 0


@pytest.mark.store
def test_the_demo(memregress):
    """The demo names the one lost memory, its cause and its remedy, and exits with 0."""
    done = memregress("demo")
    assert done.returncode == 0, done.stderr
    assert "20 of 20 found" in done.stdout
    assert "1 of 3,158 memories is broken" in done.stdout
    assert "MR201" in done.stdout
