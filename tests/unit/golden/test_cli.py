"""The `golden` commands: thin, and safe to print with."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result

from memregress import errors
from memregress.golden_cli import golden


def run(*arguments: object) -> Result:
    return CliRunner().invoke(golden, [str(argument) for argument in arguments])


def succeed(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exception is None, result.exception
    return result.output


def test_import_is_light() -> None:
    """Asking for help imports neither numpy nor msgspec nor rich."""
    code = "import sys, memregress.golden_cli; print({'numpy', 'msgspec', 'rich', 'pyarrow'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


@pytest.mark.parametrize("command", sorted(golden.commands))
def test_help_has_an_example(command: str) -> None:
    """Each command's help has an example to paste."""
    assert f"memregress golden {command} " in succeed(command, "--help")


def test_validate(folder: Any) -> None:
    """A good set is told in one line."""
    assert succeed("validate", folder.path) == f"{folder.path}: 5 memories, 2 queries, no problem\n"


def test_validate_json(folder: Any) -> None:
    """Problems come as JSON where asked, and the error is raised all the same."""
    folder.line("memories.jsonl", 2, id="a")
    result = run("validate", folder.path, "--json")
    assert isinstance(result.exception, errors.GoldenError)
    printed = json.loads(result.output)
    assert printed["ok"] is False
    assert printed["problems"][0] == {
        "file": "memories.jsonl",
        "line": 2,
        "field": "id",
        "what": "'a' is also the id of memories.jsonl:1",
    }


def test_validate_json_of_a_good_set(folder: Any) -> None:
    """A good set has no problem and a digest."""
    printed = json.loads(succeed("validate", folder.path, "--json"))
    assert (printed["ok"], printed["problems"], len(printed["digest"])) == (True, [], 64)


def test_show(folder: Any) -> None:
    """The facts come first, then a few memories, as lines of `key: value` when piped."""
    lines = succeed("show", folder.path).splitlines()
    assert {"name: small", "memories: 5", "users: 2", "without_vector: 1", "with_lifetime: 1"} <= set(lines)
    assert "content: likes tea" in lines


def test_show_json(folder: Any) -> None:
    """The facts as JSON are one object."""
    facts = json.loads(succeed("show", folder.path, "--json"))
    assert facts["queries_by_source"] == {"recorded": 2}


def test_show_ids(folder: Any) -> None:
    """Memories and queries are shown with the place they stand at."""
    output = succeed("show", folder.path, "d", "q2")
    assert "at: memories.jsonl:4" in output
    assert "at: queries.jsonl:2" in output
    assert 'filter: {"n": {"gte": 2}, "topic": "order"}' in output


def test_show_unknown_id(folder: Any) -> None:
    """An id that is not there is an error with a suggestion."""
    error = run("show", folder.path, "q22").exception
    assert isinstance(error, errors.ConfigError)
    assert "Did you mean 'q2'?" in error.remedy


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_show_hostile_text(folder: Any, flags: list[str]) -> None:
    """A memory cannot steer the terminal that shows it, nor forge a line."""
    folder.line("memories.jsonl", 1, content="a\x1b[31m\x9b1m\u202eb\nname: forged [bold]x")
    output = succeed("show", folder.path, "a", *flags)
    assert all(character == "\n" or 32 <= ord(character) < 127 for character in output)
    assert "\nname: forged" not in output
    assert "[bold]x" in output


def test_import_and_export(folder: Any, tmp_path: Path) -> None:
    """What is exported can be imported, with the facts that the export carries."""
    succeed("export", folder.path, tmp_path / "out", "--to", "parquet")
    files = [tmp_path / "out" / name for name in ("memories.parquet", "queries.jsonl", "queries.npy")]
    output = succeed("import", files[0], tmp_path / "back", "--queries", files[1], "--query-vectors", files[2])
    assert output == f"{tmp_path / 'back'}: 5 memories, 2 queries\n"
    assert json.loads((tmp_path / "back" / "manifest.json").read_text())["captured_at"] == "2026-01-31T12:00:00Z"


def test_import_options(tmp_path: Path) -> None:
    """What the source does not say is said by options, and then the bytes are the same every time."""
    (tmp_path / "m.jsonl").write_text('{"id": "a", "vector": [0, 0]}\n')
    options = ["--metric", "l2", "--name", "n", "--model", "m", "--created-at", "2026-01-01T00:00:00Z"]
    options += ["--captured-at", "2026-01-01T01:00:00+01:00"]
    for name in ("one", "two"):
        succeed("import", tmp_path / "m.jsonl", tmp_path / name, *options)
    one, two = ((tmp_path / name / "manifest.json").read_bytes() for name in ("one", "two"))
    assert one == two
    assert json.loads(one)["vectors"]["metric"] == "l2"


def test_import_time_without_zone(tmp_path: Path) -> None:
    """A time without zone on the command line is refused."""
    (tmp_path / "m.jsonl").write_text('{"id": "a", "vector": [1]}\n')
    error = run("import", tmp_path / "m.jsonl", tmp_path / "set", "--captured-at", "2026-01-01").exception
    assert isinstance(error, errors.ConfigError)


def test_diff(folder: Any, tmp_path: Path, write: Any) -> None:
    """Changes and loosened expectations are listed; the exit code says so only where asked."""
    write(tmp_path / "old")
    folder.line("queries.jsonl", 1, expected=[])
    folder.save("memories.npy", folder.vectors() + np.float32(1))
    output = succeed("diff", tmp_path / "old", folder.path)
    assert "memories: 0 added, 0 removed, 4 changed" in output
    assert "  ~ a: vector (moved by 1.73205)" in output
    assert "  ! q1: a is no longer expected" in output
    assert run("diff", tmp_path / "old", folder.path, "--exit-code").exit_code == 1


def test_diff_of_equals(folder: Any) -> None:
    """Equal sets have no difference, and exit with 0 in any case."""
    result = run("diff", folder.path, folder.path, "--exit-code")
    assert (result.output, result.exit_code) == ("no difference\n", 0)


def test_diff_json(folder: Any, tmp_path: Path, write: Any) -> None:
    """The difference as JSON names the loosened expectations."""
    write(tmp_path / "old")
    folder.line("queries.jsonl", 1, k=4)
    difference = json.loads(succeed("diff", tmp_path / "old", folder.path, "--json"))
    assert difference["loosened"] == [{"query": "q1", "what": "k raised from 2 to 4"}]


def test_long_lists_are_cut(tmp_path: Path, write: Any, queries: Any, folder: Any) -> None:
    """A terminal gets the first of a long list and is told how many there are."""
    many = [(msgspec.structs.replace(queries[0][0], id=f"n{number}"), queries[0][1]) for number in range(30)]
    write(tmp_path / "new", queries=many)
    assert "  … and 10 more; --json shows all" in succeed("diff", folder.path, tmp_path / "new")
