"""Writing golden sets: deterministic, atomic, streamed, and never one that does not open."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memregress import errors, golden
from memregress.golden import encoding, npy
from memregress.model import Memory, MemoryBatch, Query


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_same_input_same_bytes(tmp_path: Path, write: Any) -> None:
    """Two writes of one input cannot be told apart."""
    write(tmp_path / "one")
    write(tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_batch_sizes_do_not_show(tmp_path: Path, write: Any) -> None:
    """How memories were batched leaves no trace in the files."""
    write(tmp_path / "one")
    opened = golden.open(tmp_path / "one")
    write(tmp_path / "two", memories=opened.batches(size=2))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_rewriting_changes_nothing(tmp_path: Path, write: Any) -> None:
    """What was read and written again has the same bytes, defects included."""
    write(tmp_path / "one", rows_per_part=2)
    one = golden.open(tmp_path / "one")
    recorded = zip(one.queries, one.query_vectors, strict=True)
    write(tmp_path / "two", rows_per_part=2, memories=one.batches(), queries=recorded)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_lines(folder: Any) -> None:
    """A line has sorted keys, times in UTC, and a word on its vector only where that is missing."""
    lines = (folder.path / "memories.jsonl").read_text().splitlines()
    assert lines[0] == (
        '{"content": "likes tea", "created_at": "2026-01-31T12:00:00Z", "expires_at": null, "id": "a", '
        '"metadata": {"n": 1, "topic": "taste"}, "user": "ada"}'
    )
    assert json.loads(lines[2])["vector"] is False


def test_times_become_utc() -> None:
    """A time of another zone is written as the same moment in UTC."""
    zone = timezone(timedelta(hours=2))
    line = encoding.memory(Memory(id="a", created_at=datetime(2026, 1, 1, 1, tzinfo=zone)))
    assert json.loads(line)["created_at"] == "2025-12-31T23:00:00Z"


@pytest.mark.parametrize("rows", [0, 1, 10_000_000])
def test_npy_header_is_numpys(tmp_path: Path, rows: int) -> None:
    """The header is byte for byte the one that numpy writes."""
    with (tmp_path / "numpy.npy").open("wb") as file:
        facts = {"descr": "<f4", "fortran_order": False, "shape": (rows, 1536)}
        np.lib.format.write_array_header_1_0(file, facts)
    assert npy.header(rows, 1536) == (tmp_path / "numpy.npy").read_bytes()


def test_parts(tmp_path: Path, write: Any) -> None:
    """A full part is followed by the next; a single part carries no number."""
    manifest = write(tmp_path / "set", rows_per_part=2)
    assert [(part.file, part.rows) for part in manifest.parts if part.file.endswith(".jsonl")] == [
        ("memories-00000.jsonl", 2),
        ("memories-00001.jsonl", 2),
        ("memories-00002.jsonl", 1),
        ("queries.jsonl", 2),
    ]


def test_empty_set(tmp_path: Path, write: Any) -> None:
    """A set without memories and queries is still a set."""
    write(tmp_path / "set", memories=[], queries=[])
    assert len(golden.open(tmp_path / "set")) == 0


def test_existing_folder_is_refused(tmp_path: Path, write: Any) -> None:
    """What exists is never overwritten."""
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "precious.txt").write_text("keep")
    with pytest.raises(errors.ConfigError, match="exists already"):
        write(tmp_path / "set")
    assert [path.name for path in (tmp_path / "set").iterdir()] == ["precious.txt"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_interrupted_writing_leaves_nothing(tmp_path: Path, write: Any, batch: Any, error: Any) -> None:
    """An exception or Ctrl-C halfway leaves neither the set nor a trace of it."""

    def breaking() -> Iterator[MemoryBatch]:
        yield batch()
        raise error

    with pytest.raises(error):
        write(tmp_path / "set", memories=breaking())
    assert list(tmp_path.iterdir()) == []


def test_invalid_sets_are_not_written(tmp_path: Path, write: Any, batch: Any) -> None:
    """What would not open is not written, and the problems are named under the name it would have had."""
    with pytest.raises(errors.GoldenError, match=r"'a' is also the id of memories.jsonl:1") as caught:
        write(tmp_path / "set", memories=[batch(ids=list("aabcd"))])
    assert str(tmp_path / "set") in str(caught.value)
    assert "partial" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_vectors_of_another_length(tmp_path: Path, write: Any, batch: Any) -> None:
    """A memory whose vector is not as long as the set's is named."""
    with pytest.raises(errors.GoldenError, match="memory 'b' has 2 dimensions, the set has 3"):
        write(tmp_path / "set", memories=[batch(dimensions=np.array([3, 2, 0, 3, 3], np.int32))])


def test_query_vectors_of_another_length(tmp_path: Path, write: Any) -> None:
    """A query vector that is not as long as the set's is refused."""
    with pytest.raises(errors.GoldenError, match="a query vector has 2 dimensions"):
        write(tmp_path / "set", queries=[(Query(id="q"), np.ones(2, np.float32))])


def test_some_queries_without_vector(tmp_path: Path, write: Any, queries: Any) -> None:
    """Queries come all with vectors, or all without."""
    mixed = [queries[0], (queries[1][0], None)]
    with pytest.raises(errors.GoldenError, match="some queries come with vectors and some without"):
        write(tmp_path / "set", queries=mixed)


TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=40) | st.sampled_from(
    ["\u2028", "\x00", '"', "'", "\\", "a\nb\r\nc", "\u202e", "\U0001f469\u200d\U0001f692", "{", "é"]
)
VALUE = (
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=TEXT,
    user=st.none() | TEXT,
    id_=TEXT.filter(bool),
    metadata=st.dictionaries(TEXT, VALUE | st.lists(TEXT, max_size=3), max_size=4),
)
def test_hostile_strings_survive(
    tmp_path_factory: Any, write: Any, content: str, user: str | None, id_: str, metadata: dict[str, Any]
) -> None:
    """Any text comes back as it was: controls, separators, quotes, NUL, whatever its length."""
    path = tmp_path_factory.mktemp("hostile") / "set"
    one = MemoryBatch(
        ids=[id_],
        vectors=np.ones((1, 3), np.float32),
        dimensions=np.array([3], np.int32),
        users=[user],
        contents=[content],
        created_at=[None],
        expires_at=[None],
        metadata=[metadata],
    )
    query = Query(id=id_, text=content or "x", user=user, labels=[id_])
    write(path, memories=[one], queries=[(query, np.ones(3, np.float32))])
    opened = golden.open(path)
    back = next(opened.batches())
    assert (back.ids, back.users, back.contents, back.metadata) == ([id_], [user], [content], [metadata])
    assert opened.queries == [query]


def test_manifest_defaults_stay_out(folder: Any) -> None:
    """A policy that asks for nothing is an empty object in the file."""
    assert json.loads((folder.path / "manifest.json").read_text())["policy"] == {}
    assert golden.open(folder.path).manifest.policy == golden.Policy()


def test_policy_is_kept(tmp_path: Path, write: Any) -> None:
    """A policy comes back as it was given."""
    policy = golden.Policy(similarity_tolerance=1e-3, must_recall=0.99, probe_k=5)
    write(tmp_path / "set", policy=policy)
    assert golden.open(tmp_path / "set").manifest.policy == policy


def test_frozen() -> None:
    """A manifest is not changed after the fact."""
    with pytest.raises(AttributeError):
        golden.Policy().probe_k = 3  # type: ignore[misc]
    assert msgspec.structs.replace(golden.Policy(), probe_k=3).probe_k == 3
