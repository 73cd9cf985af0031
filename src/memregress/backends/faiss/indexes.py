"""FAISS indexes: built, described, asked, read back and built anew."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt

from memregress import errors
from memregress.backends.faiss.docstore import NOBODY, Numbers
from memregress.backends.faiss.options import Options
from memregress.model import Floats, Metric

Ask = Callable[[Floats, int, "Numbers | None"], "tuple[Floats, Numbers]"]
"""(vectors float32[n, d], k, the numbers that may answer or None for all) -> distances and numbers, each [n, k]."""

WIDEST = 4096
"""Candidates of the most thorough HNSW search; more take longer than they could tell."""

PER_CELL = 39
"""Vectors a cell should have in training, below which FAISS itself warns."""

REBUILD_SEED = 20_011
ADDED_AT_ONCE = 1024


@contextlib.contextmanager
def calling(threads: int | None) -> Iterator[None]:
    """Let FAISS use as many threads, and turn what it throws into errors of ours."""
    before = faiss.omp_get_max_threads()
    if threads is not None:
        faiss.omp_set_num_threads(threads)
    try:
        yield
    except RuntimeError as error:
        raise errors.BackendError(f"FAISS: {reason(error)}", "Can this kind of index do what was asked?") from error
    finally:
        faiss.omp_set_num_threads(before)


@contextlib.contextmanager
def as_single_queries(threads: int | None) -> Iterator[None]:
    """Make FAISS compute a batch as it computes one query at a time, which is how an application asks.

    From some batch size on FAISS takes |a|² + |b|² − 2ab from a matrix product, where an application's single query
    is answered with |a − b|²: the same memory at another distance, wildly so for long vectors. The limit is a
    setting of the whole process, so it is put back.
    """
    before = faiss.cvar.distance_compute_blas_threshold
    faiss.cvar.distance_compute_blas_threshold = np.iinfo(np.int32).max
    try:
        with calling(threads):
            yield
    finally:
        faiss.cvar.distance_compute_blas_threshold = before


def reason(error: Exception) -> str:
    """What FAISS says, without the place in its source."""
    text = str(error).strip()
    return text.rpartition("Error: ")[2].strip() or text or type(error).__name__


THOROUGH_EF = 400
"""Candidates kept by HNSW searches where the user gave no number; a small index is searched whole."""


def empty(options: Options, *, dimensions: int, metric: Metric, expected: int) -> Any:
    """Make an empty index; `expected` is the number of vectors to come."""
    kind = faiss.METRIC_L2 if metric is Metric.L2 else faiss.METRIC_INNER_PRODUCT
    half = faiss.ScalarQuantizer.QT_fp16 if options.stored_as == "float16" else None
    if options.index == "hnsw":
        index = _hnsw(options, dimensions, kind, half)
    elif options.index == "ivf":
        index = _ivf(dimensions, kind, half, _cells(options, expected))
    else:
        index = (
            faiss.IndexFlat(dimensions, kind) if half is None else faiss.IndexScalarQuantizer(dimensions, half, kind)
        )
    _search_thoroughly(index, expected)
    tune(index, options)
    return index


def _search_thoroughly(index: Any, vectors: int) -> None:
    """Of an index of memregress's own: a miss of a healthy one should mean something, unless the user set otherwise."""
    inner = core(index)
    if isinstance(inner, faiss.IndexHNSW):
        inner.hnsw.efSearch = max(1, vectors) if vectors <= WIDEST else THOROUGH_EF
    if isinstance(inner, faiss.IndexIVF):
        inner.nprobe = inner.nlist


def _cells(options: Options, expected: int) -> int:
    cells = options.nlist or default_cells(expected)
    if cells > max(expected, 1):
        raise errors.BackendError(
            f"{expected} vectors cannot be put into {cells} cells", f"Give an nlist of {expected // PER_CELL or 1}."
        )
    return cells


def _hnsw(options: Options, dimensions: int, kind: int, half: int | None) -> Any:
    if half is None:
        index = faiss.IndexHNSWFlat(dimensions, options.m, kind)
    else:
        index = faiss.IndexHNSWSQ(dimensions, half, options.m, kind)
    index.hnsw.efConstruction = options.ef_construction
    return index


