"""the stored content is another one than was recorded."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    return case.verdict is Verdict.ALTERED and "content" in case.differs


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    kept = [case.stored.content for case in cases if case.stored is not None]
    empty = sum(not content for content in kept)
    return [
        f"{empty:,} of {len(kept):,} have no content at all"
        if empty
        else f"{len(kept):,} have other text than recorded"
    ]


CAUSE = Cause(
    code="MR211",
    name="content-changed",
    title="the stored content is another one than was recorded",
    applies=_applies,
    evidence=_evidence,
    remedy=(
        "Write the content of {ids} again; look for a changed encoding, a column that cuts, or an update that"
        " went astray."
    ),
)
