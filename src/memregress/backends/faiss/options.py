"""How the index is built and searched."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from memregress.model import Metric

Positive = Annotated[int, msgspec.Meta(ge=1)]


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Give your application's; without any, an index of memregress's own is flat, or searched thoroughly."""

    index: Literal["flat", "hnsw", "ivf"] = "flat"
    """The kind of index that is built; one that is there already says itself what it is."""
    metric: Metric | None = None
    """What the index is built with; the golden set's if not given."""
    stored_as: Literal["float32", "float16"] = "float32"
    """The type vectors are kept in; float16 through FAISS's scalar quantizer."""
    m: Positive = 32
    """Of HNSW: links of a vector to others."""
    ef_construction: Positive = 40
    """Of HNSW: candidates looked at when a vector is linked."""
    ef_search: Positive | None = None
    """Of HNSW: candidates kept in a search; if not given, all of up to 4,096, else 400; in place what the file says."""
    nlist: Positive | None = None
    """Of IVF: the number of cells; 4√n for n vectors, with at least 39 vectors to a cell, if not given."""
    nprobe: Positive | None = None
    """Of IVF: cells visited in a search; all, or in place what the index file says, if not given."""
    filter: Literal["pre", "post"] = "pre"
    """Filter while searching (`pre`: an IDSelector), or `fetch_k` hits afterwards (`post`: as LangChain does)."""
    fetch_k: Positive = 20
    """With `filter: post`: hits fetched before any of them is filtered out."""
    threads: Positive | None = None
    """Threads FAISS uses; all processors if not given."""
