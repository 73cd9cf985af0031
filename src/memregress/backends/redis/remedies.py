"""What mends a Redis store; see `memregress.diagnose.scene.Scene.facts`."""

from __future__ import annotations

REMEDIES = {
    "MR101": "FT.DROPINDEX {index}, then FT.CREATE it with DIM {dimensions}; write the vectors of the model again.",
    "MR102": "FT.DROPINDEX {index}, then FT.CREATE it with the DISTANCE_METRIC of {metric}; documents stay.",
    "MR201": "HSET {location} {column_vector} <bytes> for {ids}: the documents are there, without that field.",
    "MR204": "Embed {ids} again, and HSET {column_vector}.",
    "MR209": "Embed {ids} again, and HSET {column_vector}.",
    "MR210": "HSET {column_user} of {ids}, and the tag it is filtered by.",
    "MR213": "Write the vectors of {ids} again: {dimensions} little-endian components of the index's TYPE, not text.",
    "MR301": "PEXPIREAT {ids} again: COPY and edits keep a lifetime, RESTORE and HSET of a new key do not.",
    "MR701": "Filter by fewer documents, or raise EF_RUNTIME; in force: {settings}.",
    "MR702": "Raise EF_RUNTIME, in the query or the index; in force: {settings}; built with {parameters}.",
    "MR703": "FT.DROPINDEX {index}, and FT.CREATE it again; documents stay.",
    "MR705": "FT.CREATE it with a larger M and EF_CONSTRUCTION; built with {parameters}.",
}
