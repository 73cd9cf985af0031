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
    "MR250": "RENAME the keys of {ids} to {location}, or FT.CREATE {index} with a PREFIX for them too.",
    "MR251": "CONFIG SET maxmemory-policy noeviction, raise maxmemory, and write {ids} again.",
    "MR252": "Look for what deletes {ids}; in force: {settings}.",
    "MR301": "PEXPIREAT {ids} again: COPY and edits keep a lifetime, RESTORE and HSET of a new key do not.",
    "MR402": (
        "Compare the fields of {ids} with the query's filter, and with what the index took of them: a TAG is cut at its"
        " SEPARATOR and trimmed."
    ),
    "MR550": "FT.CREATE {index} again with {column_user} TAG CASESENSITIVE; documents stay.",
    "MR602": (
        "If they lie under another prefix, FT.CREATE {index} with a PREFIX that ends in a separator, so that app: does"
        " not take app2:; else delete what should not be there."
    ),
    "MR650": "Let expired keys be swept (they are when they are read), or raise k; from Redis 8 on they are left out.",
    "MR701": "Filter by fewer documents, or raise EF_RUNTIME (of VSIM: FILTER-EF and EF); in force: {settings}.",
    "MR702": "Set {more_effort} (of VSIM: EF) in query or index; in force: {settings}; built with {parameters}.",
    "MR703": "FT.DROPINDEX {index}, and FT.CREATE it again; documents stay.",
    "MR750": (
        "HSET {column_vector} of {ids} again; writes to the same keys in another logical database (SELECT) do that,"
        " for an index takes in them all."
    ),
    "MR707": "Read from the master, or WAIT for the replicas after writing; replay when nothing writes.",
    "MR705": "FT.CREATE it with a larger M and EF_CONSTRUCTION; built with {parameters}.",
}
