"""Faults to inject into real stores, and what must be said of each; `memregress selftest` injects them all.

`writing` has those of a faulty migration, which occur on every store; beside it are those of one store alone.
"""

from __future__ import annotations

import importlib
import importlib.util

from memregress.testing.faults import asking, writing
from memregress.testing.faults.fault import Fault, Place, all_of, only

__all__ = ["Fault", "Place", "all_of", "of", "only"]


def of(backend: str) -> tuple[Fault, ...]:
    """Every fault that is known for a backend, also those that cannot occur on it (see `Fault.cannot`)."""
    module = f"{__name__}.{backend}"
    own = importlib.import_module(module).FAULTS if importlib.util.find_spec(module) else ()
    return (*writing.FAULTS, *asking.FAULTS, *own)
