"""Milvus: a server or cluster over its URL, or Milvus Lite in a file."""

from memregress.backends.milvus.backend import connect
from memregress.backends.milvus.options import Fields, Options

__all__ = ["Fields", "Options", "connect"]
