"""Opening golden sets: what a good one gives, and every way in which one can be wrong."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memregress import errors, golden
from memregress.golden import problems
from memregress.model import Metric, Shape

CLOCK = datetime(2026, 1, 31, 12, tzinfo=UTC)


def opened_problems(path: Path) -> list[errors.Problem]:
    with pytest.raises(errors.GoldenError) as caught:
        golden.open(path)
    return list(caught.value.problems)


def test_shape(folder: Any) -> None:
    """A set says what a backend must know before the first memory."""
    opened = golden.open(folder.path)
    assert opened.shape == Shape(dimensions=3, metric=Metric.COSINE, clock=CLOCK, users=True, lifetimes=True)


def test_columns(folder: Any) -> None:
    """Ids, owners and the presence of vectors are known without reading contents."""
    opened = golden.open(folder.path)
    assert opened.ids == ["a", "b", "c", "d", "e"]
    assert opened.users == ["ada", "ada", "ada", "bob", None]
    assert opened.has_vector.tolist() == [True, True, False, True, True]
    assert [opened.row_of[id_] for id_ in opened.ids] == [0, 1, 2, 3, 4]


def test_batches_stream_everything(folder: Any) -> None:
    """Batches of two hold five memories in order, with zero dimensions where there is no vector."""
    batches = list(golden.open(folder.path).batches(size=2))
    assert [len(batch) for batch in batches] == [2, 2, 1]
    assert [content for batch in batches for content in batch.contents][2:4] == ["no vector", "away until March"]
    assert np.concatenate([batch.dimensions for batch in batches]).tolist() == [3, 3, 0, 3, 3]
    assert batches[0].vectors.flags.c_contiguous


@pytest.mark.parametrize("rows", [[], [0], [1, 3], [4], np.array([0, 2, 4])])
@pytest.mark.parametrize("per_part", [2, 50_000])
def test_batches_of_rows(tmp_path: Path, write: Any, rows: Any, per_part: int) -> None:
    """Only the rows asked for come back, whatever parts they are in."""
    write(tmp_path / "set", rows_per_part=per_part)
    opened = golden.open(tmp_path / "set")
    ids = [id_ for batch in opened.batches(rows, size=2) for id_ in batch.ids]
    assert ids == [opened.ids[row] for row in rows]


def test_vectors_over_parts(tmp_path: Path, write: Any, batch: Any) -> None:
    """Vectors are gathered in the order asked for, over parts, NaN where a memory has none."""
    write(tmp_path / "set", rows_per_part=2)
    opened = golden.open(tmp_path / "set")
    assert opened.vectors([4, 0]).tolist() == [[0, 0.5, 1], [1, 0, 0]]
    assert np.isnan(opened.vectors([2])).all()
    assert opened.selected([4, 0])[slice(0, 1)].tolist() == [[0, 0.5, 1]]


def test_places(tmp_path: Path, write: Any) -> None:
    """A row knows its file and line, also in later parts."""
    write(tmp_path / "set", rows_per_part=2)
    opened = golden.open(tmp_path / "set")
    assert opened.line_of(0) == ("memories-00000.jsonl", 1)
    assert opened.line_of(4) == ("memories-00002.jsonl", 1)
    assert opened.query_line(1) == ("queries.jsonl", 2)


def test_query_parts(tmp_path: Path, write: Any, queries: Any) -> None:
    """Queries over several parts come back as one list with one matrix."""
    write(tmp_path / "set", rows_per_part=1)
    opened = golden.open(tmp_path / "set")
    assert opened.queries == [query for query, _ in queries]
    assert opened.query_vectors is not None
    assert opened.query_vectors.tolist() == [vector.tolist() for _, vector in queries]


def test_text_only_queries(tmp_path: Path, write: Any, queries: Any) -> None:
    """Queries that carry text only have no vectors, and no file of vectors."""
    write(tmp_path / "set", queries=[(query, None) for query, _ in queries])
    assert golden.open(tmp_path / "set").query_vectors is None
    assert not (tmp_path / "set" / "queries.npy").exists()


def test_compressed(tmp_path: Path, write: Any) -> None:
    """Compressed lines give the same memories as plain ones."""
    write(tmp_path / "plain")
    write(tmp_path / "zst", compress=True)
    plain, compressed = golden.open(tmp_path / "plain"), golden.open(tmp_path / "zst")
    assert (tmp_path / "zst" / "memories.jsonl.zst").exists()
    assert [b.contents for b in plain.batches()] == [b.contents for b in compressed.batches()]


def test_other_files_are_left_alone(folder: Any) -> None:
    """A README beside the parts is nobody's problem."""
    (folder.path / "README.md").write_text("hello")
    assert len(golden.open(folder.path)) == 5


