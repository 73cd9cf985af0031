"""The conformance suite on every backend and every kind of instance."""

import numpy as np
import pytest

from memregress.backends import faiss, milvus, pgvector, redis
from memregress.testing.conformance import BackendConformance

SERVERS = [
    pytest.param("embedded", marks=pytest.mark.store),
    pytest.param("container", marks=[pytest.mark.store, pytest.mark.docker]),
]


class TestFaiss(BackendConformance):
    """In process; vectors come back at the length they had before they were normalised."""

    @pytest.fixture(params=["flat", "hnsw", "ivf"])
    def connect(self, request):
        """Open a store in memory."""

        def opened(*, exact, **given):
            return faiss.connect("", options=faiss.Options(index="flat" if exact else request.param), **given)

        return opened

    def check_vectors(self, found, wanted):
        """Normalised and back."""
        np.testing.assert_allclose(found, wanted, atol=1e-5)


class TestPgvector(BackendConformance):
    """A table of its own."""

    @pytest.fixture(params=SERVERS)
    def connect(self, request):
        """Open a server's."""
        url = request.getfixturevalue(f"{request.param}_pgvector")

        def opened(*, exact, **given):
            return pgvector.connect(url, options=pgvector.Options(index="none" if exact else "hnsw"), **given)

        return opened


class TestRedis(BackendConformance):
    """Hashes and JSON."""

    @pytest.fixture(params=SERVERS)
    def url(self, request):
        """Of each kind of server."""
        return request.getfixturevalue(f"{request.param}_redis")

    @pytest.fixture(params=["hash", "json"])
    def connect(self, request, url):
        """Open a server's."""

        def opened(*, exact, **given):
            options = redis.Options(index="flat" if exact else "hnsw", documents=request.param)
            return redis.connect(url, options=options, **given)

        return opened


class TestMilvus(BackendConformance):
    """Milvus Lite in a file, and a server."""

    @pytest.fixture(params=SERVERS)
    def connect(self, request):
        """Open a server's."""
        url = request.getfixturevalue(f"{request.param}_milvus")

        def opened(*, exact, **given):
            return milvus.connect(url, options=milvus.Options(index="flat" if exact else "hnsw"), **given)

        return opened
