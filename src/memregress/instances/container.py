"""A store in a container of its own, through testcontainers: started, awaited, and removed with its volumes.

Imported when a container is wanted: Docker's libraries take longer to import than all of memregress.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import time
import uuid
from collections.abc import Iterator
from typing import Any

import docker.errors
from testcontainers.core.config import ConnectionMode, testcontainers_config
from testcontainers.core.container import DockerContainer
from testcontainers.core.docker_client import DockerClient, get_docker_host

from memregress import errors
from memregress.backends import registry
from memregress.instances import ending

LABEL = "org.memregress.run"
"""Marks the containers of a run; they are found, and removed, by it."""

RUN = "MEMREGRESS_RUN"
"""The variable that may name the run, so that another process can remove what it left (see `remove`)."""

LOG_LINES = 20
PAUSE = 0.1
"""Seconds between two questions whether a server is ready."""

HINTS = {
    "exec format error": "The image is built for another processor; use one built for this machine.",
    "no space left on device": "The disk is full; free some space, for example with `docker system prune`.",
    "port is already allocated": "Another program took the port in the meantime; run it again.",
    "permission denied": "A file or folder of the image may not be read by its user; see the log.",
}
"""What to do, by what a container's log or Docker's own message says."""


def check() -> None:
    """Pass if a container can be started here.

    Raises:
        InstanceError: Docker does not answer.
    """
    with _docker_answering():
        DockerClient().client.close()


@contextlib.contextmanager
def run(entry: registry.Entry, image: str, *, deadline: float) -> Iterator[str]:
    """Run an image, yield the URL of its server once it answers, and remove the container again."""
    mark = f"{LABEL}={os.environ.get(RUN) or uuid.uuid4().hex}"
    server = _prepare(_spec(entry), image, mark)
    try:
        _start(server)
        yield _await(server, entry, deadline)
    finally:
        with ending.uninterrupted():
            _remove(server.get_docker_client().client, mark)


@contextlib.contextmanager
def _docker_answering() -> Iterator[None]:
    try:
        _knock(get_docker_host() or "unix:///var/run/docker.sock")
        yield
    except (docker.errors.DockerException, OSError) as error:
        raise errors.InstanceError(
            f"Docker does not answer: {_innermost(error)}",
            "Start it (`docker info` must work for this user), or give a URL, "
            "or pip install 'memregress[embedded]' for a store that needs no Docker.",
        ) from error


def _knock(host: str) -> None:
    """Try the socket ourselves: Docker's library leaves one open that it could not connect, and does not name it."""
    if not host.startswith("unix://"):
        return
    path = host.removeprefix("unix://")
    with socket.socket(socket.AF_UNIX) as knocking:
        try:
            knocking.connect(path)
        except OSError as error:
            raise OSError(error.errno, f"{path}: {error.strerror}") from None


def _innermost(error: BaseException) -> str:
    """What went wrong at the bottom of a chain of errors that quote each other."""
    while inner := error.__cause__ or (None if error.__suppress_context__ else error.__context__):
        error = inner
    return str(getattr(error, "strerror", None) or error).strip() or type(error).__name__


def _spec(entry: registry.Entry) -> registry.Container:
    if entry.container is None:
        raise errors.ConfigError(f"{entry.name} does not run in a container", "Give a URL.")
    return entry.container


def _prepare(spec: registry.Container, image: str, mark: str) -> DockerContainer:
    with _docker_answering():
        server = DockerContainer(image).with_envs(**spec.environment)
    if spec.command:
        server.with_command(list(spec.command))
    label, _, value = mark.partition("=")
    more: dict[str, Any] = {"labels": {label: value}}
    if spec.shm_size:
        more["shm_size"] = spec.shm_size
    engine = server.get_docker_client()
    if engine.get_connection_mode().use_mapped_port:
        # with_bind_ports takes no address, and so publishes on all; a throw-away server is nobody else's business.
        server.ports[f"{spec.port}/tcp"] = (_published_on(engine), 0)  # type: ignore[assignment]  # docker-py takes it
    elif network := engine.find_host_network():
        more["network"] = network  # testcontainers forgets it where DOCKER_HOST is set
    return server.with_kwargs(**more)


def _published_on(engine: DockerClient) -> str:
    """The one address of Docker's host at which we shall reach the server; nothing for all of them."""
    if engine.get_connection_mode() == ConnectionMode.gateway_ip:  # we are in a container ourselves
        return _gateway(engine.client.networks.get("bridge").attrs["IPAM"]["Config"] or [])
    return "127.0.0.1" if engine.host() in ("localhost", "127.0.0.1") else ""


def _gateway(bridge: list[dict[str, str]]) -> str:
    """The address of the host on a bridge; where the engine does not name it, it is the network's first."""
    for config in bridge:
        network = ipaddress.ip_network(config["Subnet"])
        if network.version == 4:
            return config.get("Gateway") or str(next(network.hosts()))
    return ""


