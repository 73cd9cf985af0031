"""Reports as files: read with a check against their schema, written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from memregress import errors
from memregress.report import Failure, Report


def read(path: Path) -> Report:
    """Read a report, checking it against its schema.

    Raises:
        ConfigError: it cannot be read, or is no report of this version; says which field.
    """
    return decode(_bytes(path), str(path))


def read_failure(path: Path) -> Failure:
    """Read what stands in for a report where nothing was judged; see `read`."""
    with _refusing(str(path)):
        return msgspec.json.decode(_bytes(path), type=Failure)


def decode(data: bytes, name: str) -> Report:
    """Decode a report; `name` is where it came from; see `read`."""
    with _refusing(name):
        return msgspec.json.decode(data, type=Report)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise errors.ConfigError(
            f"{path}: {error.strerror}", "Give the report.json that a replay wrote with --out."
        ) from error


@contextlib.contextmanager
def _refusing(name: str) -> Iterator[None]:
    try:
        yield
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise errors.ConfigError(
            f"{name} is no report of memregress: {error}", "Its schema is printed by `memregress schema`."
        ) from error


def encode(report: Report) -> bytes:
    """Return `report.json`: readable, one line a value, and a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"


def encode_failure(failure: Failure) -> bytes:
    """Return `failure.json`, which stands in for `report.json` where there is none."""
    return msgspec.json.format(msgspec.json.encode(failure), indent=2) + b"\n"


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    """Write files so that each is there whole or not at all.

    Raises:
        PublishError: the folder cannot be made or the disk is full; nothing half-written stays.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            _write(folder / name, data)
    except OSError as error:
        raise errors.PublishError(
            f"the report could not be written to {folder}: {error.strerror}", "Free some space, or give another --out."
        ) from error


def _write(path: Path, data: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
