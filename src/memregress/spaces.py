"""A space of one's own in a store: made, and dropped in the end, whatever happens."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from memregress import errors
from memregress.backends import Backend
from memregress.instances import ending


@contextlib.contextmanager
def own(backend: Backend, space: str, *, keep: bool = False) -> Iterator[None]:
    """Make a backend's `space`, and drop it in the end; `keep` leaves it there if nothing fails.

    Neither is ended halfway by Ctrl-C: what was half made would stay, or what was half dropped. Where it cannot be
    dropped after a failure, that failure is what is raised, with a note that the space was left.
    """
    made = False
    try:
        with ending.uninterrupted():
            backend.create()
            made = True
        yield
    except BaseException as failure:
        if made:
            _drop_after(failure, backend, space)
        raise
    if not keep:
        with ending.uninterrupted():
            backend.drop()


def _drop_after(failure: BaseException, backend: Backend, space: str) -> None:
    try:
        with ending.uninterrupted():
            backend.drop()
    except errors.BackendError as error:
        failure.add_note(f"the space {space} was left in the store: {error.message}")
