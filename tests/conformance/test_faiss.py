"""The FAISS backend against FAISS itself, and against a computation that knows nothing of it."""

from __future__ import annotations

import datetime as dt
import json
import resource
from pathlib import Path

import faiss as library
import msgspec
import numpy as np
import pytest

from memregress import backends as protocols
from memregress import errors, filters
from memregress.backends import faiss
from memregress.model import Hits, MemoryBatch, Metric, QueryBatch, Shape

CLOCK = dt.datetime(2025, 6, 1, tzinfo=dt.UTC)
PAST, FUTURE = CLOCK - dt.timedelta(seconds=1), CLOCK + dt.timedelta(days=1)
KINDS = ("flat", "hnsw", "ivf")
METRICS = tuple(Metric)
ODD = ["ü", "日本", "'; DROP TABLE memories; --", "../up", "a\nb", "", " ", "🙂", '"', "\\", "\u0000"]


def shape(dimensions: int = 16, metric: Metric = Metric.COSINE, *, users: bool = True) -> Shape:
    return Shape(dimensions=dimensions, metric=metric, clock=CLOCK, users=users, lifetimes=True)


def memories(n: int = 400, d: int = 16, *, seed: int = 0, users: int = 8) -> MemoryBatch:
    rng = np.random.default_rng(seed)
    return MemoryBatch(
        ids=[f"m{row}" for row in range(n)],
        vectors=(rng.normal(size=(n, d)) * rng.uniform(0.5, 4, size=(n, 1))).astype(np.float32),
        dimensions=np.full(n, d, dtype=np.int32),
        users=[f"u{row % users}" if row % 50 else None for row in range(n)],
        contents=[f"memory {row}" for row in range(n)],
        created_at=[CLOCK - dt.timedelta(days=row) for row in range(n)],
        expires_at=[[None, None, PAST, FUTURE][row % 4] for row in range(n)],
        metadata=[_metadata(row) for row in range(n)],
    )


def _metadata(row: int) -> dict[str, object]:
    all_of_it: dict[str, object] = {
        "topic": ["billing", "travel", "ünïcode"][row % 3],
        "priority": row % 7 if row % 2 else row % 7 + 0.5,
        "open": row % 2 == 0,
        "tags": ["a", "b"] if row % 5 else [],
        "note": None,
    }
    return all_of_it if row % 11 else {}


def only(batch: MemoryBatch, **changes: object) -> MemoryBatch:
    names = ("ids", "vectors", "dimensions", "users", "contents", "created_at", "expires_at", "metadata")
    return MemoryBatch(**{name: changes.get(name, getattr(batch, name)) for name in names})  # type: ignore[arg-type]


def searches(vectors: object, **columns: object) -> QueryBatch:
    array = np.ascontiguousarray(vectors, dtype=np.float32)
    n = len(array)
    return QueryBatch(
        vectors=array,
        users=columns.get("users", [None] * n),  # type: ignore[arg-type]
        filters=columns.get("filters", [None] * n),  # type: ignore[arg-type]
        k=columns.get("k", [10] * n),  # type: ignore[arg-type]
    )


def filled(batch: MemoryBatch, url: str = "", metric: Metric = Metric.COSINE, **options: object) -> faiss.FlatBackend:
    backend = faiss.connect(
        url, space="run", shape=shape(batch.vectors.shape[1], metric), options=faiss.Options(**options)
    )
    backend.create()
    assert backend.load([batch]) == []
    backend.index()
    return backend


def expected(batch: MemoryBatch, queries: QueryBatch, metric: Metric) -> list[dict[str, float]]:
    """For each query, the similarity in float64 of every memory that it may find."""
    vectors, wanted = batch.vectors.astype(np.float64), queries.vectors.astype(np.float64)
    if metric is Metric.COSINE:
        vectors, wanted = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (vectors, wanted))
    distances = np.linalg.norm(wanted[:, None] - vectors[None], axis=2)
    similarity = -distances if metric is Metric.L2 else wanted @ vectors.T
    return [
        {
            id_: float(similarity[query, row])
            for row, id_ in enumerate(batch.ids)
            if (expiry := batch.expires_at[row]) is None or expiry > CLOCK
            if queries.users[query] in (None, batch.users[row])
            if filters.matches(queries.filters[query], batch.metadata[row])
        }
        for query in range(len(queries))
    ]


