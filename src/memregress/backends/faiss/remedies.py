"""What mends a FAISS store; see `memregress.diagnose.scene.Scene.facts`."""

from __future__ import annotations

REMEDIES = {
    "MR101": "Build the index anew with d = {dimensions} and add the vectors of the golden set's model.",
    "MR102": "Build the index for {metric} (FAISS takes L2 unless told; cosine is inner product over unit vectors).",
    "MR201": "index.add_with_ids(…) for {ids}: their ids are in the docstore, and their vectors are not in the index.",
    "MR204": "Embed {ids} again, and replace their vectors in {location}.",
    "MR205": "Number vectors yourself (IndexIDMap2, add_with_ids), not by position, which removals shift; build anew.",
    "MR209": "Embed {ids} again, and replace their vectors in {location}.",
    "MR601": "Remove the copies: index.remove_ids(…), and add each id once.",
    "MR701": "Filter while searching (SearchParameters(sel=IDSelectorBatch(…))), or fetch more; in force: {settings}.",
    "MR702": "Set {more_effort} on the index before searching; in force: {settings}.",
    "MR703": "Build the index {location} anew from the stored vectors.",
    "MR704": "Train the index {location} anew on vectors of what it holds, then add them again.",
    "MR705": "Build with a larger M and efConstruction, or remove duplicate vectors first; built with {parameters}.",
}