def _ivf(dimensions: int, kind: int, half: int | None, cells: int) -> Any:
    coarse = faiss.IndexFlat(dimensions, kind)
    if half is None:
        index = faiss.IndexIVFFlat(coarse, dimensions, cells, kind)
    else:
        index = faiss.IndexIVFScalarQuantizer(coarse, dimensions, cells, half, kind)
    index.cp.min_points_per_centroid = 1  # or FAISS writes a warning to stderr; the number of cells is reported
    return index


def default_cells(vectors: int) -> int:
    """Four times the root of the number of vectors, unless that leaves too few for a cell."""
    return max(1, min(int(4 * vectors**0.5), vectors // PER_CELL))


def fill(index: Any, vectors: Floats) -> None:
    """Train an index where it must be, and add the vectors, in steps short enough to be interrupted."""
    if not index.is_trained and len(vectors):
        index.train(vectors)
    for start in range(0, len(vectors) if index.is_trained else 0, ADDED_AT_ONCE):
        index.add(vectors[start : start + ADDED_AT_ONCE])


def core(index: Any) -> Any:
    """The index proper, without a table of numbers (`IndexIDMap`) or a transformation around it."""
    index = faiss.downcast_index(index)
    while isinstance(index, (faiss.IndexIDMap, faiss.IndexIDMap2, faiss.IndexPreTransform)):
        index = faiss.downcast_index(index.index)
    return index


def kind(index: Any) -> str:
    """``flat``, ``hnsw`` or ``ivf``; of another, the name of its class."""
    inner = core(index)
    if isinstance(inner, faiss.IndexHNSW):
        return "hnsw"
    if isinstance(inner, faiss.IndexIVF):
        return "ivf"
    if isinstance(inner, (faiss.IndexFlat, faiss.IndexScalarQuantizer)):
        return "flat"
    return type(inner).__name__.removeprefix("Index").lower()


def stored_as(index: Any) -> str:
    """The type its vectors are kept in."""
    inner = core(index)
    inner = faiss.downcast_index(inner.storage) if isinstance(inner, faiss.IndexHNSW) else inner
    if isinstance(inner, (faiss.IndexScalarQuantizer, faiss.IndexIVFScalarQuantizer)):
        halves = {faiss.ScalarQuantizer.QT_fp16: "float16", faiss.ScalarQuantizer.QT_8bit: "int8"}
        return halves.get(inner.sq.qtype, "quantized")
    return "float32" if isinstance(inner, (faiss.IndexFlat, faiss.IndexIVFFlat)) else "quantized"


def tune(index: Any, options: Options) -> None:
    """Set what searches go by, where the user has given it."""
    inner = core(index)
    if isinstance(inner, faiss.IndexHNSW) and options.ef_search:
        inner.hnsw.efSearch = options.ef_search
    if isinstance(inner, faiss.IndexIVF) and options.nprobe:
        inner.nprobe = options.nprobe


def parameters(index: Any) -> dict[str, Any]:
    """What the index was built with."""
    inner = core(index)
    if isinstance(inner, faiss.IndexHNSW):
        return {"m": inner.hnsw.nb_neighbors(1), "ef_construction": inner.hnsw.efConstruction}
    return {"nlist": inner.nlist} if isinstance(inner, faiss.IndexIVF) else {}


def settings(index: Any) -> dict[str, Any]:
    """What its searches go by."""
    known = effort(index)
    return {known[0]: known[1]} if known else {}


def effort(index: Any) -> tuple[str, int, int] | None:
    """The setting of a search's effort, its value, and the widest there is."""
    inner = core(index)
    if isinstance(inner, faiss.IndexHNSW):
        return "ef_search", inner.hnsw.efSearch, max(inner.hnsw.efSearch, min(inner.ntotal, WIDEST))
    return ("nprobe", inner.nprobe, inner.nlist) if isinstance(inner, faiss.IndexIVF) else None


def asking(index: Any, *, wide: bool = False, at: int | None = None) -> Ask:
    """Ask an index as an application does; `wide`: as thoroughly as it can; `at`: with this effort."""
    inner = core(index)

    def ask(vectors: Floats, k: int, among: Numbers | None) -> tuple[Floats, Numbers]:
        if not index.is_trained or not index.ntotal:  # FAISS would raise, or be silent, by its version
            return _nothing(len(vectors), k)
        # The selector looks into the array, and so the array has to outlive the search.
        selector, _kept = _selector(faiss.downcast_index(index), among)
        given = _search_parameters(inner, selector, wide=wide, at=at)
        found: tuple[Floats, Numbers] = index.search(vectors, k, params=given)
        return found

    return ask


def _nothing(queries: int, k: int) -> tuple[Floats, Numbers]:
    return np.full((queries, k), np.nan, dtype=np.float32), np.full((queries, k), -1, dtype=np.int64)


def _selector(index: Any, among: Numbers | None) -> tuple[Any, npt.NDArray[Any] | None]:
    if among is None:
        return None, None
    if isinstance(index, faiss.IndexFlat):  # goes straight to the vectors of an array, and would go past its end
        within = among[among < index.ntotal]
        return faiss.IDSelectorArray(within), within
    members = np.zeros(int(among.max(initial=0)) + 1, dtype=np.bool_)
    members[among] = True
    bits = np.packbits(members, bitorder="little")
    return faiss.IDSelectorBitmap(bits), bits


def _search_parameters(inner: Any, selector: Any, *, wide: bool, at: int | None) -> Any:
    if selector is None and not wide and at is None:
        return None
    given = {} if selector is None else {"sel": selector}
    known = effort(inner)
    if known is not None:
        _, now, widest = known
        chosen = at or (widest if wide else now)
        if isinstance(inner, faiss.IndexHNSW):
            return faiss.SearchParametersHNSW(efSearch=chosen, **given)
        return faiss.SearchParametersIVF(nprobe=chosen, **given)
    return faiss.SearchParameters(**given)


def asking_exactly(vectors: Floats, metric_type: int) -> Ask:
    """Ask the vectors themselves, without an index; their numbers are their places."""

    def ask(wanted: Floats, k: int, among: Numbers | None) -> tuple[Floats, Numbers]:
        kept = vectors if among is None else vectors[among]
        if not len(kept):
            return _nothing(len(wanted), k)
        distances, places = faiss.knn(wanted, kept, min(k, len(kept)), metric=metric_type)
        return distances, places if among is None else np.where(places < 0, -1, among[places])

    return ask


def read_back(index: Any) -> tuple[Numbers, Floats]:
    """Return the vectors an index holds, and the number of each; the same number may be there twice."""
    index = faiss.downcast_index(index)
    if isinstance(index, (faiss.IndexIDMap, faiss.IndexIDMap2)):
        places, vectors = read_back(index.index)
        # After a removal an IVF index below still counts as before, and so beyond the table's end.
        table = np.append(faiss.vector_to_array(index.id_map), NOBODY)
        return table[np.minimum(places, len(table) - 1)], vectors
    if isinstance(index, faiss.IndexIVF):
        return _read_back_cells(index)
    flat = faiss.downcast_index(index.storage) if isinstance(index, faiss.IndexHNSW) else index
    vectors = index.reconstruct_n(0, index.ntotal) if index.ntotal else np.empty((0, flat.d), dtype=np.float32)
    return np.arange(len(vectors), dtype=np.int64), vectors


def _read_back_cells(index: Any) -> tuple[Numbers, Floats]:
    lists = index.invlists
    sizes = [lists.list_size(cell) for cell in range(index.nlist)]
    vectors = np.empty((sum(sizes), index.d), dtype=np.float32)
    numbers = np.empty(len(vectors), dtype=np.int64)
    place = 0
    for cell, size in enumerate(sizes):
        if size:
            numbers[place : place + size] = faiss.rev_swig_ptr(lists.get_ids(cell), size)
        for offset in range(size):
            index.reconstruct_from_offset(cell, offset, faiss.swig_ptr(vectors[place + offset]))
        place += size
    return numbers, vectors


def rebuilt(index: Any, vectors: Floats) -> Any:
    """Build an index like this one over the vectors: another draw of the same lottery."""
    twin = faiss.clone_index(core(index))
    twin.reset()
    if isinstance(twin, faiss.IndexHNSW):
        twin.hnsw.rng = faiss.RandomGenerator(REBUILD_SEED)
    if isinstance(twin, faiss.IndexIVF):
        twin.quantizer.reset()
        twin.is_trained = False
        twin.cp.seed = REBUILD_SEED
    fill(twin, vectors)
    return twin
