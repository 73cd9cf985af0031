"""What a user may set for Redis, in the ``[redis]`` table of ``memregress.toml``."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from memregress.model import Metric

Positive = Annotated[int, msgspec.Meta(ge=1)]

THOROUGH_EF = 500
"""`ef_runtime` of an HNSW index of memregress's own: a healthy one misses next to nothing, so that a miss counts."""


class Fields(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The names of the fields that hold a memory; ``""`` for what a document does not have. Its id ends the key."""

    user: str = "user_id"
    content: str = "content"
    vector: str = "embedding"
    created_at: str = "created_at"
    metadata: str = "metadata"


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Documents, index and search settings. Without any: hashes of memregress's own under an HNSW index."""

    documents: Literal["hash", "json", "vectorset"] = "hash"
    """How memregress's own documents are kept; of an index that is there the server says it. `vectorset` is for sets
    that VADD fills, of Redis 8; in place, too."""
    quantization: Literal["noquant", "q8"] = "q8"
    """vectorset: whether vectors are kept whole or in 8 bits a component, as VADD does without being told."""
    filter_ef: Positive | None = None
    """vectorset: candidates after which a filtered search gives up (FILTER-EF); by default the server's."""
    fields: Fields = Fields()
    """The names of their fields."""
    prefix: str | None = None
    """In place: what stands before the id in a memory's key. By default the first prefix of the index."""
    index: Literal["flat", "hnsw", "svs-vamana"] = "hnsw"
    """The vector index that is created; svs-vamana needs the search engine of Redis 8.2."""
    type: Literal["float32", "float64", "float16", "bfloat16"] = "float32"
    """The type of its vectors; 16 bits from RediSearch 2.10 on."""
    metric: Metric | None = None
    """What the index is created with; by default the golden set's."""
    m: Positive = 16
    """hnsw, svs-vamana: links of a vector to others."""
    ef_construction: Positive = 200
    """hnsw, svs-vamana: candidates looked at when a vector is linked."""
    ef_runtime: Positive | None = None
    """hnsw, svs-vamana: candidates kept in a search. Give your application's. Without it memregress's own index is
    searched thoroughly (500), and one that is there as it was created."""
    connections: Positive = 2
    """How many connections load and search at once."""
    timeout: float = 600.0
    """Seconds to wait for the index, and for an answer."""
