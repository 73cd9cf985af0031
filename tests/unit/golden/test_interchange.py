"""Parquet, BEIR and JSON lines: out and in again, and what is wrong with a stranger's files."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from memregress import errors, golden
from memregress.golden import diff, exporting, importing
from memregress.model import Metric

CLOCK = datetime(2026, 1, 31, 12, tzinfo=UTC)


def bring(target: Path, path: Path, metric: Metric = Metric.COSINE, **files: Path) -> golden.GoldenSet:
    source = importing.Source(path=path, form=importing.guess_form(path), **files)
    importing.bring(target, source, name="small", created_at=CLOCK, captured_at=CLOCK, metric=metric, model="toy")
    return golden.open(target)


def test_parquet_round_trip(tmp_path: Path, folder: Any) -> None:
    """Out to Parquet and in again, nothing differs but the word on where it came from."""
    opened = golden.open(folder.path)
    exporting.send(opened, tmp_path / "out", "parquet")
    files = {"queries": tmp_path / "out" / "queries.jsonl", "query_vectors": tmp_path / "out" / "queries.npy"}
    back = bring(tmp_path / "back", tmp_path / "out" / "memories.parquet", **files)
    difference = diff.compare(opened, back)
    assert difference.manifest == ["source"]
    for name in ("memories.jsonl", "memories.npy"):
        assert (tmp_path / "back" / name).read_bytes() == (folder.path / name).read_bytes()


def test_parquet_schema(tmp_path: Path, folder: Any) -> None:
    """Other tools find vectors as fixed-size lists of float32, null where missing, and times in UTC."""
    exporting.send(golden.open(folder.path), tmp_path / "out", "parquet")
    table = parquet.read_table(tmp_path / "out" / "memories.parquet")
    assert table.schema.field("vector").type == pa.list_(pa.float32(), 3)
    assert table.schema.field("created_at").type == pa.timestamp("us", "UTC")
    assert table.column("vector").to_pylist()[1:3] == [[0, 1, 0], None]


def test_parquet_facts(tmp_path: Path, folder: Any) -> None:
    """An export says what its golden set was called, when it was captured and how it is compared."""
    exporting.send(golden.open(folder.path), tmp_path / "out", "parquet")
    facts = importing.Source(path=tmp_path / "out" / "memories.parquet", form="parquet").facts()
    assert (facts.name, facts.captured_at, facts.vectors["metric"]) == ("small", "2026-01-31T12:00:00Z", "cosine")


def test_foreign_parquet(tmp_path: Path) -> None:
    """Whole numbers as ids, lists of float64, a struct as metadata and nanoseconds are understood."""
    columns = {
        "id": pa.array([7, 8]),
        "user": pa.array([1, None]),
        "vector": pa.array([[1.0, 2.0], None], pa.list_(pa.float64())),
        "metadata": pa.array([{"topic": "x", "n": 1}, None]),
        "created_at": pa.array([1_700_000_000_000_000_001, None], pa.timestamp("ns", "UTC")),
    }
    parquet.write_table(pa.table(columns), tmp_path / "m.parquet")
    opened = bring(tmp_path / "set", tmp_path / "m.parquet")
    batch = next(opened.batches())
    assert (batch.ids, batch.users, batch.metadata) == (["7", "8"], ["1", None], [{"topic": "x", "n": 1}, {}])
    assert batch.vectors[0].tolist() == [1, 2]
    assert batch.dimensions.tolist() == [2, 0]
    assert batch.created_at[0] == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ({"vector": pa.array([[1.0]])}, "id: there is no such column"),
        ({"id": pa.array(["a"])}, "vector: there is no such column"),
        ({"id": pa.array(["a"]), "vector": pa.array(["[1]"])}, "vector: is string, not a list of numbers"),
        ({"id": pa.array(["a", "b"]), "vector": pa.array([[1.0], [1.0, 2.0]])}, "vectors of \\[1, 2\\] dimensions"),
        ({"id": pa.array(["a"]), "vector": pa.array([[1.0]]), "metadata": pa.array(["{"])}, "memory 'a'"),
        ({"id": pa.array(["a"]), "vector": pa.array([[1.0]]), "content": pa.array([3])}, "Expected `str`, got `int`"),
    ],
)
def test_bad_parquet(tmp_path: Path, columns: Any, what: str) -> None:
    """A column that is missing or not of a known type is named."""
    parquet.write_table(pa.table(columns), tmp_path / "m.parquet")
    with pytest.raises(errors.GoldenError, match=what):
        bring(tmp_path / "set", tmp_path / "m.parquet")


def test_not_parquet(tmp_path: Path) -> None:
    """A file that only has the name of Parquet is a problem of that file."""
    (tmp_path / "m.parquet").write_text("hello")
    with pytest.raises(errors.GoldenError, match=r"m.parquet: cannot be read"):
        bring(tmp_path / "set", tmp_path / "m.parquet")


def test_beir_round_trip(tmp_path: Path, folder: Any) -> None:
    """Out to BEIR and in again, memories and vectors are the same; expectations are those of exact search."""
    opened = golden.open(folder.path)
    exporting.send(opened, tmp_path / "out", "beir")
    back = bring(tmp_path / "back", tmp_path / "out")
    assert (tmp_path / "back" / "memories.jsonl").read_bytes() == (folder.path / "memories.jsonl").read_bytes()
    assert (tmp_path / "back" / "memories.npy").read_bytes() == (folder.path / "memories.npy").read_bytes()
    assert [query.labels for query in back.queries] == [["a"], []]
    assert [[expected.id for expected in query.expected] for query in back.queries] == [["a", "b"], ["b"]]


def test_beir_files(tmp_path: Path, folder: Any) -> None:
    """The files are those that readers of BEIR expect."""
    exporting.send(golden.open(folder.path), tmp_path / "out", "beir")
    document = json.loads((tmp_path / "out" / "corpus.jsonl").read_text().splitlines()[0])
    assert (document["_id"], document["title"], document["text"]) == ("a", "", "likes tea")
    assert (tmp_path / "out" / "qrels" / "test.tsv").read_text() == "query-id\tcorpus-id\tscore\nq1\ta\t1\n"


def write_beir(folder: Path, qrels: str = "query-id\tcorpus-id\tscore\nq\td2\t2\nq\td1\t0\n") -> None:
    (folder / "qrels").mkdir(parents=True)
    documents = [{"_id": "d1", "title": "One", "text": "first"}, {"_id": "d2", "title": "", "text": "second"}]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "?", "metadata": {}}) + "\n")
    (folder / "qrels" / "test.tsv").write_text(qrels)
    np.save(folder / "c.npy", np.eye(2, dtype=np.float32))
    np.save(folder / "q.npy", np.ones((1, 2), dtype=np.float32))


def test_foreign_beir(tmp_path: Path) -> None:
    """A plain BEIR set needs its vectors named; titles stand before texts, positive judgements become labels."""
    write_beir(tmp_path / "beir")
    files = {"vectors": tmp_path / "beir" / "c.npy", "query_vectors": tmp_path / "beir" / "q.npy"}
    opened = bring(tmp_path / "set", tmp_path / "beir", **files)
    assert next(opened.batches()).contents == ["One\nfirst", "second"]
    assert opened.queries[0].labels == ["d2"]


def test_bad_qrels(tmp_path: Path) -> None:
    """A judgement that is not three cells is named with its line."""
    write_beir(tmp_path / "beir", qrels="query-id\tcorpus-id\tscore\nq d2 1\n")
    with pytest.raises(errors.GoldenError, match=r"qrels/test.tsv:2: is not query-id"):
        bring(tmp_path / "set", tmp_path / "beir", vectors=tmp_path / "beir" / "c.npy")


def test_too_few_vectors(tmp_path: Path) -> None:
    """Vectors that are not one for each line are refused, and nothing is left behind."""
    write_beir(tmp_path / "beir")
    with pytest.raises(errors.GoldenError, match=r"q.npy: has 1 rows for 2 lines"):
        bring(tmp_path / "set", tmp_path / "beir", vectors=tmp_path / "beir" / "q.npy")
    assert [path.name for path in tmp_path.iterdir()] == ["beir"]


INLINE = (
    '{"id": "a", "user": "u", "content": "tea", "vector": [1, 0]}\n'
    '{"id": "b", "user": "u", "vector": null, "metadata": {"n": 1}}\n'
    '{"id": "c", "user": "v", "created_at": "2026-01-01T00:00:00+02:00", "vector": [0.5, 0.5]}\n'
)


def test_inline(tmp_path: Path) -> None:
    """JSON lines with vectors on them become a set; a null vector is a memory without one."""
    (tmp_path / "m.jsonl").write_text(INLINE)
    (tmp_path / "q.jsonl").write_text('{"id": "q", "user": "u", "vector": [1, 0]}\n')
    opened = bring(tmp_path / "set", tmp_path / "m.jsonl", queries=tmp_path / "q.jsonl")
    assert opened.has_vector.tolist() == [True, False, True]
    assert opened.vectors([2]).tolist() == [[0.5, 0.5]]
    assert [expected.id for expected in opened.queries[0].expected] == ["a"]


def test_vectors_beside_lines(tmp_path: Path) -> None:
    """JSON lines may have their vectors in an .npy, where a row of NaN is no vector."""
    (tmp_path / "m.jsonl").write_text('{"id": "a"}\n{"id": "b"}\n')
    np.save(tmp_path / "m.npy", np.array([[1, 2], [np.nan, np.nan]], np.float32))
    opened = bring(tmp_path / "set", tmp_path / "m.jsonl", vectors=tmp_path / "m.npy")
    assert opened.has_vector.tolist() == [True, False]


def test_bad_inline(tmp_path: Path) -> None:
    """All wrong lines are named at once, and no set is written."""
    lines = [
        '{"id": "a", "vector": [1, 0]}',
        '{"id": 3}',
        '{"id": "c", "vector": [1]}',
        '{"id": "d", "vectr": []}',
        "{",
    ]
    (tmp_path / "m.jsonl").write_text("\n".join(lines))
    with pytest.raises(errors.GoldenError) as caught:
        bring(tmp_path / "set", tmp_path / "m.jsonl")
    places = sorted((problem.line, problem.field) for problem in caught.value.problems if problem.line != 5)
    assert places == [(2, "id"), (3, "vector"), (4, "vectr")]
    assert [path.name for path in tmp_path.iterdir()] == ["m.jsonl"]


def test_no_vectors_at_all(tmp_path: Path) -> None:
    """A source without any vector says which option gives them."""
    (tmp_path / "m.jsonl").write_text('{"id": "a"}\n')
    with pytest.raises(errors.ConfigError, match="--vectors"):
        bring(tmp_path / "set", tmp_path / "m.jsonl")


def test_unknown_form(tmp_path: Path) -> None:
    """A name that says nothing of its form needs the form said."""
    with pytest.raises(errors.ConfigError, match="--from"):
        importing.guess_form(tmp_path / "memories.csv")


@pytest.mark.parametrize("form", ["beir", "parquet"])
def test_export_refuses_existing(tmp_path: Path, folder: Any, form: Any) -> None:
    """An export never overwrites."""
    with pytest.raises(errors.ConfigError, match="exists already"):
        exporting.send(golden.open(folder.path), folder.path, form)
