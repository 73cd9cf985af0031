"""Faults of FAISS: an index file and a docstore that do not fit each other, or the application."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from memregress.golden import GoldenSet
from memregress.model import Floats, Verdict
from memregress.testing.faults.fault import Fault, Place, all_of, only

Harm = Callable[[Place, GoldenSet], None]
Line = Mapping[str, Any]


def folder(place: Place) -> Path:
    """Where index and docstore lie."""
    return Path(place.url) / place.space


def lines(change: Callable[[Line], Sequence[Line]]) -> Harm:
    """Rewrite the docstore: a line becomes several, or none."""

    def harm(place: Place, _: GoldenSet) -> None:
        path = folder(place) / "memories.jsonl"
        known = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        written = [json.dumps(new) + "\n" for line in known for new in change(line)]
        path.write_text("".join(written), encoding="utf-8")

    return harm


def index(change: Callable[[Floats], Floats], metric: int = faiss.METRIC_INNER_PRODUCT) -> Harm:
    """Put a flat index over changed vectors in the place of the index."""

    def harm(place: Place, _: GoldenSet) -> None:
        path = str(folder(place) / "index.faiss")
        known = faiss.read_index(path)
        vectors = np.ascontiguousarray(change(known.reconstruct_n(0, known.ntotal)), np.float32)
        altered = faiss.IndexFlat(vectors.shape[1], metric)
        altered.add(vectors)
        faiss.write_index(altered, path)

    return harm


def written(data: Callable[[bytes], bytes]) -> Harm:
    """Change the index file as such."""

    def harm(place: Place, _: GoldenSet) -> None:
        path = folder(place) / "index.faiss"
        path.write_bytes(data(path.read_bytes()))

    return harm


def trained_on_others(place: Place, golden: GoldenSet) -> None:
    """Place the cells of an IVF index for other vectors than it holds."""
    vectors = golden.vectors(range(len(golden)))
    others = (np.random.default_rng(3).standard_normal((2_000, vectors.shape[1])) + 4).astype(np.float32)
    coarse = faiss.IndexFlatIP(vectors.shape[1])
    stale = faiss.IndexIVFFlat(coarse, vectors.shape[1], 64, faiss.METRIC_INNER_PRODUCT)
    stale.cp.min_points_per_centroid = 1
    stale.train(others)
    stale.add(vectors)
    stale.nprobe = 3
    faiss.write_index(stale, str(folder(place) / "index.faiss"))


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
M, U = Verdict.MISSING, Verdict.UNREACHABLE

FAULTS: tuple[Fault, ...] = (
    Fault(name="line-lost", story="a memory is not in the docstore", verdict=M, cause="MR202", rows=only(42),
          harm=lines(lambda line: [] if line["id"] == "m-000042" else [line])),
    Fault(name="number-lost", story="a memory has no vector in the index", verdict=M, cause="MR201", rows=only(42),
          harm=lines(lambda line: [{**line, "number": None} if line["id"] == "m-000042" else line])),
    Fault(name="number-beyond", story="a memory's number is beyond the index", verdict=M, cause="MR201", rows=only(42),
          harm=lines(lambda line: [{**line, "number": 5_000} if line["id"] == "m-000042" else line])),
    Fault(name="removal-shifted", story="a removal shifted all positions behind it", cause="MR205",
          verdict=Verdict.MISATTRIBUTED, rows=only(*range(999)), harm=index(lambda vectors: vectors[1:]),
          cannot={"faiss": "the last memory then has no vector, which is MR201: two causes at once"}),
    Fault(name="default-metric", story="the index measures Euclidean distance", cause="MR102", rows=all_of,
          harm=index(lambda vectors: vectors, faiss.METRIC_L2)),
    Fault(name="other-dimensions", story="the index holds vectors of another model", cause="MR101", rows=all_of,
          harm=index(lambda vectors: vectors[:, :16])),
    Fault(name="few-probes", story="one cell of many is searched", verdict=U, cause="MR702", golden="shared",
          fill={"index": "ivf"}, options={"nprobe": 1}),
    Fault(name="poor-graph", story="a graph of few edges, searched with one candidate", cause="MR702", also=("MR705",),
          golden="shared", fill={"index": "hnsw", "m": 4}, options={"ef_search": 1},
          settings={"max_index_misses": 0.0}),
    Fault(name="filtered-afterwards", story="20 hits are fetched and filtered afterwards", cause="MR701",
          golden="crowded", options={"filter": "post", "fetch_k": 20}),
    Fault(name="trained-on-others", story="the cells were placed for other vectors", verdict=U, cause="MR704",
          golden="shared", harm=trained_on_others),
    Fault(name="file-cut", story="the index file was cut in half", error="index.faiss",
          harm=written(lambda data: data[: len(data) // 2])),
    Fault(name="lfs-pointer", story="the index file is a pointer of Git LFS", error="index.faiss",
          harm=written(lambda _: LFS)),
    Fault(name="file-empty", story="the index file is empty", error="index.faiss", harm=written(lambda _: b"")),
    Fault(name="bit-flipped", story="a bit of the index file flipped", verdict=Verdict.ALTERED, cause="MR209",
          rows=only(999), harm=written(lambda data: data[:-3] + bytes([data[-3] ^ 0x40]) + data[-2:])),
)  # fmt: skip
