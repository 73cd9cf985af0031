"""The BEIR layout, in and out: `corpus.jsonl`, `queries.jsonl` and `qrels/*.tsv`.

BEIR has no vectors, so they lie beside it, as `corpus.npy` and `queries.npy`, a row for each line. It has no users,
times or filters either: those are written as further keys, which readers of BEIR pass over, and read where present.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from memregress import errors
from memregress.golden import encoding, incoming, npy
from memregress.golden.golden_set import GoldenSet
from memregress.golden.problems import Problems
from memregress.golden.writing import Recorded, unbatch
from memregress.model import Filter, Memory, MemoryBatch, Query


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A line of `corpus.jsonl`."""

    id: str = msgspec.field(name="_id")
    title: str = ""
    text: str = ""
    metadata: dict[str, Any] | None = None
    user: str | None = None
    created_at: datetime | None = None
    expires_at: datetime | None = None


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A line of `queries.jsonl`."""

    id: str = msgspec.field(name="_id")
    text: str = ""
    user: str | None = None
    filter: Filter | None = None
    k: int = 10
    min_similarity: float | None = None


def memories(folder: Path, vectors: Path) -> Iterator[MemoryBatch]:
    """Stream the corpus with its vectors; a title stands before the text.

    Raises:
        GoldenError: with all problems of the corpus, when its last line has been read.
    """
    problems = Problems(str(folder))
    documents = incoming.decode(folder / "corpus.jsonl", Document, problems)
    yield from incoming.beside((_memory(document) for _, document in documents), vectors, problems)


def _memory(document: Document) -> Memory:
    return Memory(
        id=document.id,
        user=document.user,
        content=f"{document.title}\n{document.text}" if document.title else document.text,
        created_at=document.created_at,
        expires_at=document.expires_at,
        metadata=document.metadata or {},
    )


def queries(folder: Path, vectors: Path | None) -> list[Recorded]:
    """Read the queries with their vectors; relevant documents (a positive qrels score) become labels.

    Raises:
        GoldenError: with all problems of queries and qrels.
    """
    problems = Problems(str(folder))
    labels = _labels(folder, problems)
    questions = [question for _, question in incoming.decode(folder / "queries.jsonl", Question, problems)]
    problems.raise_any()
    return incoming.recorded([_query(question, labels.get(question.id, [])) for question in questions], vectors)


def _query(question: Question, labels: list[str]) -> Query:
    return Query(
        id=question.id,
        text=question.text or None,
        user=question.user,
        filter=question.filter,
        k=question.k,
        min_similarity=question.min_similarity,
        labels=labels,
    )


def _labels(folder: Path, problems: Problems) -> dict[str, list[str]]:
    labels: dict[str, list[str]] = defaultdict(list)
    for path in sorted(folder.glob("qrels/*.tsv")):
        for line, data in enumerate(path.read_bytes().splitlines(), start=1):
            if not (line == 1 and data.startswith(b"query-id")):
                _label(data, labels, problems, file=f"qrels/{path.name}", line=line)
    return labels


def _label(data: bytes, labels: dict[str, list[str]], problems: Problems, *, file: str, line: int) -> None:
    try:
        query, document, score = data.decode().split("\t")
        relevant = int(score) > 0
    except ValueError:
        problems.add("is not query-id, corpus-id and a whole score, with tabs between", file=file, line=line)
        return
    if relevant and document not in labels[query]:
        labels[query].append(document)


def write(golden: GoldenSet, folder: Path) -> None:
    """Write a golden set's memories, queries, judgements and vectors into an empty folder.

    Where people labelled nothing for a query, its qrels are what it must find.
    """
    with (folder / "corpus.jsonl").open("xb") as lines, (folder / "corpus.npy").open("xb") as vectors:
        vectors.write(npy.header(len(golden), golden.shape.dimensions))
        for batch in golden.batches():
            lines.writelines(encoding.line(_document(memory)) for memory in unbatch(batch))
            vectors.write(batch.vectors.data)
    with (folder / "queries.jsonl").open("xb") as lines:
        lines.writelines(encoding.line(_question(query)) for query in golden.queries)
    if golden.query_vectors is not None:
        np.save(folder / "queries.npy", golden.query_vectors)
    _write_qrels(golden, folder / "qrels" / "test.tsv")


def _document(memory: Memory) -> dict[str, Any]:
    return {
        "_id": memory.id,
        "title": "",
        "text": memory.content,
        "metadata": memory.metadata,
        "user": memory.user,
        "created_at": encoding.optional(memory.created_at),
        "expires_at": encoding.optional(memory.expires_at),
    }


def _question(query: Query) -> dict[str, Any]:
    return {
        "_id": query.id,
        "text": query.text or "",
        "user": query.user,
        "filter": query.filter,
        "k": query.k,
        "min_similarity": query.min_similarity,
    }


def _write_qrels(golden: GoldenSet, path: Path) -> None:
    path.parent.mkdir()
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write("query-id\tcorpus-id\tscore\n")
        for query in golden.queries:
            relevant = query.labels or [expected.id for expected in query.expected if expected.must]
            file.writelines(f"{_cell(query.id)}\t{_cell(id_)}\t1\n" for id_ in relevant)


def _cell(id_: str) -> str:
    if any(mark in id_ for mark in "\t\r\n"):
        raise errors.ConfigError(f"the id {id_!r} cannot stand in a qrels file", "Export to Parquet instead.")
    return id_
