"""Statements that mend what broke, with the real names filled in; see `memregress.diagnose.scene.Scene.facts`."""

from __future__ import annotations

REMEDIES = {
    "MR101": "ALTER TABLE {location} ALTER COLUMN {column_vector} TYPE vector({dimensions});  -- then write them again",
    "MR102": "Order by {operator}, the operator of {metric}, and build the index with vector_{opclass}.",
    "MR201": "UPDATE {location} SET {column_vector} = … WHERE {column_id} IN ({ids});  -- embed them again",
    "MR204": "UPDATE {location} SET {column_vector} = … WHERE {column_id} IN ({ids});  -- embed them again",
    "MR209": "UPDATE {location} SET {column_vector} = … WHERE {column_id} IN ({ids});  -- embed them again",
    "MR210": "UPDATE {location} SET {column_user} = … WHERE {column_id} IN ({ids});",
    "MR211": "UPDATE {location} SET {column_content} = … WHERE {column_id} IN ({ids});",
    "MR212": "UPDATE {location} SET {column_metadata} = … WHERE {column_id} IN ({ids});",
    "MR301": "UPDATE {location} SET {column_expires_at} = … WHERE {column_id} IN ({ids});",
    "MR601": "DELETE the copies, then: ALTER TABLE {location} ADD UNIQUE ({column_id});",
    "MR701": (
        "SET hnsw.iterative_scan = strict_order;  -- pgvector 0.8 and later (ivfflat.iterative_scan = relaxed_order); "
        "else a partial or partitioned index per user, or a larger hnsw.ef_search"
    ),
    "MR702": "SET {more_effort};  -- in force: {settings}; built with {parameters}",
    "MR703": "REINDEX INDEX CONCURRENTLY {schema}.{index};",
    "MR704": "REINDEX INDEX CONCURRENTLY {schema}.{index};  -- after the data is loaded",
    "MR706": "VACUUM {location};  -- and let autovacuum come sooner: autovacuum_vacuum_scale_factor = 0.02",
    "MR707": "Read from the primary, or let commits wait for the replica: synchronous_commit = remote_apply",
    "MR801": "CREATE INDEX CONCURRENTLY ON {location} USING hnsw ({column_vector} vector_{opclass});",
    "MR802": "REINDEX INDEX CONCURRENTLY {schema}.{index};",
    "MR803": (
        "CREATE INDEX CONCURRENTLY ON {location} USING hnsw ({column_vector} vector_{search_opclass});"
        "  -- or search as {index} is built"
    ),
}
