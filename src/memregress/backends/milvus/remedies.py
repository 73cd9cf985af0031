"""What mends a Milvus store; see `memregress.diagnose.scene.Scene.facts`."""

from __future__ import annotations

REMEDIES = {
    "MR101": "Create the collection anew with dim = {dimensions}, and write the vectors of the golden set's model.",
    "MR102": "drop_index, and create_index with the metric_type of {metric}; rows stay.",
    "MR201": "upsert {ids} with their vectors.",
    "MR202": "upsert {ids}; look for a batch whose insert failed, and for the collection's ttl.",
    "MR204": "Embed {ids} again, and upsert them.",
    "MR209": "Embed {ids} again, and upsert them.",
    "MR210": "upsert {ids} with their {column_user}.",
    "MR211": "upsert {ids} with their {column_content}.",
    "MR212": "upsert {ids} with their {column_metadata}.",
    "MR301": "upsert {ids} with their {column_expires_at}.",
    "MR601": "insert does not look for a primary key that is there: delete the ids, and upsert each once.",
    "MR701": "Give the filter's field a partition key or a scalar index, or search with more effort: {settings}.",
    "MR702": "Search with {more_effort}; in force: {settings}; built with {parameters}.",
    "MR703": "drop_index, and create_index again; rows stay.",
    "MR704": "drop_index, and create_index again after the data; rows stay.",
    "MR705": "Build with a larger M and efConstruction; built with {parameters}.",
    "MR707": (
        "Where a search must see what was just written, ask with consistency_level='Session' (from the client that"
        " wrote) or 'Strong'; in force: {settings}."
    ),
}
