"""From other forms to a golden set: memories streamed, and expectations computed where the source has none."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from memregress import errors
from memregress.golden import beir, expecting, inline, parquet, reading, writing
from memregress.golden.manifest import Manifest, Vectors
from memregress.golden.writing import Recorded
from memregress.model import MemoryBatch, Metric

Form = Literal["beir", "jsonl", "parquet"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Where memories and queries come from; a BEIR folder holds both, otherwise `queries` is a file of JSON lines."""

    path: Path
    form: Form
    vectors: Path | None = None
    queries: Path | None = None
    query_vectors: Path | None = None

    def memories(self) -> Iterator[MemoryBatch]:
        """Stream the memories."""
        if self.form == "parquet":
            return parquet.memories(self.path)
        if self.form == "jsonl":
            return inline.memories(self.path, self.vectors)
        return beir.memories(self.path, self.vectors or self.path / "corpus.npy")

    def recorded(self) -> list[Recorded]:
        """Read the queries."""
        if self.form == "beir" and self.queries is None:
            beside = self.path / "queries.npy"
            return beir.queries(self.path, self.query_vectors or (beside if beside.exists() else None))
        return inline.queries(self.queries, self.query_vectors) if self.queries else []

    def facts(self) -> Facts:
        """Return what the source itself says of the set to be."""
        found = parquet.facts(self.path) if self.form == "parquet" else {}
        return Facts(
            name=found.get("name"), captured_at=found.get("captured_at"), vectors=dict(found.get("vectors", {}))
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What a source may say of itself; `captured_at` is RFC 3339 text."""

    name: str | None = None
    captured_at: str | None = None
    vectors: Mapping[str, Any] = field(default_factory=dict)


def guess_form(path: Path) -> Form:
    """Tell a source's form from its name: a folder is BEIR, a file goes by its suffix."""
    if path.is_dir():
        return "beir"
    if path.suffix == ".parquet":
        return "parquet"
    if path.name.endswith((".jsonl", ".jsonl.zst")):
        return "jsonl"
    raise errors.ConfigError(f"cannot tell what {path} is", "Say so: --from parquet, --from beir or --from jsonl.")


def bring(
    target: Path,
    source: Source,
    *,
    name: str,
    created_at: datetime,
    captured_at: datetime,
    metric: Metric,
    model: str | None = None,
    normalized: bool | None = None,
    stored_as: str = "float32",
) -> Manifest:
    """Write a golden set from a source; queries without expectations get those of exact search.

    Raises:
        ConfigError: the target exists, or the source holds no vector.
        GoldenError: with the problems of the source, or of the set it would give; nothing was written.
    """
    queries = source.recorded()
    memories, dimensions = _measured(source)
    vectors = Vectors(dimensions=dimensions, metric=metric, model=model, normalized=normalized, stored_as=stored_as)
    arguments: dict[str, Any] = {
        "name": name,
        "created_at": created_at,
        "captured_at": captured_at,
        "vectors": vectors,
        "source": {"form": source.form},
    }
    if not _need_expectations(queries):
        return writing.write(target, memories=memories, queries=queries, **arguments)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as scratch:
        writing.write(Path(scratch) / "memories", memories=memories, **arguments)
        golden = reading.open_set(Path(scratch) / "memories")
        answered = expecting.exact(golden, queries)
        return writing.write(target, memories=golden.batches(), queries=answered, **arguments)


def _need_expectations(queries: Sequence[Recorded]) -> bool:
    return any(vector is not None and not query.expected for query, vector in queries)


def _measured(source: Source) -> tuple[Iterable[MemoryBatch], int]:
    """The memories, and how many dimensions their vectors have: the first batch tells."""
    batches = source.memories()
    first = next(batches, None)
    if first is None or first.vectors.shape[1] == 0:
        raise errors.ConfigError(f"{source.path} holds no vectors", "Give them with --vectors FILE.npy.")
    return itertools.chain([first], batches), first.vectors.shape[1]
