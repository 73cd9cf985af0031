"""the server throws memories out when it runs short of memory."""

from __future__ import annotations

from collections.abc import Sequence

from memregress.diagnose.cause import Cause
from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


def _applies(case: Case, scene: Scene) -> bool:
    """Only while the policy is in force, and only as many as the server counts; it does not say which."""
    settings = scene.run.info.settings
    policy = settings.get("maxmemory_policy", "noeviction")
    if case.verdict is not Verdict.MISSING or case.copies or policy == "noeviction":
        return False
    if policy.startswith("volatile") and not _mortal(case, scene):
        return False
    return int(settings.get("evicted_keys", 0)) >= int(scene.run.stored.missing.sum())


def _mortal(case: Case, scene: Scene) -> bool:
    return next(scene.golden.batches([case.row])).expires_at[0] is not None


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    settings = scene.run.info.settings
    return [
        f"none of them is there; the server has thrown out {settings['evicted_keys']:,} keys since it started",
        f"maxmemory is {settings['maxmemory']:,} bytes, maxmemory-policy {settings['maxmemory_policy']}",
    ]


CAUSE = Cause(
    code="MR251",
    name="evicted",
    title="the server throws memories out when it runs short of memory",
    applies=_applies,
    evidence=_evidence,
    remedy="Set maxmemory-policy to noeviction and maxmemory to what the memories need; write {ids} again.",
)
