"""What a user may set for Milvus, in the ``[milvus]`` table of ``memregress.toml``."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from memregress.model import Metric

Positive = Annotated[int, msgspec.Meta(ge=1)]

THOROUGH_EF = 500
"""`ef` on an HNSW index of memregress's own: a healthy one misses next to nothing, so that a miss counts."""


class Fields(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The names of the fields that hold a memory; ``""`` for what a collection does not have."""

    id: str = "id"
    user: str = "user_id"
    content: str = "content"
    vector: str = "embedding"
    created_at: str = "created_at"
    expires_at: str = "expires_at"
    metadata: str = "metadata"


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Collection, index and search settings. Without any: memregress's own collection."""

    fields: Fields = Fields()
    """The names of the fields."""
    index: Literal["flat", "hnsw", "ivf_flat", "ivf_sq8", "autoindex", "diskann"] = "flat"
    """The vector index that is created. Give your application's. Without it an exact one: the others search the index
    first and filter afterwards, and miss memories of small users at any effort. Milvus Lite has no diskann."""
    metric: Metric | None = None
    """What the index is created with; by default the golden set's."""
    m: Positive = 16
    """hnsw: links of a vector to others."""
    ef_construction: Positive = 200
    """hnsw: candidates looked at when a vector is linked."""
    nlist: Positive = 128
    """ivf: lists that vectors are divided into."""
    ef: Positive | None = None
    """hnsw: candidates kept in a search. Give your application's. Without it memregress's own index is searched
    thoroughly (500), and one that is there as the server does by default."""
    nprobe: Positive | None = None
    """ivf: lists that a search visits. Without it all of memregress's own, and the server's default of one that is
    there."""
    consistency: Literal["strong", "session", "bounded", "eventually"] | None = None
    """How fresh an answer must be. Give your application's. Without it `strong`; memregress's own collection, once it
    was seen whole at `strong`, changes no more and is searched without waiting."""
    partition_key: bool = False
    """Whether the user is the partition key of memregress's own collection."""
    times: Literal["us", "ms", "s"] = "us"
    """The unit of times, in integers since 1970 (UTC)."""
    connections: Positive = 4
    """How many searches and inserts are under way at once."""
    timeout: float = 60.0
    """Seconds to wait for an answer; for the index to be built and loaded, ten times as long."""
