"""The repository as these tests see it: its files, and the scripts under `docs`."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _ignored(path: Path) -> bool:
    return any(part.startswith(".") and part not in (".ci", ".github") for part in path.parts[:-1])


def _git(*arguments: str) -> str | None:
    """What git says, where it is installed and this is a clone."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        return None
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return None if done.returncode else done.stdout  # git refuses a folder that is another user's


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's folder."""
    return ROOT


@pytest.fixture(scope="session")
def files() -> list[Path]:
    """What git keeps or would keep; without git, everything that is in no hidden folder."""
    listed = _git("ls-files", "-co", "--exclude-standard")
    if listed is not None:
        found = [ROOT / line for line in listed.splitlines()]
    else:
        found = [path for path in ROOT.rglob("*") if not _ignored(path.relative_to(ROOT))]
    return sorted(path for path in found if path.is_file())


def load(path: Path):
    """Import a script by its path."""
    spec = importlib.util.spec_from_file_location(f"script_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look for the names in their annotations
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def regenerate():
    """The script that writes the outputs on the pages of causes."""
    return load(ROOT / "docs" / "causes" / "regenerate.py")