def test_digest(folder: Any) -> None:
    """The digest is that of the parts: another name leaves it, another memory changes it."""
    before = golden.open(folder.path).digest
    folder.manifest(name="other")
    assert golden.open(folder.path).digest == before
    folder.line("memories.jsonl", 1, content="likes coffee")
    assert golden.open(folder.path).digest != before


def test_minimal_lines(folder: Any) -> None:
    """Only the id of a memory is required."""
    folder.write("memories.jsonl", b"".join(b'{"id": "%c"}\n' % letter for letter in b"abcde"))
    folder.save("memories.npy", np.eye(5, 3, dtype=np.float32) + 1)
    folder.write("queries.jsonl", b'{"id": "q1"}\n{"id": "q2"}\n')
    assert not golden.open(folder.path).shape.users


NAN = float("nan")


def spoil_vector(row: int, values: list[float], name: str = "memories.npy") -> Callable[[Any], None]:
    def change(folder: Any) -> None:
        vectors = folder.vectors(name)
        vectors[row] = values
        folder.save(name, vectors)

    return change


def add_line(folder: Any) -> None:
    folder.write("memories.jsonl", (folder.path / "memories.jsonl").read_bytes() + b'{"id": "f"}\n')


def move_part_out(folder: Any) -> None:
    outside = folder.path.parent / "memories.jsonl"
    (folder.path / "memories.jsonl").rename(outside)
    (folder.path / "memories.jsonl").symlink_to(outside)


def replace_by_folder(folder: Any) -> None:
    (folder.path / "queries.jsonl").unlink()
    (folder.path / "queries.jsonl").mkdir()