def agree(hits: Hits, truth: list[dict[str, float]], k: int = 10, within: float = 1e-5) -> None:
    for ids, similarity, all_of_it in zip(hits.ids, hits.similarity, truth, strict=True):
        best = sorted(all_of_it.values(), reverse=True)[:k]
        assert len(ids) == len(best) == len(set(ids))
        assert similarity == sorted(similarity, reverse=True)
        np.testing.assert_allclose(similarity, best, atol=within, rtol=within)
        np.testing.assert_allclose([all_of_it[id_] for id_ in ids], similarity, atol=within, rtol=within)


def probes(batch: MemoryBatch, k: int = 10) -> QueryBatch:
    return searches(batch.vectors, users=batch.users, k=[k] * len(batch))


# What it can do


@pytest.mark.parametrize("kind", KINDS)
def test_protocols(kind: str) -> None:
    """A flat index has no protocol for tuning or rebuilding; an approximate one has both."""
    backend = filled(memories(), index=kind)
    assert isinstance(backend, protocols.Backend)
    assert isinstance(backend, protocols.ExactSearchable)
    assert isinstance(backend, protocols.Tunable) == isinstance(backend, protocols.Rebuildable) == (kind != "flat")
    assert backend.describe().kind == kind


@pytest.mark.parametrize("stored_as", ["float32", "float16"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", METRICS)
def test_exact_search_is_exact(kind: str, metric: Metric, stored_as: str) -> None:
    """Exact search equals a float64 computation over what is stored, filters and lifetimes included."""
    batch = memories()
    backend = filled(batch, metric=metric, index=kind, stored_as=stored_as)
    queries = probes(batch)
    within = 1e-5 if stored_as == "float32" else 2e-2
    agree(backend.search_exact(queries), expected(batch, queries, metric), within=within)


@pytest.mark.parametrize("metric", METRICS)
def test_flat_search_is_exact(metric: Metric) -> None:
    """A flat index answers every query exactly, and says that it used no approximate index."""
    batch = memories()
    hits = filled(batch, metric=metric).search(probes(batch))
    agree(hits, expected(batch, probes(batch), metric))
    assert hits.used_index is not None
    assert not hits.used_index.any()


@pytest.mark.parametrize("kind", ["hnsw", "ivf"])
@pytest.mark.parametrize("metric", METRICS)
def test_approximate_search_wide_is_exact_and_narrow_is_honest(kind: str, metric: Metric) -> None:
    """Searched at its widest an approximate index finds all; narrowly what it finds bears the right similarity."""
    batch = memories()
    backend = filled(batch, metric=metric, index=kind)
    queries, truth = probes(batch), expected(batch, probes(batch), metric)
    wide = backend.search_index(queries, wide=True)  # type: ignore[attr-defined]
    if (kind, metric) == ("hnsw", Metric.INNER_PRODUCT):  # no distance, so its graph has islands
        exact = backend.search_exact(queries)
        assert sum(map(len, wide.ids)) > 0.9 * sum(map(len, exact.ids))
    else:
        agree(wide, truth)
    narrow = backend.search(queries)
    assert narrow.used_index is not None
    assert narrow.used_index.all()
    for ids, similarity, allowed in zip(narrow.ids, narrow.similarity, truth, strict=True):
        np.testing.assert_allclose(similarity, [allowed[id_] for id_ in ids], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "condition",
    [
        {"topic": "billing"},
        {"topic": "ünïcode", "open": True},
        {"open": 1},
        {"note": None},
        {"tags": "b"},
        {"tags": {"in": ["a", "z"]}},
        {"priority": {"in": [1, 2.5]}},
        {"priority": {"gte": 2, "lt": 5}},
        {"topic": {"gt": "billing", "lte": "travel"}},
        {"missing": "x"},
        {"topic": {"in": []}},
        {},
    ],
    ids=json.dumps,
)
def test_filters(kind: str, condition: dict[str, object]) -> None:
    """Every condition of the filter language selects what `filters.matches` says, with a user and without."""
    batch = memories()
    backend = filled(batch, index=kind, nprobe=1000, ef_search=400)
    queries = searches(batch.vectors[:20], users=[None, "u3"] * 10, filters=[condition] * 20)
    agree(backend.search(queries), expected(batch, queries, Metric.COSINE))


def test_expired_memories_do_not_take_slots() -> None:
    """A memory past its expiry is neither returned nor counted in `k`."""
    batch = memories()
    hits = filled(batch).search(searches(batch.vectors[:40], k=[400] * 40))
    alive = {id_ for id_, expiry in zip(batch.ids, batch.expires_at, strict=True) if expiry != PAST}
    assert all(set(ids) == alive for ids in hits.ids)


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_ids_and_users(kind: str, tmp_path: Path) -> None:
    """Ids, users and contents are never interpreted: they come back as they went in, from the disk too."""
    batch = memories(len(ODD))
    batch = only(batch, ids=ODD, users=ODD, contents=ODD, expires_at=[None] * len(ODD))
    filled(batch, str(tmp_path), index=kind)
    backend = faiss.connect(str(tmp_path), space="run", shape=shape(), options=faiss.Options(), in_place=True)
    assert backend.search(probes(batch)).ids == [[id_] for id_ in ODD]
    back = backend.fetch(ODD)
    assert (back.ids, back.users, back.contents) == (ODD, ODD, ODD)
    assert backend.search(searches(batch.vectors[:1], users=["nobody"])).ids == [[]]


def test_k_of_each_query_and_short_answers() -> None:
    """Each query gets its own `k`; where there are fewer memories the answer is short, and nothing is padded."""
    batch = memories(5, users=1)
    batch = only(batch, expires_at=[None] * 5)
    hits = filled(batch).search(searches(batch.vectors[:3], k=[1, 3, 100]))
    assert [len(ids) for ids in hits.ids] == [1, 3, 5]
    assert np.isfinite([value for values in hits.similarity for value in values]).all()


def test_no_queries_and_no_memories() -> None:
    """Nothing to search for, or in, gives empty answers from every kind."""
    for kind in KINDS:
        backend = filled(memories(0), index=kind)
        assert backend.search(searches(np.ones((2, 16)))).ids == [[], []]
        assert backend.search_exact(searches(np.ones((2, 16)))).ids == [[], []]
        assert backend.search(searches(np.ones((0, 16)))).ids == []
        assert len(backend.fetch(["m1"])) == 0
        if isinstance(backend, protocols.Rebuildable):
            assert backend.search_rebuilt(searches(np.ones((2, 16)))).ids == [[], []]


@pytest.mark.parametrize("kind", KINDS)
def test_duplicates_come_as_ties(kind: str) -> None:
    """Copies of a vector are all there, at one similarity."""
    batch = memories(120)
    vectors = batch.vectors.copy()
    vectors[:20] = vectors[0]
    batch = only(batch, vectors=vectors, expires_at=[None] * 120)
    hits = filled(batch, index=kind, ef_search=120, nprobe=120).search(searches(vectors[:1], k=[20]))
    assert set(hits.ids[0]) == set(batch.ids[:20])
    assert np.ptp(hits.similarity[0]) == 0


# Loading


def test_vectors_that_cannot_be_searched_are_rejected() -> None:
    """NaN, infinity and another length are refused by name; a memory without a vector is kept without one."""
    batch = memories(40)
    vectors, dimensions = batch.vectors.copy(), batch.dimensions.copy()
    vectors[1, 3], vectors[2, 0] = np.nan, np.inf
    dimensions[3], dimensions[4] = 7, 0
    vectors[4] = np.nan
    backend = faiss.connect("", space="run", shape=shape(), options=faiss.Options())
    backend.create()
    rejected = backend.load([only(batch, vectors=vectors, dimensions=dimensions)])
    assert [item.id for item in rejected] == ["m1", "m2", "m3"]
    assert "NaN" in rejected[0].reason
    assert "7 dimensions" in rejected[2].reason
    backend.index()
    back = backend.fetch(batch.ids)
    assert back.ids == [id_ for id_ in batch.ids if id_ not in ("m1", "m2", "m3")]
    assert back.dimensions[back.ids.index("m4")] == 0
    assert not back.vectors[back.ids.index("m4")].any()
    assert all("m4" not in ids for ids in backend.search(probes(batch)).ids)
    np.testing.assert_allclose(back.vectors[back.dimensions > 0], batch.vectors[[0, *range(5, 40)]], rtol=1e-6)


def test_loaded_memories_are_visible_before_the_index_is_asked_for() -> None:
    """When `load` returns a search finds everything; what is loaded later is found too."""
    for kind in KINDS:
        batch, more = memories(200), memories(50, seed=1)
        more = only(more, ids=[f"x{row}" for row in range(50)])
        backend = faiss.connect("", space="run", shape=shape(), options=faiss.Options(index=kind, nprobe=100))
        backend.create()
        backend.load([batch])
        agree(backend.search_exact(probes(batch)), expected(batch, probes(batch), Metric.COSINE))
        backend.load(iter([more]))
        backend.index()
        ids = {id_ for ids in backend.search_exact(probes(more, k=250)).ids for id_ in ids}
        assert any(id_.startswith("x") for id_ in ids)
        assert backend.describe().parameters["vectors"] == 250


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", KINDS)
def test_fetch_gives_back_what_went_in(kind: str, metric: Metric) -> None:
    """Vectors come back at their own length, though cosine stores them normalised; columns come back whole."""
    batch = memories()
    backend = filled(batch, metric=metric, index=kind)
    back = backend.fetch([*reversed(batch.ids), "unknown", "m1"])
    order = [int(id_[1:]) for id_ in back.ids]
    assert sorted(order) == list(range(400))
    assert (back.dimensions == 16).all()
    np.testing.assert_allclose(back.vectors, batch.vectors[order], rtol=3e-7)
    for name in ("users", "contents", "created_at", "expires_at", "metadata"):
        assert getattr(back, name) == [getattr(batch, name)[row] for row in order]


def test_copies_of_an_id_come_back_each() -> None:
    """An id that was stored twice is a row for each copy, each with its own vector."""
    batch = memories(30)
    backend = filled(only(batch, ids=["same", *batch.ids[1:29], "same"]))
    back = backend.fetch(["same"])
    assert back.ids == ["same", "same"]
    np.testing.assert_allclose(back.vectors, batch.vectors[[0, 29]], rtol=3e-7)


# Searching as an application does


@pytest.mark.parametrize("dimensions", [24, 160])
@pytest.mark.parametrize("metric", METRICS)
def test_a_batch_is_answered_as_single_queries(metric: Metric, dimensions: int) -> None:
    """Ids and similarities are those of one `index.search` a query, bit for bit, also for long vectors."""
    batch = memories(1500, dimensions)
    batch = only(batch, vectors=batch.vectors + 200, expires_at=[None] * 1500)
    hits = filled(batch, metric=metric).search(searches(batch.vectors))
    index = library.IndexFlat(dimensions, library.METRIC_L2 if metric is Metric.L2 else library.METRIC_INNER_PRODUCT)
    vectors = batch.vectors.copy()
    if metric is Metric.COSINE:
        library.normalize_L2(vectors)
    index.add(vectors)
    for row in range(0, 1500, 7):
        distances, numbers = index.search(vectors[row : row + 1], 10)
        assert hits.ids[row] == [f"m{number}" for number in numbers[0]]
        single = -np.sqrt(distances[0]) if metric is Metric.L2 else distances[0]
        assert hits.similarity[row] == single.tolist()


def test_faiss_is_left_as_it_was() -> None:
    """Process-wide settings of FAISS are what they were, also after an error."""
    before = library.cvar.distance_compute_blas_threshold, library.omp_get_max_threads()
    backend = filled(memories(), index="hnsw", threads=1)
    backend.search(probes(memories()))
    with pytest.raises(errors.BackendError, match="cells"):
        filled(memories(20), index="ivf", nlist=21)
    assert (library.cvar.distance_compute_blas_threshold, library.omp_get_max_threads()) == before


@pytest.mark.parametrize("kind", KINDS)
def test_filtering_afterwards_starves(kind: str) -> None:
    """With `filter: post` a user whose memories are not among the first `fetch_k` gets nothing; exact search finds."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(600, 16)).astype(np.float32)
    vectors[:500] = vectors[0] + 0.01 * rng.normal(size=(500, 16))
    batch = only(memories(600), vectors=vectors, users=["many"] * 500 + ["few"] * 100, expires_at=[None] * 600)
    queries = searches(vectors[:5], users=["few"] * 5, k=[5] * 5)
    starved = filled(batch, index=kind, filter="post", nprobe=600, ef_search=600)
    assert starved.search(queries).ids == [[]] * 5
    assert all(len(ids) == 5 for ids in starved.search_exact(queries).ids)
    patient = filled(batch, index=kind, filter="post", fetch_k=600, nprobe=600, ef_search=600)
    assert patient.search(queries).ids == starved.search_exact(queries).ids
    assert starved.describe().settings["filter"] == "post"
    assert all(len(ids) == 5 for ids in starved.search(searches(vectors[:5], k=[5] * 5)).ids)


def test_what_is_set_is_what_is_used() -> None:
    """Build parameters and search settings reach the index; where nothing is given the search is thorough."""
    described = filled(memories(), index="hnsw").describe()
    assert described.parameters == {"m": 32, "ef_construction": 40, "vectors": 400}
    assert described.settings["ef_search"] == 400
    described = filled(memories(), index="hnsw", m=8, ef_construction=99, ef_search=77).describe()
    assert (described.parameters["m"], described.parameters["ef_construction"]) == (8, 99)
    assert described.settings["ef_search"] == 77
    described = filled(memories(), index="ivf", stored_as="float16").describe()
    assert (described.parameters["nlist"], described.settings["nprobe"], described.stored_as) == (10, 10, "float16")


def test_another_metric_than_the_golden_set() -> None:
    """An index built with L2 for a cosine set answers with distances, and says so."""
    batch = memories()
    backend = faiss.connect("", space="s", shape=shape(), options=faiss.Options(metric=Metric.L2))
    backend.create()
    backend.load([batch])
    agree(backend.search(probes(batch)), expected(batch, probes(batch), Metric.L2))
    assert backend.describe().metric is Metric.L2


@pytest.mark.parametrize("kind", ["hnsw", "ivf"])
def test_rebuilding(kind: str) -> None:
    """A rebuilt index is another draw over the same vectors with the same parameters; the live one stays."""
    batch = only(memories(2000), expires_at=[None] * 2000, users=[None] * 2000)
    narrow = {"m": 4, "ef_construction": 8, "ef_search": 4, "nlist": 40}
    backend = filled(batch, index=kind, **narrow)
    live = backend.search(probes(batch))
    rebuilt = backend.search_rebuilt(probes(batch))  # type: ignore[attr-defined]
    assert live.ids != rebuilt.ids
    assert backend.search(probes(batch)).ids == live.ids
    truth = expected(batch, searches(batch.vectors[:100]), Metric.COSINE)
    for row in range(100):
        np.testing.assert_allclose(rebuilt.similarity[row], [truth[row][id_] for id_ in rebuilt.ids[row]], atol=1e-5)


# On disk


@pytest.mark.parametrize("as_url", [str, lambda path: path.as_uri()], ids=["folder", "file-url"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_store_on_disk_is_read_as_it_was_written(kind: str, as_url: object, tmp_path: Path) -> None:
    """Reopened in place a store gives the same answers, without writing, whatever kind the options name."""
    batch = memories()
    url = as_url(tmp_path / "Ordner mit Ü")  # type: ignore[operator]
    first = filled(batch, url, index=kind, ef_search=33, nprobe=3, stored_as="float16").search(probes(batch))
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.rglob("*") if path.is_file()}
    again = faiss.connect(url, space="run", shape=shape(), options=faiss.Options(), in_place=True)
    assert again.search(probes(batch)).ids == first.ids
    info = again.describe()
    assert (info.kind, info.stored_as, info.rows) == (kind, "float16", 400)
    assert info.settings.get({"hnsw": "ef_search", "ivf": "nprobe"}.get(kind, "")) in (None, 33, 3)
    again.index()
    again.drop()
    again.close()
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.rglob("*") if path.is_file()}
    assert after == before
    assert {path.name for path in before} == {"index.faiss", "memories.jsonl"}


def test_drop_removes_its_own_space_only(tmp_path: Path) -> None:
    """Other spaces, other files and the folder stay; a second run cannot take the name of the first."""
    kept, dropped, rival = (
        faiss.connect(str(tmp_path), space=space, shape=shape(), options=faiss.Options()) for space in "aba"
    )
    for backend in (kept, dropped):
        backend.create()
        backend.load([memories(10)])
        backend.index()
    (tmp_path / "b" / "notes.txt").write_text("mine")
    with pytest.raises(errors.BackendError, match="File exists"):
        rival.create()
    rival.drop()
    with pytest.raises(errors.ConfigError, match="exists already"):
        faiss.connect(str(tmp_path), space="a", shape=shape(), options=faiss.Options())
    dropped.drop()
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "a", "a/index.faiss", "a/memories.jsonl", "b", "b/notes.txt",
    ]  # fmt: skip
    kept.drop()
    assert not (tmp_path / "a").exists()


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    """Where the disk is full, here by a limit on a file's size, the error says so and no file is left."""
    backend = faiss.connect(str(tmp_path), space="run", shape=shape(), options=faiss.Options())
    backend.create()
    backend.load([memories(400)])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(errors.BackendError, match="File too large"):
            backend.index()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list((tmp_path / "run").iterdir()) == []
    backend.index()
    assert len(list((tmp_path / "run").iterdir())) == 2


def damage(path: Path, how: str) -> None:
    if how == "missing":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "half":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 + 3])
    else:
        path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")


