"""Redis: hashes or JSON documents under an index of its search engine, or a vector set."""

from memregress.backends.redis.backend import ApproximateBackend, FlatBackend, OwnApproximateBackend
from memregress.backends.redis.opening import connect
from memregress.backends.redis.options import Options
from memregress.backends.redis.vectorset import VectorSet

__all__ = ["ApproximateBackend", "FlatBackend", "Options", "OwnApproximateBackend", "VectorSet", "connect"]
