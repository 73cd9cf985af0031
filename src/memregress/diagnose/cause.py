"""A cause: a stable code, a rule, the evidence it shows and a remedy to copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memregress.diagnose.scene import Case, Scene
from memregress.model import Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """Why memories broke, as one rule.

    `applies` judges one memory; rules are asked in the order of `diagnose.CAUSES`, and the first that applies is the
    answer. `evidence` tells what was seen of the memories it applies to, in sentences. `remedy` is a template over
    `Scene.facts`; a store's own, more exact one (see its module `remedies`) takes its place. `verdict` replaces
    the provisional one where the cause knows better.
    """

    code: str
    name: str
    title: str
    applies: Callable[[Case, Scene], bool]
    evidence: Callable[[Sequence[Case], Scene], list[str]]
    remedy: str
    verdict: Verdict | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Systemic:
    """Why many memories broke at once, seen in what their changes have in common.

    `of` are the codes of the causes that its memories have one by one; `explains` is given all memories of these, and
    returns those that it is the better answer for, or none. The rest is as in `Cause`.
    """

    code: str
    name: str
    title: str
    of: tuple[str, ...]
    explains: Callable[[Sequence[Case], Scene], Sequence[Case]]
    evidence: Callable[[Sequence[Case], Scene], list[str]]
    remedy: str
    verdict: Verdict | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Concern:
    """Something wrong with the store that broke no memory (yet): reported, and no reason to fail.

    `found` returns what was seen, or nothing.
    """

    code: str
    name: str
    title: str
    found: Callable[[Scene], list[str]]
    remedy: str
