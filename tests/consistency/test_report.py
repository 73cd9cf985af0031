"""Real reports are what the published schema says."""

import json

import jsonschema
import pytest

from memregress import replaying, report, report_files
from memregress.testing import sets


def quiet(_):
    """Listen to no progress."""


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    """A small golden set."""
    return sets.make(tmp_path_factory.mktemp("report") / "golden", memories=60, users=3, queries=5)


def test_schema_is_valid():
    """The schema is a JSON Schema."""
    jsonschema.Draft202012Validator.check_schema(report.schema())


@pytest.mark.parametrize("config", ["", "min_similarity = 0.99\n"], ids=["green", "red"])
def test_schema_accepts_real_reports(golden, tmp_path, config):
    """What a replay writes, with and without broken memories, satisfies the schema and reads back the same."""
    (tmp_path / "memregress.toml").write_text(config)
    made = replaying.replay(golden.path, progress=quiet, backend="faiss", config=tmp_path / "memregress.toml")
    replaying.write(made, tmp_path / "out")
    written = (tmp_path / "out" / "report.json").read_bytes()
    document = json.loads(written)
    jsonschema.Draft202012Validator(report.schema()).validate(document)
    assert bool(document["memories"]) is bool(config)
    assert report_files.encode(report_files.read(tmp_path / "out" / "report.json")) == written
