"""From a golden set to other forms: a folder that `importing` can read again."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np

from memregress.golden import appearing, beir, encoding, parquet
from memregress.golden.golden_set import GoldenSet

Form = Literal["beir", "parquet"]


def send(golden: GoldenSet, target: Path, form: Form) -> None:
    """Write a golden set into a new folder, in another form.

    Raises:
        ConfigError: the target exists.
    """
    with appearing.folder(target) as folder:
        if form == "beir":
            beir.write(golden, folder)
        else:
            _parquet(golden, folder)


def _parquet(golden: GoldenSet, folder: Path) -> None:
    """Memories as Parquet; queries as they stand in the set, which Parquet would only make harder to read."""
    parquet.write(golden, folder / "memories.parquet")
    with (folder / "queries.jsonl").open("xb") as lines:
        lines.writelines(encoding.query(query) for query in golden.queries)
    if golden.query_vectors is not None:
        np.save(folder / "queries.npy", golden.query_vectors)
