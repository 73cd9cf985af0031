"""The action's inputs, its log commands, its context and its summary, piece by piece."""

import json
import os
import re
import subprocess
import sys

import cmarkgfm
import msgspec
import pytest
import situations
from hypothesis import given, settings
from hypothesis import strategies as st

from memregress import errors, inputs, report_files
from memregress.github import commands
from memregress.github.context import Context
from memregress.render import gfm

HOSTILE = [
    "@octocat #1 https://example.com",
    "![](https://example.com/beacon.png)",
    "</details></td></table><script>alert(1)</script>",
    "a | b | c",
    "``` ` `` \n```\n# heading",
    "<!-- memregress:v1 key=default -->",
    "::error::boom\n::set-output name=verdict::passed",
    "\u202egnp.exe\u200b\x1b[31m",
    "%0A::stop-commands::x",
    "",
    "   ",
    "`",
    "\\|",
]


def test_inputs_with_and_without_dashes():
    """Both spellings of a name are read, spaces around a value are not part of it, an empty one is not given."""
    dashed = inputs.read({"INPUT_BACKEND": "faiss", "INPUT_GOLDEN": " golden ", "INPUT_FAIL-ON": "any"})
    scored = inputs.read({"INPUT_BACKEND": "faiss", "INPUT_GOLDEN": "golden", "INPUT_FAIL_ON": "any", "INPUT_OUT": ""})
    assert dashed == scored
    assert (dashed.fail_on, dashed.out) == ("any", "memregress-report")


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({"INPUT_GOLDEN": "g"}, "backend is missing"),
        ({"INPUT_BACKEND": "faiss"}, "golden is missing"),
        ({"INPUT_BACKEND": "faiss", "INPUT_GOLDEN": "g", "INPUT_FAIL-ON": "anny"}, "Did you mean 'any'?"),
        ({"INPUT_BACKEND": "faiss", "INPUT_GOLDEN": "g", "INPUT_SNIPPETS": "all"}, "auto, full, none"),
        ({"INPUT_BACKEND": "faiss", "INPUT_GOLDEN": "g", "INPUT_URL-ENV": "NONE"}, "variable NONE"),
        ({"INPUT_BACKEND": "faiss", "INPUT_GOLDEN": "g", "INPUT_URL-ENV": "redis://:pw@h"}, "inputs are logged"),
    ],
)
def test_wrong_inputs(environ, says):
    """Each mistake is named with its remedy, and a URL given by mistake is not repeated."""
    with pytest.raises(errors.ConfigError) as caught:
        inputs.read(environ)
    assert says in str(caught.value)
    assert "pw@h" not in str(caught.value)


def test_the_url_comes_from_the_variable_it_names():
    """A secret goes by the name of its variable, and is in no representation of the inputs."""
    environ = {"INPUT_BACKEND": "pgvector", "INPUT_GOLDEN": "g", "INPUT_URL-ENV": "URL", "URL": "postgresql://s3cret"}
    assert inputs.read(environ).url == "postgresql://s3cret"
    assert "s3cret" not in repr(inputs.read(environ))


def test_masks():
    """A password is masked whole, encoded and decoded; a throw-away one is not, or its word would vanish everywhere."""
    lines = commands.masks("postgresql://u:long%20pass@h/db")
    assert "::add-mask::long pass" in lines
    assert "::add-mask::long%2520pass" in lines
    assert commands.masks("postgresql://u:postgres@h/db") == []
    assert commands.masks("postgresql://u@h/db") == []


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_no_text_becomes_a_command(text):
    """Whatever a message holds, its annotation is one line, and begins with ours."""
    line = commands.annotation("error", text, title=text, file=text)
    assert line.startswith("::error title=")
    assert "\n" not in line
    assert "\r" not in line


def test_values_cannot_end_their_own_delimiter(tmp_path):
    """A value of many lines is read back as one value, whatever is in it."""
    path = tmp_path / "output"
    commands.write_value(path, "causes", "a\nEOF\nverdict=passed")
    name, delimiter = path.read_text().splitlines()[0].split("<<")
    assert (name, path.read_text().count(delimiter)) == ("causes", 2)