@pytest.mark.parametrize(
    ("file", "how", "says"),
    [
        ("index.faiss", "missing", "No such file"),
        ("index.faiss", "empty", "is empty"),
        ("index.faiss", "half", "is damaged"),
        ("index.faiss", "lfs", "git lfs pull"),
        ("memories.jsonl", "missing", "No such file"),
        ("memories.jsonl", "half", "memories.jsonl:"),
        ("memories.jsonl", "lfs", "memories.jsonl:1"),
    ],
)
def test_files_that_cannot_be_read(file: str, how: str, says: str, tmp_path: Path) -> None:
    """A damaged or missing file is an error that names it and says what to do, never a verdict."""
    filled(memories(), str(tmp_path))
    damage(tmp_path / "run" / file, how)
    with pytest.raises(errors.BackendUnavailable, match=says) as caught:
        faiss.connect(str(tmp_path), space="run", shape=shape(), options=faiss.Options(), in_place=True)
    assert caught.value.remedy


def test_an_index_of_other_dimensions(tmp_path: Path) -> None:
    """An index made for another length of vectors opens in place and says so; what it holds can be read back."""
    batch = memories()
    filled(batch, str(tmp_path))
    backend = faiss.connect(str(tmp_path), space="run", shape=shape(8), options=faiss.Options(), in_place=True)
    assert backend.describe().dimensions == 16
    assert backend.fetch(batch.ids[:3]).dimensions.tolist() == [16, 16, 16]


