"""memories carry another time of creation."""

from __future__ import annotations

import collections
import math
from datetime import timedelta

from memregress.diagnose.cause import Concern
from memregress.diagnose.scene import Scene


def _found(scene: Scene) -> list[str]:
    stored = scene.run.stored
    count = int(stored.differs["created_at"].sum())
    if not count:
        return []
    lines = [f"{count:,} of {int(stored.checked.sum()):,} memories have another created_at than recorded"]
    shifts = collections.Counter(round(shift) for shift in stored.created_moved.values() if not math.isnan(shift))
    shift, times = shifts.most_common(1)[0] if shifts else (0, 0)
    if times > 1:
        way = "later" if shift > 0 else "earlier"
        lines.append(f"{times:,} of {len(stored.created_moved):,} looked at are {timedelta(seconds=abs(shift))} {way}")
    return lines


CONCERN = Concern(
    code="MR804",
    name="created-moved",
    title="memories carry another time of creation",
    found=_found,
    remedy=(
        "Carry created_at over in the migration, with its zone: what is ranked by age, or forgotten by it, changes with"
        " it. No search looked at here depends on it."
    ),
)
