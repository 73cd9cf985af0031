"""FAISS, in process: an index, and beside it the docstore that says whose vector each number is.

FAISS knows vectors and their numbers, and nothing else. Ids, users, metadata and lifetimes are the application's
business, kept beside the index and turned into an `IDSelector` (or applied afterwards) for every search; cosine
similarity is the inner product of vectors that were normalised on the way in. This adapter does the same.
"""

from memregress.backends.faiss.backend import ApproximateBackend, FlatBackend, connect
from memregress.backends.faiss.options import Options

__all__ = ["ApproximateBackend", "FlatBackend", "Options", "connect"]
