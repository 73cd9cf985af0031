"""The reference page: its example is a golden set, and it names every command and field."""

import json
import re
from pathlib import Path

import click
import msgspec
import numpy as np
import pytest

from memregress import filters, golden
from memregress.golden import expecting
from memregress.golden_cli import golden as commands
from memregress.model import Expected, Memory, Query

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "golden-set.md").read_text(encoding="utf-8")


def block(file: str) -> str:
    """The fenced block under the line that names a file."""
    match = re.search(rf"^`{re.escape(file)}`:\n\n```\w*\n(.*?)```", PAGE, flags=re.DOTALL | re.MULTILINE)
    assert match, file
    return match.group(1)


@pytest.fixture
def example(tmp_path: Path) -> golden.GoldenSet:
    """The page's files as a folder, opened."""
    (tmp_path / "manifest.json").write_text(block("manifest.json"))
    for name in ("memories", "queries"):
        rows = [[float(number) for number in line.split()] for line in block(f"{name}.npy").splitlines()]
        (tmp_path / f"{name}.jsonl").write_text(block(f"{name}.jsonl"))
        np.save(tmp_path / f"{name}.npy", np.array(rows, np.float32))
    return golden.open(tmp_path)


def test_example_opens(example: golden.GoldenSet) -> None:
    """The example of the page is a golden set without a problem, checksums included."""
    assert (example.manifest.name, len(example), example.ids) == ("tea-shop", 3, ["m-1", "m-2", "m-3"])


def test_example_is_right(example: golden.GoldenSet) -> None:
    """What the example expects is what exact search finds."""
    asked = msgspec.structs.replace(example.queries[0], expected=[])
    assert example.query_vectors is not None
    found = expecting.exact(example, [(asked, example.query_vectors[0])], rank_slack=0)[0][0]
    assert found == example.queries[0]


def test_example_is_as_written(example: golden.GoldenSet, tmp_path: Path) -> None:
    """The example's lines are byte for byte those that memregress writes."""
    facts = {name: getattr(example.manifest, name) for name in ("name", "created_at", "captured_at", "vectors")}
    recorded = list(zip(example.queries, example.query_vectors, strict=True))
    golden.write(tmp_path / "again", memories=example.batches(), queries=recorded, **facts)
    for name in ("memories.jsonl", "queries.jsonl"):
        assert (tmp_path / "again" / name).read_text() == block(name)


@pytest.mark.parametrize("kind", [Memory, Query, Expected, golden.Manifest, golden.Vectors, golden.Policy])
def test_fields_are_documented(kind: type[msgspec.Struct]) -> None:
    """Every field of the format stands on the page."""
    for field in msgspec.structs.fields(kind):
        assert f"`{field.name}`" in PAGE, field.name


def test_commands_are_documented() -> None:
    """Every command has a heading, and every flag of it that changes its output is named."""
    for name, command in commands.commands.items():
        assert f"### `memregress golden {name} " in PAGE
        for option in (o for o in command.params if isinstance(o, click.Option) and o.is_flag):
            assert f"`{option.opts[0]}`" in PAGE, option.opts


def test_filter_example() -> None:
    """The filter on the page is one."""
    found = re.search(r'^(\{"topic": "billing".*\})$', PAGE, flags=re.MULTILINE)
    assert found
    assert filters.matches(json.loads(found.group(1)), {"topic": "billing", "tier": "gold", "priority": 3})
