"""Opening a store: what kind of server it is, what lies there, and which backend fits."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from redis import exceptions

from memregress import errors
from memregress.backends.redis import backend, cluster, connection, facts, indexing, keys, vectorset
from memregress.backends.redis.options import Options
from memregress.backends.redis.vectorset import VectorSet
from memregress.model import Shape


def connect(
    url: str, *, space: str, shape: Shape, options: Options, in_place: bool = False
) -> backend.FlatBackend | VectorSet:
    """Open the store at a URL (``redis://``, ``rediss://``, ``unix://``).

    In place, `space` is the name of the index that is replayed; else of a new one, over keys that begin with it.

    Raises:
        BackendUnavailable: no server answers there, or it has no search engine, or in place no such index.
        ConfigError: the URL is not one of Redis.
    """
    where = connection.place(url)
    pool = connection.Pool(connection.connect(url, timeout=options.timeout), options.connections)
    try:
        with connection.doing("looking at its indexes", where):
            cluster.check(pool, where)
            if options.documents == "vectorset":
                return vectorset.connect(pool, where, space=space, shape=shape, options=options, in_place=in_place)
            there = [name.decode(errors="replace") for name in pool.ask("FT._LIST")]
        if not in_place:
            made = backend.FlatBackend if options.index == "flat" else backend.OwnApproximateBackend
            return made(pool=pool, where=where, space=space, shape=shape, options=options, index=None)
        with connection.doing("reading the index", where):
            _check(space, there, where, pool)
            index = facts.built(pool, space, timeout=options.timeout)
        found = backend.FlatBackend if index.kind == "flat" else backend.ApproximateBackend
        return found(pool=pool, where=where, space=space, shape=shape, options=options, index=index)
    except BaseException:
        pool.close()
        raise


def _check(space: str, there: Sequence[str], where: str, pool: connection.Pool) -> None:
    if space not in there:
        pattern = f"{indexing.pattern(space)}:*"
        left = None
        with contextlib.suppress(exceptions.NoPermissionError):
            left = next(iter(pool.client.scan_iter(match=pattern, count=keys.MANY)), None)
        hint = f"Keys that begin with {space}: are there: FT.CREATE it again (FLUSHDB in any database drops all). "
        raise errors.BackendUnavailable(
            f"Redis at {where} has no index {space!r}",
            f"{hint if left else ''}Give one as --space: {', '.join(sorted(there)[:20]) or 'it has none'}.",
        )
