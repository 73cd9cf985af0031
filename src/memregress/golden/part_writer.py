"""Writing the parts of one kind: lines and vectors side by side, a new pair of files every 50,000 rows."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Self

import numpy as np

from memregress.golden import lines, npy, parts
from memregress.golden.manifest import Part
from memregress.model import Floats

ROWS_PER_PART = 50_000


class PartWriter:
    """Appends rows to the parts of one kind (`memories` or `queries`); use as a context manager."""

    def __init__(self, folder: Path, kind: str, *, dimensions: int, compress: bool, size: int = ROWS_PER_PART) -> None:
        self._folder = folder
        self._kind = kind
        self._dimensions = dimensions
        self._suffix = ".jsonl.zst" if compress else ".jsonl"
        self._size = size
        self._open = contextlib.ExitStack()
        self._lines: BinaryIO | None = None
        self._vectors: BinaryIO | None = None
        self._rows: list[int] = []
        self._with_vectors: bool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def add(self, rows: Sequence[bytes], vectors: Floats | None) -> None:
        """Append rows; all of them come with vectors (float32[n, d], NaN for none), or none of them do."""
        if self._with_vectors is None:
            self._with_vectors = vectors is not None
        if self._with_vectors != (vectors is not None):
            raise ValueError(f"some {self._kind} come with vectors and some without")
        start = 0
        while start < len(rows):
            room = self._room()
            self._append(rows[start : start + room], None if vectors is None else vectors[start : start + room])
            start += room

    def finish(self, *, vectors: bool = False) -> list[Part]:
        """Close the parts and return their entries; without any row there is still one, with an empty `.npy` if asked.

        A single part carries no number in its name.
        """
        if not self._rows:
            self._with_vectors = vectors
            self._begin()
        self._end()
        if len(self._rows) == 1:
            for path in self._paths(0):
                path.rename(self._folder / path.name.replace("-00000", ""))
        return [self._part(path, rows) for path, rows in self._written()]

    def _room(self) -> int:
        """How many rows the current part still takes; begins the next one where it is full."""
        if self._lines is None or self._rows[-1] == self._size:
            self._end()
            self._begin()
        return self._size - self._rows[-1]

    def _append(self, rows: Sequence[bytes], vectors: Floats | None) -> None:
        assert self._lines is not None  # noqa: S101  for mypy: _room has opened it
        self._lines.write(b"".join(rows))
        if self._vectors is not None and vectors is not None:
            self._vectors.write(np.ascontiguousarray(vectors, dtype="<f4").data)
        self._rows[-1] += len(rows)

    def _begin(self) -> None:
        lines_path, *vectors_path = self._paths(len(self._rows))
        self._lines = self._open.enter_context(lines.create_lines(lines_path))
        for path in vectors_path:
            self._vectors = self._open.enter_context(path.open("xb"))
            self._vectors.write(npy.header(0, self._dimensions))
        self._rows.append(0)

    def _end(self) -> None:
        if self._vectors is not None:
            self._vectors.seek(0)
            self._vectors.write(npy.header(self._rows[-1], self._dimensions))
        self._open.close()
        self._lines = self._vectors = None

    def _paths(self, number: int) -> list[Path]:
        stem = self._folder / f"{self._kind}-{number:05d}"
        suffixes = [self._suffix, ".npy"] if self._with_vectors else [self._suffix]
        return [stem.with_name(stem.name + suffix) for suffix in suffixes]

    def _written(self) -> list[tuple[Path, int]]:
        written = [(path, rows) for number, rows in enumerate(self._rows) for path in self._paths(number)]
        if len(self._rows) == 1:
            return [(path.with_name(path.name.replace("-00000", "")), rows) for path, rows in written]
        return written

    @staticmethod
    def _part(path: Path, rows: int) -> Part:
        return Part(file=path.name, rows=rows, sha256=parts.sha256(path))
