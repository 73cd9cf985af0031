"""Redis Cluster: what can be searched of one.

A search engine without the cluster's coordinator knows the keys of its own node, and answers for them as if there were
no others; the name of an index is a key, so that two of three nodes refuse even to make it. What one node answers is
then a part, and a part must not be judged as the whole.
"""

from __future__ import annotations

from redis import exceptions

from memregress import errors
from memregress.backends.redis.connection import Pool


def check(pool: Pool, where: str) -> None:
    """Make sure that the server has all keys itself.

    Raises:
        BackendUnavailable: it is one of several nodes that share them.
    """
    if not pool.client.info("cluster").get("cluster_enabled"):
        return
    primaries = {tuple(slots[2][:2]) for slots in pool.ask("CLUSTER", "SLOTS")}
    if len(primaries) < 2:
        return
    one = f"Redis at {where} is one of {len(primaries)} nodes that share the keys"
    if _coordinated(pool):
        raise errors.BackendUnavailable(
            f"{one}, which memregress does not read yet",
            "Copy the memories to a server that is no cluster, or to a cluster of one node, and replay that.",
        )
    raise errors.BackendUnavailable(
        f"{one}, and its search engine sees its own only",
        "No search of this cluster finds all memories: that needs a search engine with the cluster's coordinator"
        " (Redis 8, Redis Enterprise). Replay a server that is no cluster, or a cluster of one node.",
    )


def _coordinated(pool: Pool) -> bool:
    """Whether one node asks the others when it is asked."""
    try:
        pool.ask("SEARCH.CLUSTERINFO")
    except exceptions.ResponseError:
        return False
    return True
