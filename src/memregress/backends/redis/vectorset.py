"""Vector sets: one key of Redis 8 that holds vectors under names, each with JSON attributes. VADD, VSIM, VEMB.

https://redis.io/docs/latest/develop/data-types/vector-sets/. Closeness is the cosine, as (1 + cosine) / 2; there is no
other metric. An element has no lifetime of its own: when it ends is an attribute, which searches filter by.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
import numpy as np
from redis import exceptions

from memregress import errors
from memregress.backends.redis import connection, facts, filtering, labels, vectors, vectorset_filter
from memregress.backends.redis.options import THOROUGH_EF, Options
from memregress.model import Hits, IndexInfo, MemoryBatch, Metric, QueryBatch, Rejected, Shape

STORED = {"f32": "float32"}
"""What VINFO calls a type, where we have another word."""
PART = 200
WIDEST = 20_000
EMPTY = "the memory has no vector, and a vector set holds nothing else"


def connect(
    pool: connection.Pool, where: str, *, space: str, shape: Shape, options: Options, in_place: bool
) -> VectorSet:
    """Open the set that is the key `space`, or begin one.

    Raises:
        BackendUnavailable: the server has no vector sets, or in place none of this name.
    """
    with connection.doing("looking at its vector sets", where):
        try:
            there = pool.ask("VCARD", space)
        except exceptions.ResponseError as error:
            if "WRONGTYPE" in str(error):
                raise errors.ConfigError(
                    f"the key {space} of Redis at {where} exists already, and is no vector set", "Give another --space."
                ) from error
            raise errors.BackendUnavailable(
                f"Redis at {where} has no vector sets: {error}",
                'They need Redis 8.0 or later; else write documents = "hash" under [redis] in memregress.toml.',
            ) from error
        if in_place and not there:
            raise errors.BackendUnavailable(
                f"Redis at {where} has no vector set {space!r}", "Give the key of one as --space."
            )
    return VectorSet(pool, where, space=space, shape=shape, options=options, in_place=in_place)


class VectorSet:
    """One vector set."""

    def __init__(
        self, pool: connection.Pool, where: str, *, space: str, shape: Shape, options: Options, in_place: bool
    ) -> None:
        self._pool = pool
        self._where = where
        self._space = space
        self._shape = shape
        self._options = options
        self._in_place = in_place
        self._known = filtering.Known(complete=not in_place)

    # Loadable

    def create(self) -> None:
        """Make sure that nothing lies under the space's name."""
        with connection.doing("creating its space", self._where):
            if self._pool.ask("EXISTS", self._space):
                raise errors.ConfigError(
                    f"the key {self._space} exists already in Redis at {self._where}",
                    "Choose another --space, replay what lies there with --in-place, or remove it.",
                )

    def load(self, batches: Iterable[MemoryBatch]) -> list[Rejected]:
        """Add all memories; VADD returns when an element can be found."""
        with connection.doing("loading memories", self._where):
            return list(itertools.chain.from_iterable(self._pool.stream(self._send, self._noted(batches))))

    def _noted(self, batches: Iterable[MemoryBatch]) -> Iterator[MemoryBatch]:
        for batch in batches:
            for metadata in batch.metadata:
                self._known.add(metadata)
            yield batch

    def _send(self, batch: MemoryBatch) -> list[Rejected]:
        rows = [row for row, dimensions in enumerate(batch.dimensions.tolist()) if dimensions]
        blobs = vectors.encode(batch.vectors, "float32")
        options = self._options
        head = ("VADD", self._space, "FP32")
        tail = (options.quantization.upper(), "EF", options.ef_construction, "M", options.m, "SETATTR")
        commands = [(*head, blobs[row], batch.ids[row], *tail, _attributes(batch, row, options)) for row in rows]
        answers = dict(zip(rows, self._pool.send(commands), strict=True))
        lost = [row for row in range(len(batch)) if isinstance(answers.get(row, ValueError(EMPTY)), Exception)]
        return [Rejected(id=batch.ids[row], reason=str(answers.get(row, EMPTY))) for row in lost]

    def index(self) -> None:
        """The graph grows with each element; there is nothing to build."""

    def drop(self) -> None:
        """Remove the set."""
        with connection.doing("dropping its space", self._where):
            self._pool.ask("UNLINK", self._space)

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    # Inspectable

    def fetch(self, ids: Sequence[str]) -> MemoryBatch:
        """Read elements back; of a quantised set the vectors are what is left of them."""
        with connection.doing("reading memories back", self._where):
            parts = (ids[start : start + PART] for start in range(0, len(ids), PART))
            questions = ([(word, self._space, id_) for id_ in part for word in ("VEMB", "VGETATTR")] for part in parts)
            answers = [answer for part in self._pool.pipelines(questions) for answer in part]
        for answer in answers:
            if isinstance(answer, exceptions.RedisError):
                raise errors.BackendError(f"{self._space} cannot be read: {answer}", "See the server's message.")
        pairs = zip(ids, answers[::2], answers[1::2], strict=True)
        found = [(id_, vector, _decoded(attributes)) for id_, vector, attributes in pairs if vector is not None]
        fields = self._options.fields
        width = max((len(vector) for _, vector, _ in found), default=0)
        documents = [document for _, _, document in found]
        return MemoryBatch(
            ids=[id_ for id_, _, _ in found],
            vectors=np.array([vector for _, vector, _ in found], np.float32).reshape(len(found), width),
            dimensions=np.full(len(found), width, np.int32),
            users=[document.get(fields.user) for document in documents],
            contents=[str(document.get(fields.content, "")) for document in documents],
            created_at=[_time(document.get(fields.created_at)) for document in documents],
            expires_at=[_time(document.get("expires_at")) for document in documents],
            metadata=[document.get(fields.metadata) or {} for document in documents],
        )

    def describe(self) -> IndexInfo:
        """Tell the facts of server and set."""
        with connection.doing("reading the vector set", self._where):
            answer = self._pool.ask("VINFO", self._space) or {}
            server, watched = facts.server(self._pool)
        if not answer:
            raise errors.BackendUnavailable(f"there is no vector set {self._space} yet", "Load the golden set first.")
        info = {key.decode(): value for key, value in answer.items()}
        kept = info["quant-type"].decode()
        fields, effort = self._options.fields, self._effort()
        names = {name: getattr(fields, name) for name in fields.__struct_fields__}
        unknown = [name for name, there in names.items() if not there and name != "vector"]
        return IndexInfo(
            server=server,
            location=self._space,
            rows=int(info["size"]),
            stored_as=STORED.get(kept, kept),
            dimensions=int(info["vector-dim"]),
            metric=Metric.COSINE,
            kind="hnsw",
            index=self._space,
            index_metric=Metric.COSINE,
            parameters={"M": info["hnsw-m"], "quantization": kept},
            settings=dict(zip(effort[::2], effort[1::2], strict=True)) | watched,
            not_stored=[*unknown, *([] if self._own else ["expires_at"])],
            names={**names, "vector": "(the element)", "id": "(the element)"},
        )

    # Searchable, ExactSearchable, Tunable

    def search(self, queries: QueryBatch) -> Hits:
        """Search as the application does."""
        return self._search(queries, self._effort())

    def search_exact(self, queries: QueryBatch) -> Hits:
        """Compare with every element that passes the filter: exact over what is stored, which quantising rounds."""
        return self._search(queries, ("TRUTH",))

    def search_index(self, queries: QueryBatch, *, wide: bool) -> Hits:
        """Search through the graph; `wide` with as many candidates as there are elements, up to 20,000."""
        if not wide:
            return self.search(queries)
        rows = int(self._pool.ask("VCARD", self._space))
        return self._search(queries, ("EF", min(max(rows, *queries.k, 1), WIDEST), "FILTER-EF", max(rows, 1)))

    def _effort(self) -> tuple[Any, ...]:
        limit = () if self._options.filter_ef is None else ("FILTER-EF", self._options.filter_ef)
        return (*(("EF", self._ef) if self._ef else ()), *limit)

    @property
    def _ef(self) -> int | None:
        return self._options.ef_runtime or (None if self._in_place else THOROUGH_EF)

    def _search(self, queries: QueryBatch, how: tuple[Any, ...]) -> Hits:
        blobs = vectors.encode(queries.vectors, "float32")
        commands = []
        for row, blob in enumerate(blobs):
            condition = self._conditions.expression(queries.users[row], queries.filters[row])
            where = ("FILTER", condition) if condition else ()
            words = ("VSIM", self._space, "FP32", blob, "WITHSCORES", "COUNT", queries.k[row], *how, *where)
            commands.append(words)
        ids: list[list[str]] = []
        similarity: list[list[float]] = []
        with connection.doing("searching", self._where):
            parts = (commands[start : start + PART] for start in range(0, len(commands), PART))
            for answer in (answer for part in self._pool.pipelines(parts) for answer in part):
                if isinstance(answer, exceptions.RedisError):
                    raise answer
                found = dict(answer)  # a set that is not there answers with a list of nothing
                ids.append([id_.decode(errors="replace") for id_ in found])
                similarity.append([2 * float(score) - 1 for score in found.values()])
        return Hits(ids=ids, similarity=similarity, used_index=np.full(len(ids), "TRUTH" not in how, np.bool_))

    @functools.cached_property
    def _own(self) -> bool:
        """Whether the elements are memregress's, of this run or of an earlier one."""
        if not self._in_place:
            return True
        one = self._pool.ask("VRANDMEMBER", self._space)
        return one is not None and vectorset_filter.ENDS in _decoded(self._pool.ask("VGETATTR", self._space, one))

    @functools.cached_property
    def _conditions(self) -> vectorset_filter.Own | vectorset_filter.Theirs:
        if self._own:
            alive_at = self._shape.clock.timestamp() if self._shape.lifetimes else None
            return vectorset_filter.Own(self._known, alive_at=alive_at)
        return vectorset_filter.Theirs(self._options.fields.user)


def _attributes(batch: MemoryBatch, row: int, options: Options) -> bytes:
    fields, metadata = options.fields, batch.metadata[row]
    user, time, ends = batch.users[row], batch.created_at[row], batch.expires_at[row]
    document: dict[str, Any] = {fields.content: batch.contents[row], fields.metadata: metadata}
    if user is not None:
        document |= {fields.user: user, labels.USER: labels.user(user)}
    if time is not None:
        document[fields.created_at] = time.isoformat()
    if ends is not None:
        document["expires_at"] = ends.isoformat()
    document[vectorset_filter.ENDS] = vectorset_filter.NEVER if ends is None else ends.timestamp()
    document[labels.LABELS] = labels.values(metadata)
    return msgspec.json.encode(document | {labels.number(key): number for key, number in labels.numbers(metadata)})


def _decoded(attributes: bytes | None) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(attributes) if attributes else {}
    except msgspec.MsgspecError:
        return {}
    return found if isinstance(found, dict) else {}


def _time(text: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return found.astimezone(UTC) if found is not None and found.tzinfo else None
