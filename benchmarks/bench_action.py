"""The action's container: how large it is, and how long it takes from its start to the first query of the store.

The image must be there: ``docker build --tag memregress-action .``. The bar is 5 s beyond the store's own start.

    python benchmarks/bench_action.py memregress-action
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import common

from memregress.testing import sets

REPEATS = 5


def start_up(image: str, folder: Path, backend: str) -> tuple[float, float]:
    """Seconds from `docker run` to the stage after the store's start, and of them the store's own start."""
    command = [
        "docker", "run", "--rm", "--workdir", "/github/workspace", "-v", f"{folder}:/github/workspace",
        "-v", "/var/run/docker.sock:/var/run/docker.sock", "-e", f"INPUT_BACKEND={backend}",
        "-e", "INPUT_GOLDEN=golden", image,
    ]  # fmt: skip
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        reached = next(time.perf_counter() for line in process.stdout if line.startswith(("load", "create")))
        process.stdout.read()
    report = json.loads((folder / "memregress-report" / "report.json").read_text())
    return reached - began, report["timings"].get("start", 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image")
    image = parser.parse_args().image
    inspected = subprocess.run(["docker", "image", "inspect", image], capture_output=True, text=True, check=True).stdout
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        sets.make(folder / "golden", memories=300, users=10, dimensions=16, queries=20)
        for backend in ("faiss", "pgvector"):
            runs = [start_up(image, folder, backend) for _ in range(REPEATS)]
            beyond = min(whole - own for whole, own in runs)
            rows.append([backend, f"{min(whole for whole, _ in runs):.1f} s", f"{beyond:.1f} s"])
    size = json.loads(inspected)[0]["Size"] / 1e6
    common.show(
        f"the action's image, {size:.0f} MB", ["store", "to the first query", "beyond the store's start (< 5)"], rows
    )


if __name__ == "__main__":
    main()
