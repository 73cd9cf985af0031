"""Reading the queries of a golden set, and the rules a query must keep against its memories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import msgspec
import numpy as np

from memregress import filters
from memregress.golden import npy
from memregress.golden.manifest import K_LIMIT, Manifest
from memregress.golden.memories import Memories, check_counts, map_vectors, note_faults, numbered
from memregress.golden.parts import Pair
from memregress.golden.problems import Problems
from memregress.model import Floats, Metric, Query

DECODER = msgspec.json.Decoder(Query)


@dataclass(kw_only=True, slots=True, eq=False)
class Queries:
    """All queries, where each stands, and their vectors by part."""

    items: list[Query] = field(default_factory=list)
    places: list[tuple[str, int]] = field(default_factory=list)
    vectors: list[Floats] = field(default_factory=list)

    @property
    def matrix(self) -> Floats | None:
        """float32[q, d]; mapped where there is one part, None where the queries are text only."""
        if not self.vectors:
            return None
        return self.vectors[0] if len(self.vectors) == 1 else np.concatenate(self.vectors)


def read(pairs: list[Pair], memories: Memories, manifest: Manifest, problems: Problems) -> Queries:
    """Read all parts, noting what is wrong in them."""
    queries = Queries()
    first_line: dict[str, tuple[str, int]] = {}
    for pair in pairs:
        vectors = map_vectors(pair, manifest, problems)
        before = len(queries.items)
        for line, query in _decode(pair, problems):
            queries.items.append(query)
            queries.places.append((pair.lines.name, line))
            if query is not _UNREADABLE:
                note = partial(problems.add, file=pair.lines.name, line=line)
                other = first_line.setdefault(query.id, (pair.lines.name, line))
                _check(query, memories, note, other=other if other != (pair.lines.name, line) else None)
                if not query.text and pair.vectors is None:
                    note("a query needs text or a vector", field="text")
        check_counts(pair, len(queries.items) - before, len(vectors), problems)
        if pair.vectors is not None:
            queries.vectors.append(vectors)
            _check_vectors(pair.vectors.name, vectors, manifest, problems)
    return queries


_UNREADABLE = Query(id="")


def _decode(pair: Pair, problems: Problems) -> Iterator[tuple[int, Query]]:
    for line, data in numbered(pair, problems):
        try:
            yield line, DECODER.decode(data)
        except (msgspec.MsgspecError, RecursionError):
            note_faults(data, Query, problems, file=pair.lines.name, line=line)
            yield line, _UNREADABLE


def _check(query: Query, memories: Memories, note: partial[None], *, other: tuple[str, int] | None) -> None:
    if not query.id:
        note("is empty", field="id")
    if other:
        note(f"{query.id!r} is also the id of {other[0]}:{other[1]}", field="id")
    if not 1 <= query.k <= K_LIMIT:
        note(f"{query.k} is not between 1 and {K_LIMIT:,}", field="k")
    _check_filter(query, note)
    _check_known(query, memories, note)
    _check_expected(query, memories, note)


def _check_filter(query: Query, note: partial[None]) -> None:
    try:
        for _ in filters.conditions(query.filter):
            pass
    except ValueError as error:
        note(str(error), field="filter")


def _check_known(query: Query, memories: Memories, note: partial[None]) -> None:
    named = {
        "expected": [expected.id for expected in query.expected],
        "forbidden": query.forbidden,
        "labels": query.labels,
    }
    for name, ids in named.items():
        for position, id_ in enumerate(ids):
            if id_ not in memories.row_of:
                note(f"there is no memory {id_!r}", field=f"{name}[{position}]")
    for id_ in sorted(set(named["expected"]) & set(query.forbidden)):
        note(f"{id_!r} is expected and forbidden", field="forbidden")


def _check_expected(query: Query, memories: Memories, note: partial[None]) -> None:
    seen: set[str] = set()
    for position, expected in enumerate(query.expected):
        field_ = f"expected[{position}]"
        if expected.id in seen:
            note(f"{expected.id!r} is there twice", field=field_)
        seen.add(expected.id)
        if expected.max_rank is not None and expected.max_rank < 1:
            note(f"{expected.max_rank} is not a rank; ranks count from 1", field=f"{field_}.max_rank")
        _check_owner(query, expected.id, memories, partial(note, field=field_))
    musts = sum(expected.must for expected in query.expected)
    if musts > query.k:
        note(f"{musts} that must be found do not fit into k = {query.k}", field="expected")


def _check_owner(query: Query, id_: str, memories: Memories, note: partial[None]) -> None:
    row = memories.row_of.get(id_)
    if query.user is None or row is None or id_ in memories.damaged:
        return
    if memories.users[row] != query.user:
        note(f"{id_!r} belongs to user {memories.users[row]!r}, the query to {query.user!r}")


def _check_vectors(file: str, vectors: Floats, manifest: Manifest, problems: Problems) -> None:
    zero_allowed = manifest.vectors.metric is not Metric.COSINE
    for flaw in npy.flaws(vectors, np.ones(len(vectors), dtype=bool), zero_allowed=zero_allowed):
        problems.add(flaw.what, file=file, line=flaw.row + 1, field="vector")
