"""A folder that appears as a whole or not at all."""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from memregress import errors


@contextlib.contextmanager
def folder(target: Path) -> Iterator[Path]:
    """Yield a new folder beside the target that becomes the target on success, and goes away on any failure.

    Raises:
        ConfigError: the target exists.
    """
    _refuse_existing(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    partial.mkdir()
    try:
        yield partial
        _refuse_existing(target)
        partial.rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _refuse_existing(target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise errors.ConfigError(f"{target} exists already", "Choose another folder, or remove it first.")
