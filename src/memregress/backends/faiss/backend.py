"""The FAISS backend: what the protocols of `memregress.backends` ask, answered by an index and its docstore."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from memregress import errors
from memregress.backends import Effort
from memregress.backends.faiss import docstore, files, indexes, searching
from memregress.backends.faiss.docstore import NOBODY, Numbers
from memregress.backends.faiss.options import Options
from memregress.model import Bools, Floats, Hits, IndexInfo, MemoryBatch, Metric, QueryBatch, Rejected, Shape


def connect(url: str, *, space: str, shape: Shape, options: Options, in_place: bool = False) -> FlatBackend:
    """Open the store at a URL: a folder, ``file:///folder``, or nothing (``memory:``) for one in memory.

    If the folder has the space already it is read, and the index there says itself what it is.

    Raises:
        ConfigError: the URL is none of these, or the space is there though a new one is wanted.
        BackendUnavailable: a file of the space cannot be read, or in place there is none.
    """
    place = files.folder(url, space)
    memories = docstore.Docstore(shape.clock)
    _check_space(place, in_place=in_place)
    if place is None or not in_place:
        made = FlatBackend if options.index == "flat" else ApproximateBackend
        return made(place=place, memories=memories, index=None, shape=shape, options=options)
    index, lines = files.read(place)
    memories.append(lines)
    indexes.tune(index, options)
    found = FlatBackend if indexes.kind(index) == "flat" else ApproximateBackend
    return found(place=place, memories=memories, index=index, shape=shape, options=options)


def _check_space(place: Path | None, *, in_place: bool) -> None:
    """In place the space must be there; else it must not, so that nothing of the user's is overwritten."""
    if in_place and (place is None or not place.exists()):
        raise errors.BackendUnavailable(
            f"there is no FAISS index at {place or 'memory'}",
            "Give the folder as --url, and the folder in it as --space.",
        )
    if not in_place and place is not None and place.exists():
        raise errors.ConfigError(
            f"the space exists already: {place}",
            "Choose another --space, replay what lies there with --in-place, or remove it.",
        )


