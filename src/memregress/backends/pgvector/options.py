"""What a user may set for pgvector, in the ``[pgvector]`` table of ``memregress.toml``."""

from __future__ import annotations

from typing import Literal

import msgspec

from memregress.model import Metric


class Columns(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The names of the columns that hold a memory; null (``""`` in TOML) for what the table does not have."""

    id: str = "id"
    user: str = "user_id"
    content: str = "content"
    vector: str = "embedding"
    created_at: str = "created_at"
    expires_at: str = "expires_at"
    metadata: str = "metadata"


THOROUGH: dict[str, dict[str, str]] = {
    "hnsw": {"hnsw.ef_search": "200", "hnsw.iterative_scan": "strict_order"},
    "ivfflat": {"ivfflat.probes": "32768"},
    "none": {},
}
"""Settings under which a healthy index of memregress's own misses next to nothing: a miss then means something.

The server takes `probes` above the number of lists as all of them; `iterative_scan` exists from pgvector 0.8.
"""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Table, index and search settings. Without any: a table of memregress's own with an HNSW index."""

    setup: list[str] = []
    """SQL files (globs allowed) of your own DDL, run first in the run's own schema; they must make `table`."""
    table: str = "memories"
    """The table that holds the memories; in place it may name its schema: ``app.memories``."""
    columns: Columns = Columns()
    """The names of its columns."""
    type: Literal["vector", "halfvec"] = "vector"
    """The type of the vector column in memregress's own table."""
    storage: Literal["plain", "external"] = "plain"
    """Where memregress's own table keeps vectors: in their rows, as long as they fit a page, or outside (pgvector's
    default, as production has it); in their rows they are loaded, indexed and scanned faster."""
    index: Literal["hnsw", "ivfflat", "none"] = "hnsw"
    """The index of memregress's own table, built after loading."""
    m: int = 16
    """hnsw: connections per layer."""
    ef_construction: int = 64
    """hnsw: size of the candidate list while building."""
    lists: int | None = None
    """ivfflat: number of lists; by default one per 1,000 rows and at least 10."""
    metric: Metric | None = None
    """The metric searches use; by default the golden set's."""
    settings: dict[str, str | int | float | bool] | None = None
    """Settings of the search session, e.g. ``{"hnsw.ef_search" = 100}``: give your application's. Without any, a
    table of your own is searched under the server's, and memregress's own table thoroughly (`THOROUGH`)."""
    connections: int = 2
    """How many connections search at once."""
    timeout: float = 600.0
    """Seconds that one statement may take."""
    build_memory: str | None = None
    """`maintenance_work_mem` for the index build; by default what the graph needs, up to 1 GB."""
