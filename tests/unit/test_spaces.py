"""A space of one's own: Ctrl-C neither leaves it half made nor half dropped, and a failure to drop it is told."""

import os
import signal
from datetime import UTC, datetime

import pytest

from memregress import errors, spaces
from memregress.backends import registry
from memregress.model import Metric, Shape


@pytest.fixture
def backend(tmp_path):
    """FAISS in a folder."""
    module = registry.find("faiss").load()
    shape = Shape(
        dimensions=4, metric=Metric.COSINE, clock=datetime(2026, 1, 1, tzinfo=UTC), users=False, lifetimes=False
    )
    return module.connect(str(tmp_path), space="own", shape=shape, options=module.Options(), in_place=False)


def interrupted(monkeypatch, backend, method):
    """Press Ctrl-C before a method does its work."""
    work = getattr(backend, method)

    def pressed():
        os.kill(os.getpid(), signal.SIGINT)
        work()

    monkeypatch.setattr(backend, method, pressed)


@pytest.mark.parametrize("method", ["create", "drop"])
def test_stopped_within(monkeypatch, backend, tmp_path, method):
    """Stopped while it makes or drops the space, it is gone, and the interrupt is heard."""
    interrupted(monkeypatch, backend, method)
    with pytest.raises(KeyboardInterrupt), spaces.own(backend, "own"):
        assert (tmp_path / "own").is_dir()
    assert list(tmp_path.iterdir()) == []


def test_kept_unless_something_fails(backend, tmp_path):
    """`keep` leaves it; after a failure it is dropped all the same."""
    with spaces.own(backend, "own", keep=True):
        pass
    assert (tmp_path / "own").is_dir()
    backend.drop()
    with pytest.raises(ZeroDivisionError), spaces.own(backend, "own", keep=True):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_one_that_is_there_is_not_dropped(backend, tmp_path):
    """What somebody else made stays."""
    (tmp_path / "own").mkdir()
    with pytest.raises(errors.MemregressError), spaces.own(backend, "own"):
        pytest.fail("it was taken for ours")
    assert (tmp_path / "own").is_dir()


def test_what_cannot_be_dropped_is_told(monkeypatch, backend):
    """The first failure is raised, and says what was left."""

    def gone():
        raise errors.BackendUnavailable("the server has gone", "Start it.")

    monkeypatch.setattr(backend, "drop", gone)
    with pytest.raises(ZeroDivisionError) as raised, spaces.own(backend, "own"):
        raise ZeroDivisionError
    assert raised.value.__notes__ == ["the space own was left in the store: the server has gone"]
