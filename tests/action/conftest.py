"""The action as a release has it, and its image."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RELEASED = (
    "action.yml", "publish", "Dockerfile", ".dockerignore", "entrypoint.py", "pyproject.toml", "README.md", "LICENSE",
    "src",
)  # fmt: skip


@pytest.fixture(scope="session")
def action(tmp_path_factory):
    """A copy of the action alone: act copies the whole folder for every job, and a checkout has environments in it."""
    folder = tmp_path_factory.mktemp("released") / "memregress-action"
    folder.mkdir()
    for name in RELEASED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="session")
def image(action):
    """The action's image, built once by the builder that act uses: each job finds its layers in the cache."""
    done = subprocess.run(
        ["docker", "build", "--quiet", str(action)], env={**os.environ, "DOCKER_BUILDKIT": "0"}, capture_output=True,
        text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]