def cells(text):
    """The cells of the second row of a table that holds a text, as GitHub parses it."""
    page = cmarkgfm.github_flavored_markdown_to_html(f"| a | b |\n| --- | --- |\n| {gfm.code(text)} | end |\n")
    return re.findall(r"<td>(.*?)</td>", page, re.DOTALL)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_in_its_cell(text):
    """One code span in one cell: no element, no link, no mention, no second row."""
    first, second = cells(text)
    assert second == "end"
    assert re.fullmatch(r"<code>[^<]*</code>", first)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=80))
def test_any_text_stays_in_its_cell(text):
    """The same for three hundred texts nobody thought of."""
    first, second = cells(text)
    assert second == "end"
    assert re.fullmatch(r"<code>[^<]*</code>", first)


def test_context_of_events(tmp_path):
    """A pull request has a number, a merge group has none but a base; a repository that does not say is public."""
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7, "head": {"sha": "h"}}, "repository": {"private": True}}))
    pull = Context.read({"GITHUB_EVENT_PATH": str(event), "GITHUB_EVENT_NAME": "pull_request"})
    assert (pull.pull_request, pull.head_sha, pull.private) == (7, "h", True)
    event.write_text(json.dumps({"merge_group": {"head_sha": "m", "base_ref": "refs/heads/main"}}))
    merge = Context.read({"GITHUB_EVENT_PATH": str(event), "GITHUB_EVENT_NAME": "merge_group"})
    assert (merge.pull_request, merge.head_sha, merge.base_ref, merge.private) == (None, "m", "main", False)


def test_untrusted_code_is_refused(tmp_path):
    """Under pull_request_target nothing runs unless the workflow says that it knows."""
    environ = {
        "GITHUB_EVENT_NAME": "pull_request_target",
        "INPUT_BACKEND": "faiss",
        "INPUT_GOLDEN": "nowhere",
        "INPUT_OUT": str(tmp_path / "out"),
    }
    program = "import os, sys; from memregress import action; sys.exit(action.main(os.environ))"
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **environ}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "does not run on pull_request_target" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "report.json"],
        ["golden", "validate", "no\n::error::such"],
        ["golden", "show", "golden", "::error::x"],
        ["golden", "diff", "golden", "other"],
    ],
)
def test_the_command_line_cannot_steer_a_runner(tmp_path, arguments):
    """In a job the command line's own output is text to the runner, on both streams, and the silence ends."""
    memory = msgspec.structs.replace(
        situations.null_vector().memories[0], id="::error::x", snippet="##[add-mask]e", file="::error::y"
    )
    document = situations.document([memory], [situations.cause("::error::z", "n", 1, ["::error::w"], "::error::v")])
    (tmp_path / "report.json").write_bytes(report_files.encode(document))
    for name, ids in (("golden", ["::error::x", "##[add-mask]y"]), ("other", ["::error::x"])):
        memories = [{"id": id_, "content": "::error::content", "vector": [1.0, 2.0]} for id_ in ids]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(memory) + "\n" for memory in memories))
        importing = [sys.executable, "-m", "memregress", "golden", "import", f"{name}.jsonl", name]
        subprocess.run(importing, cwd=tmp_path, capture_output=True, check=True)
    command = [sys.executable, "-m", "memregress", *arguments]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "GITHUB_ACTIONS": "true"}, capture_output=True, text=True, check=False
    )
    for stream in (done.stdout, done.stderr):
        stopped = None
        for line in stream.splitlines():
            if line.startswith("::stop-commands::"):
                stopped = line.removeprefix("::stop-commands::")
            elif stopped and line == f"::{stopped}::":
                stopped = None
            elif not stopped:
                assert "::" not in line
                assert "##[" not in line
        assert stopped is None
    assert "::stop-commands::" in done.stdout + done.stderr
