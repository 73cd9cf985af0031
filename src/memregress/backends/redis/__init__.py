"""Redis with its search engine: hashes or JSON documents under a FLAT or HNSW index."""

from memregress.backends.redis.backend import ApproximateBackend, FlatBackend, OwnApproximateBackend, connect
from memregress.backends.redis.options import Options

__all__ = ["ApproximateBackend", "FlatBackend", "Options", "OwnApproximateBackend", "connect"]
