"""Hits whose similarity the golden vectors contradict: the index holds another vector, and ranks a memory by that.

Whom such a hit pushes down is not broken, and comes back when the index is mended. Where most hits are contradicted the
store has a scale of its own, and none is taken for an intruder.
"""

from __future__ import annotations

import numpy as np

from memregress import similarity
from memregress.golden import GoldenSet
from memregress.model import Bools, Ints
from memregress.run import Searches
from memregress.tolerance import Tolerance

MOST = 5_000
"""Searches looked at; more that lost something to others have another reason."""
CHUNK = 250
SHARE = 0.3


def find(golden: GoldenSet, searches: Searches, chosen: Ints, tolerance: Tolerance) -> Bools:
    """bool[s, k]: which hits of the chosen searches cannot have the similarity that the store gave them."""
    answers = searches.answers
    odd = np.zeros(answers.row.shape, np.bool_)
    looked = 0
    for start in range(0, min(len(chosen), MOST), CHUNK):
        part = chosen[start : start + CHUNK]
        rows = answers.row[part]
        known = (rows >= 0) & golden.has_vector[np.maximum(rows, 0)] & np.isfinite(answers.similarity[part])
        place, rank = np.nonzero(known)
        if not len(place):
            continue
        asked = searches.queries(part.tolist()).vectors
        true = similarity.pairs(golden.shape.metric, asked[place], golden.vectors(rows[place, rank]))
        given = answers.similarity[part[place], rank]
        odd[part[place], rank] = np.abs(given - true) > tolerance.slack(true) + tolerance.slack(given)
        looked += len(place)
    return odd if odd.sum() <= SHARE * looked else np.zeros_like(odd)