class FlatBackend:
    """An exact index: it compares a query with every vector."""

    used_index = False

    def __init__(
        self, *, place: Path | None, memories: docstore.Docstore, index: Any, shape: Shape, options: Options
    ) -> None:
        self._place = place
        self._memories = memories
        self._index = index
        self._shape = shape
        self._options = options
        self._created = False
        self._waiting: list[Floats] = []

    # Loadable

    def create(self) -> None:
        """Make the space."""
        try:
            if self._place is not None:
                self._place.mkdir(parents=True)
        except OSError as error:
            raise errors.BackendUnavailable(f"{self._place}: {error.strerror}", "Give another folder.") from error
        self._created = True

    def load(self, batches: Iterable[MemoryBatch]) -> list[Rejected]:
        """Take in memories; vectors wait for `index`, or the first search, as training needs all of them."""
        rejected: list[Rejected] = []
        for batch in batches:
            taken, refused = self._examine(batch)
            rejected += refused
            self._take(batch, taken)
        return rejected

    def index(self) -> None:
        """Build the index over what was loaded, and write the store if it has a folder."""
        self._build()
        if self._place is not None and self._created:
            files.write(self._place, self._index, self._memories)

    def _build(self) -> None:
        vectors = np.concatenate([np.empty((0, self._shape.dimensions), np.float32), *self._waiting])
        self._waiting.clear()
        with indexes.calling(self._options.threads):
            if self._index is None:
                self._index = indexes.empty(
                    self._options, dimensions=self._shape.dimensions, metric=self._wanted, expected=len(vectors)
                )
            indexes.fill(self._index, vectors)
        self._forget()

    def drop(self) -> None:
        """Remove the space if this run made it."""
        if self._created and self._place is not None:
            files.remove(self._place)
        self._created = False

    def close(self) -> None:
        """Let go of the memory."""
        self._index = None
        self._waiting.clear()
        self._forget()

    def _examine(self, batch: MemoryBatch) -> tuple[list[int], list[Rejected]]:
        """Tell the memories that can be taken from those that cannot: FAISS itself would take any numbers."""
        taken, rejected = [], []
        finite: Bools = np.all(np.isfinite(batch.vectors), axis=1)
        for row, (id_, dimensions) in enumerate(zip(batch.ids, batch.dimensions.tolist(), strict=True)):
            if dimensions not in (0, self._shape.dimensions):
                reason = f"its vector has {dimensions} dimensions, the index {self._shape.dimensions}"
            elif dimensions and not finite[row]:
                reason = "its vector holds NaN or infinity: FAISS would take it, and never find it"
            else:
                taken.append(row)
                continue
            rejected.append(Rejected(id=id_, reason=reason))
        return taken, rejected

    def _take(self, batch: MemoryBatch, rows: list[int]) -> None:
        with_vector = [row for row in rows if batch.dimensions[row]]
        vectors = np.ascontiguousarray(batch.vectors[with_vector], dtype=np.float32)
        norms: list[float | None] = [None] * len(with_vector)
        if self._wanted is Metric.COSINE:
            vectors, lengths = searching.unit(vectors)
            norms = lengths.tolist()
        first = sum(len(waiting) for waiting in self._waiting) + (self._index.ntotal if self._index else 0)
        numbered = {row: (first + place, norms[place]) for place, row in enumerate(with_vector)}
        self._memories.append(docstore.line_of(batch, row, *numbered.get(row, (None, None))) for row in rows)
        self._waiting.append(vectors)

    # Searchable, ExactSearchable

    def search(self, queries: QueryBatch) -> Hits:
        """Answer as the application would: the index, with the filter before or after."""
        return self._answer(self._search(indexes.asking(self._ready)), queries)

    def search_exact(self, queries: QueryBatch) -> Hits:
        """Answer from the vectors read back from the index, filtered before."""
        numbers, vectors = self._contents
        ask = indexes.asking_exactly(vectors, self._ready.metric_type)
        return self._answer(self._search(ask, numbers=numbers, pre=True), queries, used_index=False)

    def _search(self, ask: indexes.Ask, *, numbers: Numbers | None = None, pre: bool = False) -> searching.Search:
        """One way to search; `numbers` are those of the places `ask` answers with, if not the index's own."""
        numbering = self._numbering
        if numbers is not None:
            numbering = searching.Numbering(numbering.rows(numbers), len(self._memories))
        return searching.Search(
            docstore=self._memories,
            ask=ask,
            numbering=numbering,
            metric=self._metric,
            normalise=self._normalise,
            fetch_k=None if pre or self._options.filter == "pre" else self._options.fetch_k,
        )

    def _answer(self, search: searching.Search, queries: QueryBatch, *, used_index: bool | None = None) -> Hits:
        with indexes.as_single_queries(self._options.threads):
            return search.answer(queries, used_index=self.used_index if used_index is None else used_index)

    # Inspectable

    def fetch(self, ids: Sequence[str]) -> MemoryBatch:
        """Return memories with the vectors the index holds, at their length before normalisation.

        A memory whose number the index does not have has no vector: dimensions 0.
        """
        numbers, vectors = self._contents
        wanted = self._memories.rows(ids)
        places = searching.Numbering(self._numbering.rows(numbers), len(self._memories)).copies(wanted)
        pairs = [(row, place) for row, found in zip(wanted, places, strict=True) for place in found or (NOBODY,)]
        rows, place = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        stored = place >= 0
        back = np.zeros((len(rows), vectors.shape[1]), dtype=np.float32)
        back[stored] = vectors[place[stored]] * self._memories.norms(rows[stored])[:, None]
        return self._memories.batch(rows, back, (stored * vectors.shape[1]).astype(np.int32))

    def describe(self) -> IndexInfo:
        """Tell what the index is."""
        index = self._ready
        trained = bool(index.is_trained)
        return IndexInfo(
            server=f"FAISS {faiss.__version__}",
            location="memory" if self._place is None else str(self._place / files.INDEX),
            rows=len(self._memories),
            stored_as=indexes.stored_as(index),
            dimensions=index.d,
            metric=self._metric,
            kind=indexes.kind(index),
            index=type(faiss.downcast_index(index)).__name__,
            index_metric=self._metric,
            valid=trained,
            parameters={**indexes.parameters(index), "vectors": index.ntotal},
            settings={**indexes.settings(index), "filter": self._options.filter, "fetch_k": self._options.fetch_k},
            unusable=None if trained else "it was never trained, so nothing could be added to it",
        )

    # What is behind it

    @property
    def _wanted(self) -> Metric:
        return self._options.metric or self._shape.metric

    @property
    def _ready(self) -> Any:
        """The index; built now if memories wait for it."""
        if self._waiting:
            self._build()
        if self._index is None:
            raise errors.BackendUnavailable(
                f"there is no FAISS index at {self._place or 'memory'}", "Load the golden set, or give another folder."
            )
        return self._index

    @functools.cached_property
    def _metric(self) -> Metric:
        """The metric of the index that is there; of its inner product, cosine if that is what was wanted."""
        if self._ready.metric_type == faiss.METRIC_L2:
            return Metric.L2
        return Metric.INNER_PRODUCT if self._wanted is Metric.L2 else self._wanted

    @functools.cached_property
    def _normalise(self) -> bool:
        return self._metric is Metric.COSINE or self._memories.normalised

    @functools.cached_property
    def _numbering(self) -> searching.Numbering:
        return searching.Numbering.inverse(self._memories.numbers())

    @functools.cached_property
    def _contents(self) -> tuple[Numbers, Floats]:
        with indexes.calling(self._options.threads):
            return indexes.read_back(self._ready)

    def _forget(self) -> None:
        for name in ("_metric", "_normalise", "_numbering", "_contents"):
            self.__dict__.pop(name, None)


class ApproximateBackend(FlatBackend):
    """An index that may miss memories: HNSW, or IVF. A filter applied afterwards still is in a wide search."""

    used_index = True

    # Tunable

    def search_index(self, queries: QueryBatch, *, wide: bool) -> Hits:
        """Answer through the index; `wide` with every cell, or as many candidates as there are vectors (to 4,096)."""
        return self._answer(self._search(indexes.asking(self._ready, wide=wide)), queries)

    # Sweepable

    def effort(self) -> Effort | None:
        """`ef_search` or `nprobe`."""
        known = indexes.effort(self._ready)
        return None if known is None else Effort(*known)

    def search_at(self, queries: QueryBatch, effort: int) -> Hits:
        """Answer through the index with this effort."""
        return self._answer(self._search(indexes.asking(self._ready, at=effort)), queries)

    # Rebuildable

    def search_rebuilt(self, queries: QueryBatch, *, wide: bool = False) -> Hits:
        """Answer from another build of the same index over the vectors read back, trained anew."""
        numbers, twin = self._twin
        return self._answer(self._search(indexes.asking(twin, wide=wide), numbers=numbers), queries)

    @functools.cached_property
    def _twin(self) -> tuple[Numbers, Any]:
        """A twin, and the number in the live index of each of its vectors; they were added in another order."""
        numbers, vectors = self._contents
        order = np.random.default_rng(indexes.REBUILD_SEED).permutation(len(numbers))
        with indexes.calling(self._options.threads):
            return numbers[order], indexes.rebuilt(self._ready, vectors[order])

    def _forget(self) -> None:
        super()._forget()
        self.__dict__.pop("_twin", None)
