"""The files of a golden set: found, kept within the folder, paired, and their checksums compared."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from concurrent import futures
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from memregress.golden.manifest import FILE, ROW_LIMIT, Manifest, Part
from memregress.golden.problems import LFS_REMEDY, Problems

Kind = Literal["memories", "queries"]

_NAME = re.compile(r"(?P<stem>(?P<kind>memories|queries)(?:-\d{5})?)(?P<suffix>\.jsonl|\.jsonl\.zst|\.npy)")
_LFS = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, kw_only=True, slots=True)
class File:
    """A part that is there: its place on disk and its entry in the manifest."""

    path: Path
    part: Part

    @property
    def name(self) -> str:
        """The name in messages."""
        return self.part.file


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """JSON lines and the vectors that belong to them, row by row; vectors may be absent for queries."""

    lines: File
    vectors: File | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """All parts of a golden set, in order."""

    memories: list[Pair]
    queries: list[Pair]

    @property
    def files(self) -> Iterator[File]:
        """Every part that is there."""
        for pair in (*self.memories, *self.queries):
            yield pair.lines
            if pair.vectors:
                yield pair.vectors


def locate(folder: Path, manifest: Manifest, problems: Problems) -> Parts:
    """Return the parts that can be read; note those that are missing, misnamed, doubled or out of the folder."""
    _check_listed(folder, manifest, problems)
    found: dict[Kind, dict[str, dict[str, File]]] = {"memories": {}, "queries": {}}
    for part in manifest.parts:
        match = _NAME.fullmatch(part.file)
        file = _file(folder, part, problems, named=bool(match))
        if match and file:
            kind: Kind = "memories" if match["kind"] == "memories" else "queries"
            suffix = ".npy" if match["suffix"] == ".npy" else ".jsonl"
            _place(found[kind].setdefault(match["stem"], {}), suffix, file, problems)
    memories = _pairs(found["memories"], problems)
    queries = _pairs(found["queries"], problems)
    _check_kinds(manifest, problems)
    _check_pairs(memories, queries, manifest, problems)
    return Parts(memories=memories, queries=queries)


def _place(slot: dict[str, File], suffix: str, file: File, problems: Problems) -> None:
    if suffix in slot:
        problems.add(f"is there twice, also as {slot[suffix].name}", file=FILE, field=f"parts: {file.name}")
        return
    slot[suffix] = file


def _check_listed(folder: Path, manifest: Manifest, problems: Problems) -> None:
    listed = {part.file for part in manifest.parts}
    for path in sorted(folder.iterdir()):
        if _NAME.fullmatch(path.name) and path.name not in listed:
            problems.add("lies in the folder, but the manifest does not list it", file=path.name)
    for kind in ("memories", "queries"):
        if manifest.rows(kind) > ROW_LIMIT:
            what = f"{manifest.rows(kind):,} {kind}; at most {ROW_LIMIT:,} are read"
            problems.add(what, file=FILE, field="parts")


def _file(folder: Path, part: Part, problems: Problems, *, named: bool) -> File | None:
    """A part's file, if it is a plain file within the folder."""
    field = f"parts: {part.file}"
    path = folder / part.file
    if not _inside(folder, path):
        problems.add("leads out of the folder", file=FILE, field=field)
    elif not named:
        problems.add("is not the name of a part, such as memories-00000.jsonl", file=FILE, field=field)
    elif not path.exists():
        problems.add("is missing, though the manifest lists it", file=part.file)
    elif not path.is_file():
        problems.add("is not a plain file", file=part.file)
    elif _is_lfs_pointer(path):
        problems.add("is a Git LFS pointer, not the file itself", file=part.file, remedy=LFS_REMEDY)
    else:
        return File(path=path, part=part)
    return None


def _inside(folder: Path, path: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL in the name
        return False


def _is_lfs_pointer(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_LFS)) == _LFS


def _pairs(stems: dict[str, dict[str, File]], problems: Problems) -> list[Pair]:
    pairs = []
    for stem in sorted(stems):
        files = stems[stem]
        if ".jsonl" in files:
            pairs.append(Pair(lines=files[".jsonl"], vectors=files.get(".npy")))
        elif not len(problems):
            problems.add("has no lines beside it", file=f"{stem}.npy")
    return pairs


def _check_kinds(manifest: Manifest, problems: Problems) -> None:
    names = [part.file for part in manifest.parts]
    for kind, suffix in (("memories", ".jsonl"), ("memories", ".npy"), ("queries", ".jsonl")):
        if not any(name.startswith(kind) and suffix in name for name in names):
            problems.add(f"lists no {kind}{suffix}", file=FILE, field="parts")


def _check_pairs(memories: list[Pair], queries: list[Pair], manifest: Manifest, problems: Problems) -> None:
    listed = {part.file for part in manifest.parts}
    needs_vectors = [*memories, *(queries if any(pair.vectors for pair in queries) else [])]
    for pair in needs_vectors:
        vectors = pair.lines.name.partition(".")[0] + ".npy"
        if pair.vectors is None and vectors not in listed:
            problems.add(f"has no vectors beside it: {vectors} is not listed", file=pair.lines.name)


def start_checksums(pool: futures.Executor, parts: Parts) -> dict[str, futures.Future[str]]:
    """Begin hashing every part in the pool, the largest first; hashing runs beside parsing on another core."""
    files = sorted(parts.files, key=lambda file: -file.path.stat().st_size)
    return {file.name: pool.submit(sha256, file.path) for file in files}


def check_checksums(parts: Iterable[File], sums: dict[str, futures.Future[str]], problems: Problems) -> None:
    """Note the parts whose content is not what the manifest says."""
    for file in parts:
        if sums[file.name].result() != file.part.sha256:
            what = "its sha256 is not the one in the manifest"
            problems.add(f"{what}{_changed_line_ends(file)}", file=file.name)


def _changed_line_ends(file: File) -> str:
    if file.path.suffix != ".jsonl":
        return ""
    with file.path.open("rb") as lines:
        first = lines.readline(1 << 20)
    return " (git changed its line ends: put `* -text` in .gitattributes)" if first.endswith(b"\r\n") else ""


def sha256(path: Path) -> str:
    """Return the checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
