"""Each cause that can occur on FAISS is named correctly when its fault is put into a real index and docstore."""

import json

import faiss as library
import numpy as np
import pytest

IDS = ["m-000042"]


def rewrite_lines(change):
    """A fault in the docstore: `change(line)` returns the line to write, several, or nothing."""

    def fault(folder):
        path = folder / "memories.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        written = [new for line in lines for new in change(line)]
        path.write_text("".join(json.dumps(line) + "\n" for line in written))

    return fault


def rewrite_vectors(change, metric=library.METRIC_INNER_PRODUCT):
    """A fault in the index: `change(vectors)` returns those of a new flat index."""

    def fault(folder):
        path = str(folder / "index.faiss")
        index = library.read_index(path)
        vectors = change(index.reconstruct_n(0, index.ntotal))
        altered = library.IndexFlat(vectors.shape[1], metric)
        altered.add(np.ascontiguousarray(vectors, np.float32))
        library.write_index(altered, path)

    return fault


def edit(**values):
    """Change fields of memory 42 in the docstore."""
    return rewrite_lines(lambda line: [line | values if line["id"] in IDS else line])


def row(function):
    """Change the vector of memory 42."""

    def change(vectors):
        vectors[42] = function(vectors[42])
        return vectors

    return rewrite_vectors(change)


def swap(vectors):
    vectors[[10, 20]] = vectors[[20, 10]]
    return vectors


def test_healthy_store_is_green(faiss, small, broken):
    """Nothing is reported of a store that holds what was recorded."""
    report = faiss(small)
    assert (report.gate, broken(report), report.tested) == ("passed", [], 1_000)


@pytest.mark.parametrize(
    ("fault", "verdict", "cause"),
    [
        pytest.param(rewrite_lines(lambda line: [] if line["id"] in IDS else [line]), "missing", "MR202", id="no line"),
        pytest.param(edit(number=None), "missing", "MR201", id="no number"),
        pytest.param(edit(number=5_000), "missing", "MR201", id="number beyond the index"),
        pytest.param(row(np.zeros_like), "altered", "MR204", id="zeros"),
        pytest.param(row(lambda v: np.round(v, 3)), "altered", "MR207", id="rounded"),
        pytest.param(row(lambda v: np.concatenate([v[:20], np.zeros(12)])), "altered", "MR206", id="zero tail"),
        pytest.param(row(lambda v: 2 * v), "altered", "MR208", id="longer"),
        pytest.param(row(lambda v: v[::-1]), "altered", "MR216", id="reversed"),
        pytest.param(row(np.abs), "altered", "MR209", id="another"),
        pytest.param(edit(user="u_0001"), "altered", "MR210", id="other user"),
        pytest.param(edit(content="…"), "altered", "MR211", id="other content"),
        pytest.param(edit(metadata={"topic": 3}), "altered", "MR212", id="other metadata"),
        pytest.param(edit(expires_at="2027-01-01T00:00:00Z"), "expired", "MR301", id="lives on"),
    ],
)
def test_one_memory(faiss, small, only, fault, verdict, cause):
    """A fault of one memory breaks exactly that one, with its own verdict and cause."""
    only(faiss(small, fault), IDS, verdict, cause)


def test_swapped_vectors(faiss, small, only):
    """Two memories that hold each other's vectors are misattributed."""
    only(faiss(small, rewrite_vectors(swap)), ["m-000010", "m-000020"], "misattributed", "MR205")


def test_shifted_positions(faiss, small):
    """A removal that shifts the positions misattributes every memory behind it, and the shift is named."""
    report = faiss(small, rewrite_vectors(lambda vectors: vectors[1:]))
    shifted = next(cause for cause in report.causes if cause.code == "MR205")
    assert shifted.count == 999
    assert shifted.evidence[-1].startswith("all 999 are shifted by the same +1 rows")


def test_l2_where_cosine_was_recorded(faiss, small):
    """The library's default metric in place of the recorded one is one finding for all memories."""
    report = faiss(small, rewrite_vectors(lambda vectors: vectors, metric=library.METRIC_L2))
    assert [(cause.code, cause.count) for cause in report.causes] == [("MR102", 1_000)]


def test_other_dimensions(faiss, small):
    """An index of other dimensions is one finding for all memories, and no search is tried."""
    report = faiss(small, rewrite_vectors(lambda vectors: vectors[:, :16]))
    assert [(cause.code, cause.count) for cause in report.causes] == [("MR101", 1_000)]


def test_threshold(faiss, small, broken):
    """A threshold above what was recorded hides memories."""
    assert {entry[1:] for entry in broken(faiss(small, min_similarity=0.3))} == {("hidden", "MR401")}


def test_too_few_probes(faiss, shared):
    """An IVF index searched in one cell is searched with too little effort."""
    report = faiss(shared, fill={"index": "ivf"}, options={"nprobe": 1})
    assert {cause.code for cause in report.causes} == {"MR702"}
    assert report.gate == "failed"


def test_too_small_ef_search(faiss, shared):
    """An HNSW index searched with a tiny candidate list is searched with too little effort."""
    report = faiss(shared, fill={"index": "hnsw", "m": 4}, options={"ef_search": 1}, max_index_misses=0.0)
    assert "MR702" in {cause.code for cause in report.causes}
    assert report.gate == "failed"


def test_filter_after_the_search(faiss, crowded):
    """A filter applied to the first hits only starves the search."""
    report = faiss(crowded, options={"filter": "post", "fetch_k": 20})
    assert report.causes[0].code == "MR701"
    assert {m.verdict.value for m in report.memories if m.cause == "MR701"} == {"unreachable"}


def test_trained_on_other_vectors(faiss, shared):
    """An IVF index whose cells were placed for other vectors is stale: a fresh build finds what it misses."""

    def fault(folder):
        path = str(folder / "index.faiss")
        vectors = shared.vectors(range(len(shared)))
        generator = np.random.default_rng(3)
        others = (generator.standard_normal((2_000, vectors.shape[1])) + 4).astype(np.float32)
        coarse = library.IndexFlatIP(vectors.shape[1])
        stale = library.IndexIVFFlat(coarse, vectors.shape[1], 64, library.METRIC_INNER_PRODUCT)
        stale.cp.min_points_per_centroid = 1
        stale.train(others)
        stale.add(vectors)
        stale.nprobe = 3
        library.write_index(stale, path)

    report = faiss(shared, fault)
    assert {cause.code for cause in report.causes} == {"MR704"}