def in_place(tmp_path: Path, index: object, lines: list[dict[str, object]]) -> faiss.FlatBackend:
    """A store as an application may have written it."""
    folder = tmp_path / "app"
    folder.mkdir()
    library.write_index(index, str(folder / "index.faiss"))
    (folder / "memories.jsonl").write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    return faiss.connect(
        str(tmp_path), space="app", shape=shape(metric=Metric.L2), options=faiss.Options(), in_place=True
    )


def test_a_memory_that_is_in_the_docstore_only(tmp_path: Path) -> None:
    """Fewer vectors than lines: the rest have no vector, and what is there is found."""
    batch = memories(20)
    index = library.IndexFlatL2(16)
    index.add(batch.vectors[:15])
    backend = in_place(tmp_path, index, [{"id": id_} for id_ in batch.ids])
    assert backend.fetch(batch.ids).dimensions.tolist() == [16] * 15 + [0] * 5
    found = backend.search(searches(batch.vectors, k=[1] * 20)).ids
    assert [ids[0] for ids in found[:15]] == batch.ids[:15]
    assert backend.describe().rows == 20


def test_a_vector_that_nobody_knows(tmp_path: Path) -> None:
    """A vector without a line takes its slot, as in the application, and is never given an id."""
    batch = memories(20)
    index = library.IndexFlatL2(16)
    index.add(batch.vectors)
    backend = in_place(tmp_path, index, [{"id": id_, "extra": 1} for id_ in batch.ids[:10]])
    hits = backend.search(searches(batch.vectors, k=[1] * 20)).ids
    assert hits == [[id_] for id_ in batch.ids[:10]] + [[]] * 10


