"""A FAISS store on disk: ``<folder>/<space>/`` with ``index.faiss`` and ``memories.jsonl``."""

from __future__ import annotations

import contextlib
import os
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import faiss
import msgspec

from memregress import errors
from memregress.backends.faiss import docstore, indexes

INDEX = "index.faiss"
MEMORIES = "memories.jsonl"
IN_MEMORY = ("", "memory:")
LFS = b"version https://git-lfs"

RESTORE = "Restore it from a backup, or let the application write it anew; a file cut short comes of a crash in saving."


def folder(url: str, space: str) -> Path | None:
    """Where a URL and a space lie; None in memory.

    Raises:
        ConfigError: a URL that is neither a folder nor in memory, or a space that would be elsewhere.
    """
    if url in IN_MEMORY:
        return None
    if Path(space).name != space or space == "..":
        raise errors.ConfigError(f"space {space!r} is not the name of a folder", "Use one without '/'.")
    scheme, separator, _ = url.partition("://")
    if not separator:
        return Path(url).expanduser() / space
    parts = urllib.parse.urlsplit(url)
    if scheme != "file" or parts.netloc not in ("", "localhost"):
        raise errors.ConfigError(
            f"a FAISS store is not reached by {scheme}://", "Give a folder, file:///folder, or nothing for memory."
        )
    return Path(urllib.request.url2pathname(parts.path)) / space


def read(place: Path) -> tuple[Any, list[docstore.Line]]:
    """Read an index and its docstore.

    Raises:
        BackendUnavailable: a file is not there, may not be read, or is damaged.
    """
    try:
        return _index(place / INDEX), _lines(place / MEMORIES)
    except OSError as error:
        raise errors.BackendUnavailable(
            f"{error.filename}: {error.strerror}", f"A FAISS store is a folder with {INDEX} and {MEMORIES}."
        ) from error


def _index(path: Path) -> Any:
    with path.open("rb") as file:
        start = file.read(len(LFS))
    if start == LFS:
        raise errors.BackendUnavailable(f"{path} is a Git LFS pointer, not the file itself", "Run `git lfs pull`.")
    if not start:
        raise errors.BackendUnavailable(f"{path} is empty", RESTORE)
    try:
        return faiss.read_index(str(path))
    except RuntimeError as error:
        raise errors.BackendUnavailable(
            f"{path} is damaged, or of another version of FAISS than {faiss.__version__}: {indexes.reason(error)}",
            RESTORE,
        ) from error


def _lines(path: Path) -> list[docstore.Line]:
    decode = msgspec.json.Decoder(docstore.Line).decode
    lines = []
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                lines.append(decode(line))
            except msgspec.MsgspecError as error:
                raise errors.BackendUnavailable(f"{path}:{number}: {error}", RESTORE) from error
    return lines


def write(place: Path, index: Any, memories: docstore.Docstore) -> None:
    """Write both files, or neither: under other names first, and renamed when both are on the disk.

    Raises:
        BackendError: the disk is full, or the folder may not be written.
    """
    try:
        with _new(place / INDEX) as index_file, _new(place / MEMORIES) as memories_file:
            # FAISS's own writer does not notice a disk that is full at the last bytes.
            faiss.write_index(index, faiss.PyCallbackIOWriter(_writing(index_file)))
            memories_file.writelines(msgspec.json.encode(line) + b"\n" for line in memories.lines())
    except OSError as error:
        raise errors.BackendError(
            f"the FAISS store cannot be written to {place}: {error.strerror}",
            "Free some space, or give another folder; nothing half-written is left.",
        ) from error


@contextlib.contextmanager
def _new(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` if all goes well, and goes away otherwise."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


def _writing(file: BinaryIO) -> Callable[[bytes], None]:
    def write_(part: bytes) -> None:
        file.write(part)

    return write_


def remove(place: Path) -> None:
    """Remove both files, and their folder if nothing else is in it."""
    for name in (INDEX, MEMORIES):
        (place / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        place.rmdir()
