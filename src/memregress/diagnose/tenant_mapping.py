"""users were mapped to other users."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence

from memregress.diagnose import renaming
from memregress.diagnose.cause import Systemic
from memregress.diagnose.scene import Case, Scene

MANY = 3
"""Memories of one user, from which on it is the user who was moved."""


def _explains(cases: Sequence[Case], scene: Scene) -> list[Case]:
    moved = _moved(cases, scene)
    return [case for case in cases if case.user in moved]


def _moved(cases: Sequence[Case], scene: Scene) -> Mapping[str | None, str | None]:
    """Users whose memories, all of them, are stored under one other user: the recorded user and the stored one."""
    owned = collections.Counter(
        user for user, checked in zip(scene.golden.users, scene.run.stored.checked.tolist(), strict=True) if checked
    )
    owned.subtract(collections.Counter(scene.golden.users[row] for row in scene.run.stored.missing.nonzero()[0]))
    hit = collections.Counter(case.user for case in cases)
    targets: dict[str | None, set[str | None]] = collections.defaultdict(set)
    for case in cases:
        if case.stored is not None:
            targets[case.user].add(case.stored.user)
    return {
        user: next(iter(stored))
        for user, stored in targets.items()
        if len(stored) == 1 and hit[user] == owned[user] >= MANY
    }


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    moved = _moved(cases, scene)
    lines = [f"all memories of {old!r} are stored under {new!r}" for old, new in list(moved.items())[:3]]
    if len(moved) > 3:
        lines.append(f"so it is with {len(moved):,} users")
    merged = collections.Counter(moved.values())
    known = {user for user in scene.golden.users if user not in moved}
    lines += [
        f"{new!r} now holds the memories of {count + (new in known):,} users"
        for new, count in merged.most_common(3)
        if count + (new in known) > 1
    ]
    rule = renaming.described({old: new for old, new in moved.items() if old is not None and new is not None})
    return [*lines, f"users were {rule}"] if rule and len(moved) > 1 else lines


CAUSE = Systemic(
    code="MR219",
    name="tenant-mapping",
    title="users were mapped to other users",
    of=("MR210",),
    explains=_explains,
    evidence=_evidence,
    remedy=(
        "Map users in the migration as they were: as exact texts, no case folding, no trimming, none dropped; then set"
        " the user of {ids} back."
    ),
)