BAD: dict[str, tuple[Callable[[Any], Any], tuple[str, int | None, str | None, str]]] = {
    # memories
    "duplicate id": (
        lambda f: f.line("memories.jsonl", 2, id="a"),
        ("memories.jsonl", 2, "id", "'a' is also the id of memories.jsonl:1"),
    ),
    "empty id": (lambda f: f.line("memories.jsonl", 5, id=""), ("memories.jsonl", 5, "id", "is empty")),
    "id missing": (lambda f: f.line("memories.jsonl", 5, id=...), ("memories.jsonl", 5, "id", "is missing")),
    "id a number": (
        lambda f: f.line("memories.jsonl", 5, id=5),
        ("memories.jsonl", 5, "id", "Expected `str`, got `int`"),
    ),
    "unknown field": (
        lambda f: f.line("memories.jsonl", 1, contents="x"),
        ("memories.jsonl", 1, "contents", "unknown field. Did you mean 'content'?"),
    ),
    "time without zone": (
        lambda f: f.line("memories.jsonl", 1, created_at="2026-01-01T00:00:00"),
        ("memories.jsonl", 1, "created_at", "time without zone"),
    ),
    "expiry without zone": (
        lambda f: f.line("memories.jsonl", 1, expires_at="2027-01-01T00:00:00"),
        ("memories.jsonl", 1, "expires_at", "time without zone"),
    ),
    "time beyond the last year": (
        lambda f: f.line("memories.jsonl", 1, expires_at="9999-12-31T23:59:59-01:00"),
        ("memories.jsonl", 1, "expires_at", "is out of range"),
    ),
    "not a time": (
        lambda f: f.line("memories.jsonl", 1, created_at="yesterday"),
        ("memories.jsonl", 1, "created_at", "Invalid RFC3339"),
    ),
    "expired": (
        lambda f: f.line("memories.jsonl", 4, expires_at="2026-01-31T12:00:00Z"),
        ("memories.jsonl", 4, "expires_at", "had passed when the set was captured"),
    ),
    "metadata not an object": (
        lambda f: f.line("memories.jsonl", 1, metadata=[1]),
        ("memories.jsonl", 1, "metadata", "Expected `object`"),
    ),
    "truncated line": (
        lambda f: f.write("memories.jsonl", (f.path / "memories.jsonl").read_bytes()[:-30]),
        ("memories.jsonl", 5, None, "is not JSON: Input data was truncated"),
    ),
    "not an object": (
        lambda f: f.write("queries.jsonl", b"[]\n[]\n"),
        ("queries.jsonl", 1, None, "is not a JSON object"),
    ),
    "empty line": (lambda f: f.write("queries.jsonl", b'{"id": "q1"}\n\n'), ("queries.jsonl", 2, None, "is empty")),
    "not UTF-8": (lambda f: f.write("queries.jsonl", b'{"id": "\xff"}\n'), ("queries.jsonl", 1, None, "is not JSON")),
    "nested too deeply": (
        lambda f: f.write("queries.jsonl", b'{"id": "q", "filter": ' + b"[" * 100_000 + b"\n"),
        ("queries.jsonl", 1, None, "is nested too deeply"),
    ),
    "line too long": (
        lambda f: f.write("queries.jsonl", b'{"id": "' + b"q" * (1 << 20) + b'"}\n'),
        ("queries.jsonl", 1, None, "is longer than 1 MiB"),
    ),
    # vectors
    "NaN": (spoil_vector(0, [NAN, 0, 0]), ("memories.npy", 1, "vector", "holds NaN")),
    "infinity": (spoil_vector(1, [0, float("inf"), 0]), ("memories.npy", 2, "vector", "holds infinity")),
    "zeros": (spoil_vector(3, [0, 0, 0]), ("memories.npy", 4, "vector", "is all zeros")),
    "vector false, row not NaN": (spoil_vector(2, [NAN, 1, NAN]), ("memories.npy", 3, "vector", "must be NaN")),
    "vector false taken back": (
        lambda f: f.line("memories.jsonl", 3, vector=True),
        ("memories.npy", 3, "vector", "holds NaN"),
    ),
    "query NaN": (spoil_vector(1, [NAN] * 3, "queries.npy"), ("queries.npy", 2, "vector", "holds NaN")),
    "wrong dimension": (
        lambda f: f.save("memories.npy", np.ones((5, 4), np.float32)),
        ("memories.npy", None, "vectors.dimensions", "has 4 dimensions, the manifest says 3"),
    ),
    "float64": (
        lambda f: f.save("memories.npy", np.ones((5, 3))),
        ("memories.npy", None, None, "holds <f8, not little-endian float32"),
    ),
    "big-endian": (lambda f: f.save("memories.npy", np.ones((5, 3), ">f4")), ("memories.npy", None, None, "holds >f4")),
    "one axis": (
        lambda f: f.save("memories.npy", np.ones(15, np.float32)),
        ("memories.npy", None, None, "has 1 axes, not two"),
    ),
    "Fortran order": (
        lambda f: f.save("memories.npy", np.asfortranarray(np.ones((5, 3), np.float32))),
        ("memories.npy", None, None, "is in Fortran order"),
    ),
    "pickled objects": (
        lambda f: f.save("memories.npy", np.array([[{}] * 3] * 5, dtype=object)),
        ("memories.npy", None, None, "holds pickled objects"),
    ),
    "not npy": (lambda f: f.write("memories.npy", b"vectors"), ("memories.npy", None, None, "is not an .npy file")),
    "npy cut short": (
        lambda f: f.write("memories.npy", (f.path / "memories.npy").read_bytes()[:-4]),
        ("memories.npy", None, None, "is 184 bytes long, its header says 188"),
    ),
    "LFS pointer": (
        lambda f: f.write("memories.npy", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"),
        ("memories.npy", None, None, "is a Git LFS pointer"),
    ),
    # counts
    "line too many": (add_line, ("memories.npy", None, None, "has 5 rows, memories.jsonl has 6 lines")),
    "line not counted": (add_line, ("memories.jsonl", None, None, "has 6 lines, the manifest says 5")),
    "vector too few": (
        lambda f: f.save("memories.npy", f.vectors()[:4]),
        ("memories.npy", None, None, "has 4 rows, the manifest says 5"),
    ),
    "query vector too few": (
        lambda f: f.save("queries.npy", f.vectors("queries.npy")[:1]),
        ("queries.npy", None, None, "has 1 rows, queries.jsonl has 2 lines"),
    ),
    # queries
    "unknown expected": (
        lambda f: f.line("queries.jsonl", 1, expected=[{"id": "a"}, {"id": "z"}]),
        ("queries.jsonl", 1, "expected[1]", "there is no memory 'z'"),
    ),
    "unknown forbidden": (
        lambda f: f.line("queries.jsonl", 1, forbidden=["z"]),
        ("queries.jsonl", 1, "forbidden[0]", "there is no memory 'z'"),
    ),
    "unknown label": (
        lambda f: f.line("queries.jsonl", 1, labels=["z"]),
        ("queries.jsonl", 1, "labels[0]", "there is no memory 'z'"),
    ),
    "another user's": (
        lambda f: f.line("queries.jsonl", 2, expected=[{"id": "d"}]),
        ("queries.jsonl", 2, "expected[0]", "'d' belongs to user 'bob', the query to 'ada'"),
    ),
    "nobody's": (
        lambda f: f.line("queries.jsonl", 2, expected=[{"id": "e"}]),
        ("queries.jsonl", 2, "expected[0]", "'e' belongs to user None"),
    ),
    "expected and forbidden": (
        lambda f: f.line("queries.jsonl", 1, forbidden=["a"]),
        ("queries.jsonl", 1, "forbidden", "'a' is expected and forbidden"),
    ),
    "expected twice": (
        lambda f: f.line("queries.jsonl", 1, expected=[{"id": "a"}, {"id": "a", "must": False}]),
        ("queries.jsonl", 1, "expected[1]", "'a' is there twice"),
    ),
    "too many musts": (
        lambda f: f.line("queries.jsonl", 1, k=1, expected=[{"id": "a"}, {"id": "b"}]),
        ("queries.jsonl", 1, "expected", "2 that must be found do not fit into k = 1"),
    ),
    "rank 0": (
        lambda f: f.line("queries.jsonl", 1, expected=[{"id": "a", "max_rank": 0}]),
        ("queries.jsonl", 1, "expected[0].max_rank", "ranks count from 1"),
    ),
    "expected misspelt": (
        lambda f: f.line("queries.jsonl", 1, expected=[{"id": "a", "must_": True}]),
        ("queries.jsonl", 1, "expected[0]", "unknown field `must_`"),
    ),
    "k 0": (lambda f: f.line("queries.jsonl", 2, k=0), ("queries.jsonl", 2, "k", "0 is not between 1 and 10,000")),
    "k huge": (lambda f: f.line("queries.jsonl", 2, k=10**9), ("queries.jsonl", 2, "k", "is not between")),
    "bad filter": (
        lambda f: f.line("queries.jsonl", 2, filter={"n": {"near": 3}}),
        ("queries.jsonl", 2, "filter", "n: near: 3 is not a condition"),
    ),
    "duplicate query": (
        lambda f: f.line("queries.jsonl", 2, id="q1"),
        ("queries.jsonl", 2, "id", "'q1' is also the id of queries.jsonl:1"),
    ),
    "unknown source": (
        lambda f: f.line("queries.jsonl", 1, source="guessed"),
        ("queries.jsonl", 1, "source", "Invalid enum value 'guessed'"),
    ),
    # manifest and files
    "unknown format": (lambda f: f.manifest(format=2), ("manifest.json", None, "format", "unknown format 2")),
    "manifest not JSON": (
        lambda f: (f.path / "manifest.json").write_text("{"),
        ("manifest.json", None, None, "is not JSON"),
    ),
    "manifest too long": (
        lambda f: (f.path / "manifest.json").write_text(" " * (1 << 20) + "{}"),
        ("manifest.json", None, None, "is longer than 1 MiB"),
    ),
    "manifest missing": (
        lambda f: (f.path / "manifest.json").unlink(),
        ("manifest.json", None, None, "cannot be read: No such file"),
    ),
    "metric misspelt": (
        lambda f: f.manifest(vectors={"dimensions": 3, "metric": "cosinus"}),
        ("manifest.json", None, "vectors.metric", "Invalid enum value 'cosinus'"),
    ),
    "policy misspelt": (
        lambda f: f.manifest(policy={"must_recal": 1}),
        ("manifest.json", None, "policy.must_recal", "Did you mean 'must_recall'?"),
    ),
    "share above 1": (
        lambda f: f.manifest(policy={"max_index_misses": 2}),
        ("manifest.json", None, "policy.max_index_misses", "<= 1"),
    ),
    "clock without zone": (
        lambda f: f.manifest(captured_at="2026-01-01T00:00:00"),
        ("manifest.json", None, "captured_at", "time without zone"),
    ),
    "checksum": (
        lambda f: f.part("queries.npy", sha256="0" * 64),
        ("queries.npy", None, None, "its sha256 is not the one in the manifest"),
    ),
    "line ends": (
        lambda f: (f.path / "queries.jsonl").write_bytes(
            (f.path / "queries.jsonl").read_bytes().replace(b"\n", b"\r\n")
        ),
        ("queries.jsonl", None, None, "git changed its line ends"),
    ),
    "part missing": (
        lambda f: (f.path / "queries.npy").unlink(),
        ("queries.npy", None, None, "is missing, though the manifest lists it"),
    ),
    "part not listed": (
        lambda f: (f.path / "memories-00001.jsonl").write_text(""),
        ("memories-00001.jsonl", None, None, "the manifest does not list it"),
    ),
    "part listed twice": (
        lambda f: f.part("queries.npy", file="memories.npy"),
        ("manifest.json", None, "parts: memories.npy", "is there twice"),
    ),
    "no queries": (
        lambda f: f.manifest(parts=[p for p in parts(f) if not p["file"].startswith("queries")]),
        ("manifest.json", None, "parts", "lists no queries.jsonl"),
    ),
    "no vectors": (
        lambda f: f.manifest(parts=[p for p in parts(f) if p["file"] != "memories.npy"]),
        ("memories.jsonl", None, None, "has no vectors beside it"),
    ),
    "too many rows": (
        lambda f: f.part("memories.jsonl", rows=10_000_001),
        ("manifest.json", None, "parts[0].rows", "<= 10000000"),
    ),
    "upwards": (
        lambda f: f.part("queries.npy", file="../queries.npy"),
        ("manifest.json", None, "parts: ../queries.npy", "leads out of the folder"),
    ),
    "absolute": (
        lambda f: f.part("queries.npy", file="/etc/passwd"),
        ("manifest.json", None, "parts: /etc/passwd", "leads out of the folder"),
    ),
    "link out": (move_part_out, ("manifest.json", None, "parts: memories.jsonl", "leads out of the folder")),
    "another name": (
        lambda f: f.part("queries.npy", file="sub/queries.npy"),
        ("manifest.json", None, "parts: sub/queries.npy", "is not the name of a part"),
    ),
    "a folder": (replace_by_folder, ("queries.jsonl", None, None, "is not a plain file")),
}


def parts(folder: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder.path / "manifest.json").read_text())["parts"]
    return found


