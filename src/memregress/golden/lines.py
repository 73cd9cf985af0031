"""JSON line parts: read line by line, plain or zstd-compressed, within limits that hold before parsing."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from memregress.backends import registry

LINE_LIMIT = 1 << 20
_ZSTD_WINDOW = 1 << 27


class UnreadableError(Exception):
    """A part cannot be read beyond a line; the message says why."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what


def read(path: Path) -> Iterator[bytes]:
    """Yield the lines of a part as they stand.

    Raises:
        UnreadableError: at a line of more than 1 MiB, or where the compressed data is damaged.
    """
    number = 0
    try:
        with open_lines(path) as file:
            while line := file.readline(LINE_LIMIT + 1):
                number += 1
                if len(line) > LINE_LIMIT:
                    raise UnreadableError(number, "is longer than 1 MiB; nothing after it was read")
                yield line
    except OSError as error:
        raise UnreadableError(number + 1, f"cannot be read: {error}") from error


@contextlib.contextmanager
def open_lines(path: Path) -> Iterator[BinaryIO]:
    """Open a part for reading, through zstd where its name says so; damaged data is an `OSError`."""
    if path.suffix != ".zst":
        with path.open("rb", buffering=1 << 18) as plain:
            yield plain
        return
    zstandard = registry.require("zstandard", extra="zstd")
    with path.open("rb") as raw:
        decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        reader = decompressor.stream_reader(raw, read_across_frames=True)
        try:
            yield io.BufferedReader(cast("io.RawIOBase", reader), 1 << 18)
        except zstandard.ZstdError as error:
            raise OSError(f"damaged zstd data: {error}") from error


@contextlib.contextmanager
def create_lines(path: Path) -> Iterator[BinaryIO]:
    """Open a new part for writing, through zstd where its name says so."""
    with path.open("xb") as raw:
        if path.suffix != ".zst":
            yield raw
            return
        zstandard = registry.require("zstandard", extra="zstd")
        with zstandard.ZstdCompressor(level=10).stream_writer(raw, closefd=False) as compressed:
            yield compressed
