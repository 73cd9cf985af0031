"""Settings: flags go before `memregress.toml`, which goes before defaults. Nothing here reads the network.

``memregress.toml`` holds one table a backend (see its `Options`) beside the keys of `Settings`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from memregress import errors
from memregress.backends import registry
from memregress.report import FailOn

FILE = "memregress.toml"


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of ``memregress.toml`` outside the backends' tables; null leaves it to the golden set's policy."""

    backend: str | None = None
    """The store to test."""
    image: str | None = None
    """The container image of a store that memregress starts."""
    fail_on: FailOn = FailOn.REGRESSION
    """`any` broken memory fails the gate, only a `regression` against the baseline, or `never`."""
    min_similarity: float | None = None
    """Your application's similarity threshold, in place of the one each query was recorded with."""
    similarity_tolerance: float | None = None
    """How far a similarity may move; by default what the stored vector type can hold."""
    rank_tolerance: int | None = None
    """How many ranks a memory may lose."""
    max_index_misses: float | None = None
    """Share of memories that an approximate index may miss at the settings in force; by default 0.01, or what the
    baseline's index missed, if that is more."""
    probe_k: int | None = None
    """How many hits a self-probe asks for; by default 10."""


Struct = TypeVar("Struct", bound=msgspec.Struct)


class File(msgspec.Struct, frozen=True, kw_only=True):
    """A settings file: the general keys, and the backends' tables as they stand."""

    path: Path | None = None
    settings: Settings = Settings()
    tables: dict[str, dict[str, Any]] = {}

    def options(self, name: str, type_: type[Struct]) -> Struct:
        """Return a backend's options; file patterns in them are relative to the settings file."""
        table = dict(self.tables.get(name, {}))
        if isinstance(table.get("setup"), list) and self.path is not None:
            table["setup"] = [str(self.path.parent / str(pattern)) for pattern in table["setup"]]
        return _convert(table, type_, f"{self.path}: [{name}]")


def load(path: Path | None) -> File:
    """Read a settings file; without a path ``memregress.toml`` of the working directory, where there is one.

    Raises:
        ConfigError: it cannot be read or parsed, or a key is unknown or of the wrong type; says which.
    """
    if path is None:
        path = Path(FILE)
        if not path.exists():
            return File()
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise errors.ConfigError(f"{path}: {error.strerror}", "Check --config.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise errors.ConfigError(f"{path}: {error}", "Mend the line; see https://toml.io.") from error
    tables = {name: document.pop(name) for name in list(document) if name in registry.BACKENDS}
    return File(path=path, settings=_convert(document, Settings, str(path)), tables=tables)


def _convert(document: Any, type_: type[Struct], where: str) -> Struct:
    try:
        return msgspec.convert(document, type_)
    except msgspec.ValidationError as error:
        known = [field.encode_name for field in msgspec.structs.fields(type_)]
        unknown = next((name for name in document if name not in known), None) if isinstance(document, dict) else None
        hint = errors.did_you_mean(unknown, known) if unknown else ""
        raise errors.ConfigError(f"{where}: {error}", f"{hint}Known keys: {', '.join(known)}.") from error
