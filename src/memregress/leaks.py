"""Hits that should not be: of another user than asked, or forbidden."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memregress.golden import GoldenSet
from memregress.model import Bools
from memregress.run import Searches


def find(golden: GoldenSet, searches: Searches, forbidden: Sequence[Sequence[str]]) -> Bools:
    """bool[s, k]: hits of a memory that does not belong to the user who asked, or that the query forbids."""
    row = searches.answers.row
    codes = {user: code for code, user in enumerate(dict.fromkeys(golden.users))}
    owner = np.array([codes[user] for user in golden.users] or [0], np.int32)
    asker = np.array([-1 if user is None else codes.get(user, -2) for user in searches.users], np.int32)
    leaks: Bools = (row >= 0) & (owner[row] != asker[:, None]) & (asker[:, None] != -1)
    for search, ids in enumerate(forbidden):
        if ids:
            leaks[search] |= np.isin(row[search], [golden.row_of[id_] for id_ in ids])
    return leaks