@pytest.mark.parametrize("case", BAD)
def test_problem(folder: Any, case: str) -> None:
    """What is wrong is named with its file, line and field."""
    change, (file, line, field, what) = BAD[case]
    change(folder)
    found = opened_problems(folder.path)
    assert any((p.file, p.line, p.field) == (file, line, field) and what in p.what for p in found), found


def test_all_problems_at_once(folder: Any) -> None:
    """Problems of different files and lines, and several of one line, come in one error."""
    folder.line("memories.jsonl", 1, content=3, user=4)
    folder.line("queries.jsonl", 2, k=0, labels=["z"])
    folder.save("queries.npy", np.zeros((2, 3), np.float32))
    places = [(p.file, p.line, p.field) for p in opened_problems(folder.path)]
    assert places == [
        ("memories.jsonl", 1, "user"),
        ("memories.jsonl", 1, "content"),
        ("queries.jsonl", 2, "k"),
        ("queries.jsonl", 2, "labels[0]"),
        ("queries.npy", 1, "vector"),
        ("queries.npy", 2, "vector"),
    ]


def test_zero_vectors_without_cosine(tmp_path: Path, write: Any, batch: Any) -> None:
    """A vector of zeros is as good as any other under a metric that can compare it."""
    vectors = golden.Vectors(dimensions=3, metric=Metric.L2)
    write(tmp_path / "set", vectors=vectors, memories=[batch(vectors=np.zeros((5, 3), np.float32))])
    assert len(golden.open(tmp_path / "set")) == 5


