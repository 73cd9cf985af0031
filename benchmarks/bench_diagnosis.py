"""What diagnosis costs: a replay in place of a healthy store, and of the same store once it is broken.

Ten thousand memories that all lost precision, or that were all embedded anew; and one lost memory of many.

    python benchmarks/bench_diagnosis.py --backend pgvector --memories 10000,100000
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from pathlib import Path

import common
import numpy as np

from memregress import instances, pipeline
from memregress.backends import registry
from memregress.golden import GoldenSet
from memregress.replay import LOAD_BATCH
from memregress.report import FailOn, Report
from memregress.testing import sets
from memregress.testing.faults import changes

BREAKS = {
    "all lost precision": changes.vectors(lambda vectors: vectors.astype(np.float16).astype(np.float32)),
    "all embedded anew": changes.vectors(changes.another_model),
    "one row lost": changes.without(lambda row: row == 123),
    "one vector lost": changes.no_vector([123]),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="pgvector", choices=sorted(registry.BACKENDS))
    parser.add_argument("--memories", type=lambda text: [int(part) for part in text.split(",")], default=[10_000])
    given = parser.parse_args()
    entry = registry.find(given.backend)
    rows: list[list[object]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        instances.open(instances.choose(entry, embedded=True)) as started,
    ):
        for count in given.memories:
            golden = sets.make(
                Path(folder) / str(count), memories=count, users=count // 20, dimensions=128, queries=400
            )
            target = instances.choose(entry, url=started or str(Path(folder) / "store"))
            healthy, _ = replayed(golden, target, lambda batch: batch)
            for name, change in BREAKS.items():
                broken, report = replayed(golden, target, change)
                rows.append(
                    [
                        f"{count:,}",
                        name,
                        ", ".join(f"{cause.code} {cause.count:,}" for cause in report.causes),
                        f"{healthy:.2f} s",
                        f"{broken:.2f} s",
                        f"{broken / healthy - 1:+.0%}",
                        f"{broken - healthy:+.2f} s",
                    ]
                )
                columns = ["memories", "what broke", "causes", "healthy", "broken", "more (≤ 20 %)", "more (≤ 2 s)"]
                common.show(f"{given.backend}: what diagnosis adds to a replay in place", columns, rows)


def replayed(golden: GoldenSet, target: instances.Target, change: changes.Write) -> tuple[float, Report]:
    """Fill a space with changed memories, replay it in place, and drop it; seconds of the replay, best of two."""
    module = target.backend.load()
    filling = module.connect(
        target.url, space="diagnosis", shape=golden.shape, options=module.Options(), in_place=False
    )
    with contextlib.closing(filling):
        filling.create()
        try:
            batch = change(next(golden.batches(size=len(golden))))
            starts = range(0, len(batch), LOAD_BATCH)
            filling.load(changes.take(batch, range(start, min(start + LOAD_BATCH, len(batch)))) for start in starts)
            filling.index()
            return min((timed(golden, target) for _ in range(2)), key=lambda pair: pair[0])
        finally:
            filling.drop()


def timed(golden: GoldenSet, target: instances.Target) -> tuple[float, Report]:
    """Seconds of a replay in place, and its report."""
    started = time.perf_counter()
    report = pipeline.check(
        pipeline.Request(
            golden=golden.path,
            target=target,
            options=target.backend.load().Options(),
            space="diagnosis",
            in_place=True,
            fail_on=FailOn.ANY,
        ),
        progress=common.quiet,
    )
    return time.perf_counter() - started, report


if __name__ == "__main__":
    main()
