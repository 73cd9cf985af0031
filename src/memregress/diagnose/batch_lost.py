"""memories that were recorded one after another are not in the store."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from memregress.diagnose.cause import Systemic
from memregress.diagnose.scene import Case, Scene

LONG = 10
"""Memories in a row that are a batch."""
CHANCE = 1e-6
"""How likely a run may be among as many missing memories that lie anywhere."""


def _explains(cases: Sequence[Case], scene: Scene) -> list[Case]:
    wanted = {row for run in _runs(scene) for row in run}
    return [case for case in cases if case.row in wanted]


def _runs(scene: Scene) -> Iterator[range]:
    """Runs of missing memories longer than chance makes them."""
    checked = np.flatnonzero(scene.run.stored.checked)
    lost = scene.run.stored.missing[checked]
    share = lost.mean() if len(lost) else 0.0
    start = 0
    for missing, group in itertools.groupby(lost.tolist()):
        length = sum(1 for _ in group)
        if missing and length >= LONG and len(lost) * share**length < CHANCE:
            yield range(int(checked[start]), int(checked[start + length - 1]) + 1)
        start += length


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    ids, last = scene.golden.ids, len(scene.golden) - 1
    lines = [
        f"{len(run):,} in a row: {ids[run.start]} to {ids[run[-1]]}"
        + (", which is the last of the golden set" if run[-1] == last else "")
        for run in itertools.islice(_runs(scene), 3)
    ]
    return [*lines, f"{scene.run.info.location} has {scene.run.info.rows:,} rows"]


CAUSE = Systemic(
    code="MR214",
    name="batch-lost",
    title="memories that were recorded one after another are not in the store",
    of=("MR202",),
    explains=_explains,
    evidence=_evidence,
    remedy=(
        "Run the migration again for {ids}: a batch of it failed, or it broke off; let it fail loudly, and count what "
        "each batch wrote."
    ),
)