@pytest.mark.parametrize("kind", ["IDMap,Flat", "IDMap2,Flat", "IDMap,HNSW8", "IDMap,IVF4,Flat", "IVF4,Flat"])
def test_numbers_given_by_the_application(kind: str, tmp_path: Path) -> None:
    """An index with numbers of the application's own is searched, filtered, read back and rebuilt by them."""
    batch = memories(200)
    index = library.index_factory(16, kind)
    index.train(batch.vectors)
    numbers = np.arange(200, dtype=np.int64) * 3 + 1000
    index.add_with_ids(batch.vectors, numbers)
    lines = [
        {"id": id_, "user": user, "number": int(number)}
        for id_, user, number in zip(batch.ids, batch.users, numbers, strict=True)
    ]
    backend = in_place(tmp_path, index, lines)
    np.testing.assert_array_equal(backend.fetch(batch.ids).vectors, batch.vectors)
    for hits in (backend.search_exact(probes(batch, k=1)), backend.search(probes(batch, k=1))):
        assert sum(ids == [id_] for ids, id_ in zip(hits.ids, batch.ids, strict=True)) > 180
    if isinstance(backend, faiss.ApproximateBackend):
        rebuilt = backend.search_rebuilt(probes(batch, k=1)).ids
        assert sum(ids == [id_] for ids, id_ in zip(rebuilt, batch.ids, strict=True)) > 180


