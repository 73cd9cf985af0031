"""PostgreSQL with pgvector: tables of memregress's own or the user's, HNSW and IVFFlat, vector and halfvec.

Server documentation: https://github.com/pgvector/pgvector#readme and https://www.postgresql.org/docs/current/.
"""

from __future__ import annotations

from memregress.backends.pgvector.backend import PgvectorBackend
from memregress.backends.pgvector.options import Options
from memregress.model import Shape

__all__ = ["Options", "connect"]


def connect(url: str, *, space: str, shape: Shape, options: Options, in_place: bool = False) -> PgvectorBackend:
    """Connect to a server; `space` is the schema in which the memories lie or will lie.

    Raises:
        BackendUnavailable: the server does not answer or does not let us in.
        BackendError: it lacks the vector extension, or a setting is unknown to it.
    """
    return PgvectorBackend(url, space=space, shape=shape, options=options, in_place=in_place)
