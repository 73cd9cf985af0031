"""A backend's package, extra, tests and documentation page go by one word."""

import importlib.util
import tomllib

import msgspec
import pytest

from memregress.backends import registry

each_backend = pytest.mark.parametrize("name", sorted(registry.BACKENDS))


def test_names_are_unique():
    """No two entries of the registry have one name."""
    assert len(registry.ENTRIES) == len(registry.BACKENDS)


@each_backend
def test_package(name):
    """A backend is importable under its name, and has `connect`, `Options` and remedies."""
    module = registry.find(name).load()
    assert callable(module.connect)
    assert issubclass(module.Options, msgspec.Struct)
    assert module.Options() == module.Options()
    assert registry.find(name).remedies()


@each_backend
def test_extra(name, root):
    """An extra of the backend's name installs its drivers, and `all` includes it."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert extras[name]
    assert name in extras["all"][0]
    assert all(importlib.util.find_spec(driver) for driver in registry.find(name).drivers)


@each_backend
def test_conformance(name, root):
    """Tests run the backend on a real store, and hold it to what every backend must do."""
    folder = root / "tests" / "conformance"
    assert (folder / f"test_{name}.py").exists()
    assert f"class Test{name.capitalize()}(BackendConformance)" in (folder / "test_every_backend.py").read_text()


@each_backend
def test_documentation(name, root):
    """There is a page, and README and the index of the documentation link to it."""
    assert (root / "docs" / "backends" / f"{name}.md").exists()
    assert f"](docs/backends/{name}.md)" in (root / "README.md").read_text(encoding="utf-8")
    assert f"](backends/{name}.md)" in (root / "docs" / "README.md").read_text(encoding="utf-8")


def test_nothing_else_is_there(root):
    """Every package of a backend, and every page, belongs to an entry of the registry."""
    packages = {path.parent.name for path in (root / "src/memregress/backends").glob("*/__init__.py")}
    pages = {path.stem for path in (root / "docs/backends").glob("*.md")}
    assert packages == pages == set(registry.BACKENDS)


def test_containers_are_prepared(root):
    """Every image that a backend starts is one that CI prepares."""
    script = (root / ".ci" / "run").read_text(encoding="utf-8")
    assert all(entry.container.image in script for entry in registry.ENTRIES if entry.container)