def test_numbers_that_have_shifted(tmp_path: Path) -> None:
    """A removal from `IDMap` over IVF shifts every number: memories answer with their neighbours' vectors."""
    batch = memories(100)
    index = library.index_factory(16, "IDMap,IVF4,Flat")
    index.train(batch.vectors)
    index.add_with_ids(batch.vectors, np.arange(100, dtype=np.int64))
    index.remove_ids(np.array([0], dtype=np.int64))
    backend = in_place(tmp_path, index, [{"id": id_} for id_ in batch.ids])
    back = backend.fetch(batch.ids)
    stored = dict(zip(back.ids, back.vectors, strict=True))
    np.testing.assert_array_equal(stored["m2"], batch.vectors[1])


def test_an_index_that_was_never_trained(tmp_path: Path) -> None:
    """It holds nothing: every memory is without a vector, every answer empty, and the description says why."""
    backend = in_place(tmp_path, library.index_factory(16, "IVF4,Flat"), [{"id": "a"}])
    assert backend.fetch(["a"]).dimensions.tolist() == [0]
    assert backend.search(searches(np.ones((1, 16)))).ids == [[]]
    assert not backend.describe().valid
    assert "never trained" in str(backend.describe().unusable)


def test_a_flipped_bit_alters_one_memory(tmp_path: Path) -> None:
    """FAISS files have no checksum: a flipped bit is read, and shows in exactly one vector."""
    batch = memories()
    filled(batch, str(tmp_path), metric=Metric.L2)
    path = tmp_path / "run" / "index.faiss"
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 0x40
    path.write_bytes(damaged)
    backend = faiss.connect(
        str(tmp_path), space="run", shape=shape(metric=Metric.L2), options=faiss.Options(), in_place=True
    )
    different = (backend.fetch(batch.ids).vectors != batch.vectors).any(axis=1)
    assert np.flatnonzero(different).tolist() == [399]


def test_urls() -> None:
    """A URL of something else, and a space that would be elsewhere, are the user's errors."""
    for url, space in (("redis://x", "s"), ("file://host/x", "s"), ("/x", "../y"), ("/x", "a/b"), ("/x", "..")):
        with pytest.raises(errors.ConfigError):
            faiss.connect(url, space=space, shape=shape(), options=faiss.Options())
    with pytest.raises(errors.BackendUnavailable, match="no FAISS index at /nowhere/at/all/s"):
        faiss.connect("/nowhere/at/all", space="s", shape=shape(), options=faiss.Options(), in_place=True)


def test_every_option_is_documented() -> None:
    """The page of the backend has a row for each option, with its default."""
    page = (Path(__file__).parents[2] / "docs" / "backends" / "faiss.md").read_text()
    for field in msgspec.structs.fields(faiss.Options):
        default = msgspec.json.encode(field.default).decode().strip('"').replace("null", "–")
        assert f"| `{field.name}` | {default} |" in page