def _start(server: DockerContainer) -> None:
    client = server.get_docker_client().client
    try:
        _pull(client, server.image)
    except docker.errors.APIError as error:
        raise _no_image(client, server.image, error) from error
    try:
        # Docker finishes a creation that is broken off here, a moment later: it would be found by nobody.
        with _without_reaper(), ending.uninterrupted():
            server.start()
    except docker.errors.APIError as error:
        said = _said(error)
        raise errors.InstanceError(
            f"container {server.image} did not start: {said}", _hint(said) or f"Try `docker run {server.image}`."
        ) from error


def _pull(client: docker.DockerClient, image: str) -> None:
    try:
        client.images.get(image)
    except docker.errors.ImageNotFound:
        client.images.pull(image)


@contextlib.contextmanager
def _without_reaper() -> Iterator[None]:
    """Do without testcontainers' reaper, one more image to pull, unless asked for: we remove containers ourselves."""
    before = testcontainers_config.ryuk_disabled
    if "TESTCONTAINERS_RYUK_DISABLED" not in os.environ:
        testcontainers_config.ryuk_disabled = True
    try:
        yield
    finally:
        testcontainers_config.ryuk_disabled = before


def _await(server: DockerContainer, entry: registry.Entry, deadline: float) -> str:
    """Ask the server itself, until it answers, dies, or the time is up."""
    until = time.monotonic() + deadline
    trouble = "its port is not published yet"
    while True:
        _check_alive(server)
        url = _url(server, _spec(entry))
        trouble = entry.load_server().trouble(url) if url else trouble
        if not trouble:
            return url
        if time.monotonic() > until:
            raise _late(server, deadline, trouble)
        time.sleep(PAUSE)


def _url(server: DockerContainer, spec: registry.Container) -> str:
    engine = server.get_docker_client()
    port: str | int = spec.port
    if engine.get_connection_mode().use_mapped_port:
        try:
            port = engine.port(server.get_container_id(), spec.port)
        except ConnectionError:
            return ""
    host = server.get_container_host_ip()
    # "localhost" may be ::1 first, where nothing is published.
    return spec.url.format(host="127.0.0.1" if host == "localhost" else host, port=port)


def _check_alive(server: DockerContainer) -> None:
    server.reload()
    if server.status in ("created", "running", "restarting"):
        return
    state = server.get_wrapped_container().attrs["State"]
    code, log = state["ExitCode"], _log(server)
    hint = "" if state.get("OOMKilled") else _hint(log + state.get("Error", ""))
    raise errors.InstanceError(
        f"container {server.image} died with exit code {code}\n{log}", hint or _by_exit_code(code)
    )


def _by_exit_code(code: int) -> str:
    if code == 0:
        return "It ended without an error: is a server what the image runs when it is given no command?"
    if code == 137:
        return "It was killed, most likely for want of memory; give Docker, or the machine, more."
    return "See its log above; `docker run` the image by hand to look further."


def _late(server: DockerContainer, deadline: float, trouble: str) -> errors.InstanceError:
    return errors.InstanceError(
        f"container {server.image} runs, but did not answer within {deadline:.0f} s: {trouble}\n{_log(server)}",
        "Is it the kind of store this backend is for? If it is only slow, allow it more time.",
    )


def _log(server: DockerContainer) -> str:
    lines = server.get_wrapped_container().logs(tail=LOG_LINES).decode(errors="replace").splitlines()
    return "\n".join(f"  | {line}" for line in lines) or "  (its log is empty)"


def _hint(text: str) -> str:
    return next((hint for sign, hint in HINTS.items() if sign in text.lower()), "")


def _no_image(client: docker.DockerClient, image: str, error: docker.errors.APIError) -> errors.InstanceError:
    known = sorted({tag for found in client.images.list() for tag in found.tags})
    return errors.InstanceError(
        f"there is no image {image}: {_said(error)}",
        f"{errors.did_you_mean(image, known)}Try `docker pull {image}`; a private registry needs `docker login`.",
    )


def _said(error: docker.errors.APIError) -> str:
    return str(error.explanation or error).strip()


def remove(run: str) -> None:
    """Remove the containers of a run that was killed before it could do so itself.

    Raises:
        InstanceError: Docker does not answer.
    """
    with _docker_answering():
        client = DockerClient().client
    _remove(client, f"{LABEL}={run}")


def _remove(client: docker.DockerClient, mark: str) -> None:
    """Remove what bears the mark, and its volumes; by name it might be another's."""
    for found in client.containers.list(all=True, filters={"label": mark}, ignore_removed=True):
        with contextlib.suppress(docker.errors.NotFound):
            found.remove(force=True, v=True)
    client.close()
