"""Collections of memregress's own, and how indexes are built and searched. https://milvus.io/docs/index.md"""

from __future__ import annotations

from typing import Any

from pymilvus import DataType, MilvusClient

from memregress.backends.milvus.collection import OWN, Collection
from memregress.backends.milvus.connection import Pool
from memregress.backends.milvus.options import THOROUGH_EF, Options
from memregress.backends.milvus.rows import LONGEST

WIDEST = 32_768
"""The largest `ef` and `search_list` that Milvus takes."""
DEFAULT_NPROBE = 8


def create(pool: Pool, name: str, options: Options, *, dimensions: int) -> None:
    """Create a collection with a field for all of a memory."""
    fields = options.fields
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field(fields.id, DataType.VARCHAR, is_primary=True, max_length=LONGEST)
    schema.add_field(fields.user, DataType.VARCHAR, max_length=LONGEST, is_partition_key=options.partition_key)
    schema.add_field(fields.content, DataType.VARCHAR, max_length=LONGEST)
    schema.add_field(fields.created_at, DataType.INT64)
    schema.add_field(fields.expires_at, DataType.INT64)
    schema.add_field(fields.metadata, DataType.JSON)
    schema.add_field(OWN, DataType.JSON)
    schema.add_field(fields.vector, DataType.FLOAT_VECTOR, dim=dimensions)
    pool.ask("create_collection", name, schema=schema, consistency_level="Strong")


def parameters(options: Options) -> dict[str, Any]:
    """How the index is built."""
    if options.index == "hnsw":
        return {"M": options.m, "efConstruction": options.ef_construction}
    return {"nlist": options.nlist} if options.index.startswith("ivf") else {}


def of_search(options: Options, there: Collection, *, own: bool) -> dict[str, Any]:
    """How thoroughly a search goes; nothing leaves it to the server."""
    if there.kind == "hnsw":
        ef = options.ef or (THOROUGH_EF if own else None)
        return {"ef": ef} if ef else {}
    if there.kind.startswith("ivf"):
        nprobe = options.nprobe or (there.parameters.get("nlist", options.nlist) if own else None)
        return {"nprobe": nprobe} if nprobe else {}
    return {}


def widest(there: Collection, rows: int) -> dict[str, Any]:
    """The most thorough search that the index allows."""
    if there.kind == "hnsw":
        return {"ef": min(max(rows, 1), WIDEST)}
    if there.kind.startswith("ivf"):
        return {"nprobe": there.parameters.get("nlist", 128)}
    return {"search_list": min(max(rows, 16), WIDEST)} if there.kind == "diskann" else {}
