"""Memories as Parquet, in and out, streamed by row groups; pyarrow is imported when this module is used.

Columns: `id`, `user`, `content`, `vector` (fixed_size_list<float32>), `created_at`, `expires_at` (timestamps in UTC)
and `metadata` (JSON text). Reading also takes lists of float64, structs and maps, and whole numbers as ids.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import numpy as np

from memregress import errors
from memregress.backends import registry
from memregress.golden import incoming
from memregress.golden.golden_set import GoldenSet
from memregress.model import Floats, Memory, MemoryBatch

ROW_GROUP = 10_000
_COLUMNS = ("id", "user", "content", "vector", "created_at", "expires_at", "metadata")


def _arrow(module: str = "") -> ModuleType:
    registry.require("pyarrow", extra="parquet")
    return importlib.import_module(f"pyarrow{module}")


def memories(path: Path) -> Iterator[MemoryBatch]:
    """Stream the memories of a Parquet file.

    Raises:
        GoldenError: naming the column that is missing or not of a type that can be read.
    """
    parquet = _arrow(".parquet")
    arrow = _arrow()
    try:
        with parquet.ParquetFile(path) as file:
            present = [name for name in _COLUMNS if name in file.schema_arrow.names]
            _check_columns(path, present)
            for table in file.iter_batches(batch_size=incoming.BATCH, columns=present):
                yield _batch({name: table.column(name) for name in present}, path)
    except (arrow.ArrowException, OSError) as error:
        raise _unreadable(path, f"cannot be read: {error}") from error


def _check_columns(path: Path, present: list[str]) -> None:
    for name in ("id", "vector"):
        if name not in present:
            raise _unreadable(path, "there is no such column", field=name)


def _unreadable(path: Path, what: str, *, field: str | None = None, line: int | None = None) -> errors.GoldenError:
    problem = errors.Problem(file=path.name, line=line, field=field, what=what)
    return errors.GoldenError(str(path), [problem], f"Columns that are read: {', '.join(_COLUMNS)}.")


def _batch(columns: dict[str, Any], path: Path) -> MemoryBatch:
    vectors = _vectors(columns["vector"], path)
    taken = {name: _values(columns[name], name) for name in columns if name != "vector"}
    present = columns["vector"].is_valid().to_pylist()
    rows = [dict(zip(taken, values, strict=True)) for values in zip(*taken.values(), strict=True)]
    return incoming.batch(
        [_memory(row, path, vector=has_vector) for row, has_vector in zip(rows, present, strict=True)], vectors
    )


def _values(column: Any, name: str) -> list[Any]:
    arrow = _arrow()
    if arrow.types.is_timestamp(column.type):
        column = column.cast(arrow.timestamp("us", column.type.tz), safe=False)
    values: list[Any] = column.to_pylist()
    return [str(value) if isinstance(value, int) else value for value in values] if name in ("id", "user") else values


def _memory(row: dict[str, Any], path: Path, *, vector: bool) -> Memory:
    try:
        fields = {**row, "content": row.get("content") or "", "metadata": _metadata(row.get("metadata"))}
        return msgspec.convert({**fields, "vector": vector}, Memory)
    except msgspec.MsgspecError as error:
        raise _unreadable(path, f"memory {row['id']!r}: {error}") from error


def _metadata(value: Any) -> Any:
    if value is None:
        return {}
    if isinstance(value, list):  # a map comes as pairs
        return dict(value)
    return msgspec.json.decode(value) if isinstance(value, (str, bytes)) else value


def _vectors(column: Any, path: Path) -> Floats:
    """float32[n, d] of a column of lists, NaN where it is null."""
    compute = _arrow(".compute")
    arrow = _arrow()
    if not (arrow.types.is_fixed_size_list(column.type) or arrow.types.is_list(column.type)):
        raise _unreadable(path, f"is {column.type}, not a list of numbers", field="vector")
    present = column.is_valid().to_numpy(zero_copy_only=False)
    lengths = set(compute.list_value_length(column).drop_null().to_pylist())
    if len(lengths) > 1:
        raise _unreadable(path, f"has vectors of {sorted(lengths)} dimensions", field="vector")
    fixed = column.type.list_size if arrow.types.is_fixed_size_list(column.type) else 0
    vectors = np.full((len(column), lengths.pop() if lengths else fixed), np.nan, dtype=np.float32)
    vectors[present] = column.flatten().to_numpy(zero_copy_only=False).reshape(-1, vectors.shape[1])
    return vectors


def facts(path: Path) -> dict[str, Any]:
    """Return what an export of ours says of its golden set (name, captured_at, metric …); nothing for others."""
    parquet = _arrow(".parquet")
    arrow = _arrow()
    try:
        words = (parquet.read_schema(path).metadata or {}).get(b"memregress", b"{}")
        found: dict[str, Any] = msgspec.json.decode(words, type=dict[str, Any])
    except (arrow.ArrowException, OSError, msgspec.MsgspecError) as error:
        raise _unreadable(path, f"cannot be read: {error}") from error
    return found


def write(golden: GoldenSet, path: Path) -> None:
    """Write the memories of a golden set to a new Parquet file."""
    parquet = _arrow(".parquet")
    arrow = _arrow()
    schema = _schema(golden)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in golden.batches(size=ROW_GROUP):
            writer.write_table(arrow.Table.from_arrays(_arrays(batch, schema), schema=schema))


def _schema(golden: GoldenSet) -> Any:
    arrow = _arrow()
    time = arrow.timestamp("us", "UTC")
    types = {
        "id": arrow.string(),
        "user": arrow.string(),
        "content": arrow.string(),
        "vector": arrow.list_(arrow.float32(), golden.shape.dimensions),
        "created_at": time,
        "expires_at": time,
        "metadata": arrow.string(),
    }
    manifest = golden.manifest
    words = {"name": manifest.name, "captured_at": manifest.captured_at, "vectors": manifest.vectors}
    return arrow.schema(list(types.items()), metadata={"memregress": msgspec.json.encode(words, order="sorted")})


def _arrays(batch: MemoryBatch, schema: Any) -> list[Any]:
    arrow = _arrow()
    columns = {
        "id": batch.ids,
        "user": batch.users,
        "content": batch.contents,
        "created_at": batch.created_at,
        "expires_at": batch.expires_at,
        "metadata": [msgspec.json.encode(metadata, order="sorted").decode() for metadata in batch.metadata],
    }
    arrays = {name: arrow.array(values, type=schema.field(name).type) for name, values in columns.items()}
    absent = arrow.array(batch.dimensions == 0)
    values = arrow.array(batch.vectors.ravel())
    arrays["vector"] = arrow.FixedSizeListArray.from_arrays(values, type=schema.field("vector").type, mask=absent)
    return [arrays[name] for name in _COLUMNS]