def test_tiny_and_huge_vectors_are_good(tmp_path: Path, write: Any, batch: Any) -> None:
    """Components whose squares float32 cannot hold are neither zero nor infinite."""
    vectors = np.array([[1e-30, 0, 0], [1e30, 0, 0], [0, 0, 0], [1, 0, 0], [1, 0, 0]], np.float32)
    write(tmp_path / "set", memories=[batch(vectors=vectors)])
    assert len(golden.open(tmp_path / "set")) == 5


def test_pickle_is_not_loaded(folder: Any, tmp_path: Path) -> None:
    """A pickle in a vector part is never executed."""

    class Bomb:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "exploded",))

    folder.save("memories.npy", np.array([[Bomb()] * 3] * 5, dtype=object))
    opened_problems(folder.path)
    assert not (tmp_path / "exploded").exists()


def test_lfs_remedy(folder: Any) -> None:
    """Vectors still in Git LFS are fetched with one command, and the error says which."""
    folder.write("memories.npy", b"version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(errors.GoldenError, match="git lfs pull"):
        golden.open(folder.path)


def test_problems_are_bounded(folder: Any) -> None:
    """A set with endless problems is given up after a thousand."""
    folder.write("queries.jsonl", b"\n" * 100_000)
    found = opened_problems(folder.path)
    assert len(found) == problems.LIMIT + 1
    assert "stopped reading" in found[-1].what


def test_hostile_words_in_problems(folder: Any) -> None:
    """A problem quotes a stranger's words on one line, without control characters, and not at any length."""
    folder.line("memories.jsonl", 1, **{"\x1b[31m\n::error::": "x" * 100_000})
    folder.line("memories.jsonl", 2, id="z" * 100_000)
    folder.line("memories.jsonl", 3, id="z" * 100_000)
    found = opened_problems(folder.path)
    assert found[0].field == "\\x1b[31m\\n::error::"
    assert max(len(str(problem)) for problem in found) < 500


def test_damaged_compression(tmp_path: Path, write: Any) -> None:
    """Damaged compressed lines are a problem of that file, not a crash."""
    write(tmp_path / "set", compress=True)
    path = tmp_path / "set" / "memories.jsonl.zst"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(bytes(data))
    assert {"memories.jsonl.zst"} <= {problem.file for problem in opened_problems(tmp_path / "set")}


def test_lines_without_end(folder: Any) -> None:
    """Reading stops soon after the number of lines that the manifest names."""
    folder.write("memories.jsonl", b"".join(b'{"id": "%d"}\n' % number for number in range(5_000)))
    found = opened_problems(folder.path)
    assert "has more than 1,005 lines, the manifest says 5" in [problem.what for problem in found]


def test_not_zstd(tmp_path: Path, write: Any) -> None:
    """Plain bytes under a compressed name are named as damaged."""
    write(tmp_path / "set", compress=True)
    (tmp_path / "set" / "queries.jsonl.zst").write_bytes(b"hello")
    assert any("damaged zstd data" in problem.what for problem in opened_problems(tmp_path / "set"))


def test_a_file_is_not_a_set(tmp_path: Path) -> None:
    """Opening something that is no folder says what to give instead."""
    (tmp_path / "golden.json").write_text("{}")
    with pytest.raises(errors.GoldenError, match="the folder that holds manifest"):
        golden.open(tmp_path / "golden.json")
