"""memories that expire never do, or the other way round."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Systemic
from memregress.diagnose.lifetime_changed import MANY, lives, samples
from memregress.diagnose.scene import Case, Scene


def _explains(cases: Sequence[Case], scene: Scene) -> list[Case]:
    found = [life.case for life in lives(cases, scene) if (life.recorded is None) != (life.stored is None)]
    return found if len(found) >= MANY else []


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    known = lives(cases, scene)
    lost = sum(life.stored is None for life in known)
    gained = len(known) - lost
    lines = [f"{lost:,} were recorded with an expiry, and have none"] if lost else []
    lines += [f"{gained:,} were recorded without an expiry, and have one"] if gained else []
    return [*lines, *samples(cases, scene)]


CAUSE = Systemic(
    code="MR302",
    name="expiry-lost",
    title="memories that expire never do, or the other way round",
    of=("MR301",),
    explains=_explains,
    evidence=_evidence,
    remedy=(
        "Carry expires_at over in the migration (a copy of the rows alone does not), and look for a default lifetime at"
        " the target; then set it back for {ids}."
    ),
)
