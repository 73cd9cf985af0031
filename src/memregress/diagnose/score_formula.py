"""similarities are on another scale: one formula maps them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from memregress.diagnose.cause import Systemic
from memregress.diagnose.scene import Case, Scene
from memregress.model import Metric

Values = npt.NDArray[np.float64]

MANY = 5
"""Similarities from which on a formula that fits all of them is no accident."""
CLOSE = 2e-4
"""How far a formula may miss, of what similarities span: records round to a few digits."""

COSINE: Mapping[str, Callable[[Values], Values]] = {
    "(1 + cosine) / 2, which is 1 - distance / 2": lambda s: (1 + s) / 2,
    "1 - cosine, the distance itself": lambda s: 1 - s,
    "1 / (1 + distance), with the cosine distance": lambda s: 1 / (2 - s),
    "1 / (1 + distance), with the Euclidean distance of unit vectors": lambda s: (
        1 / (1 + np.sqrt(_positive(2 - 2 * s)))
    ),
    "1 / (1 + distance), with the squared Euclidean distance of unit vectors": lambda s: 1 / (3 - 2 * s),
    "the Euclidean distance of unit vectors": lambda s: np.sqrt(_positive(2 - 2 * s)),
    "the squared Euclidean distance of unit vectors": lambda s: 2 - 2 * s,
    "1 - Euclidean distance of unit vectors": lambda s: 1 - np.sqrt(_positive(2 - 2 * s)),
    "1 - distance / √2, with the Euclidean distance of unit vectors": lambda s: 1 - np.sqrt(_positive(1 - s)),
    "exp(-distance)": lambda s: np.exp(s - 1),
    "1 - angle / π": lambda s: 1 - np.arccos(np.clip(s, -1, 1)) / np.pi,
    "-cosine": lambda s: -s,
    "percent": lambda s: 100 * s,
}
"""Scores by what they are in terms of the cosine similarity; LangChain, mem0 and Spring AI each have their own."""
L2: Mapping[str, Callable[[Values], Values]] = {
    "the distance itself": lambda s: -s,
    "the squared distance": lambda s: s**2,
    "minus the squared distance": lambda s: -(s**2),
    "1 / (1 + distance)": lambda s: 1 / (1 - s),
    "1 / (1 + squared distance)": lambda s: 1 / (1 + s**2),
    "1 - distance": lambda s: 1 + s,
    "1 - distance / √2": lambda s: 1 + s / np.sqrt(2),
    "1 - squared distance / 2, the cosine of unit vectors": lambda s: 1 - s**2 / 2,
    "exp(-distance)": np.exp,
}
"""The same in terms of minus the Euclidean distance."""
INNER_PRODUCT: Mapping[str, Callable[[Values], Values]] = {
    "minus the inner product": lambda s: -s,
    "1 - inner product": lambda s: 1 - s,
    "(1 + inner product) / 2": lambda s: (1 + s) / 2,
    "1 / (1 + exp(-inner product))": lambda s: 1 / (1 + np.exp(-s)),
}
FORMULAS = {Metric.COSINE: COSINE, Metric.L2: L2, Metric.INNER_PRODUCT: INNER_PRODUCT}


def _positive(values: Values) -> Values:
    return np.maximum(values, 0.0)


def _explains(cases: Sequence[Case], scene: Scene) -> list[Case]:
    return list(_fit(cases, scene)[1])


def _fit(cases: Sequence[Case], scene: Scene) -> tuple[str, Sequence[Case]]:
    """Find the formula that nearly all pairs of similarities obey, and the memories that do."""
    known = [case for case in cases if _moved(case, scene)]
    if len(known) < MANY:
        return "", []
    recorded, got = np.array([_pair(case, scene) for case in known]).T
    for words, formula in FORMULAS[scene.golden.shape.metric].items():
        for there, back, told in (
            (recorded, got, "recorded similarities are"),
            (got, recorded, "similarities are now"),
        ):
            with np.errstate(all="ignore"):
                fits = _near(formula(back), there)
            if fits.mean() > 0.9 and _spans(back[fits]):
                return f"{told} {words}", _chosen(known, fits)
    if not _spans(got):
        return "", []
    factor, shift = np.polyfit(got, recorded, 1)
    fits = _near(factor * got + shift, recorded)
    if fits.mean() > 0.9:
        return f"recorded similarities are {factor:.4g} times today's, {shift:+.4g}", _chosen(known, fits)
    return "", []


def _pair(case: Case, scene: Scene) -> tuple[float, float]:
    return float(scene.verdicts.expected[case.row]), float(scene.verdicts.got[case.row])


def _moved(case: Case, scene: Scene) -> bool:
    recorded, got = _pair(case, scene)
    return abs(recorded - got) > float(scene.run.tolerance.slack(np.array([recorded]))[0])


def _near(one: Values, other: Values) -> npt.NDArray[np.bool_]:
    close: npt.NDArray[np.bool_] = np.abs(one - other) <= CLOSE * max(1e-6, float(np.ptp(other)))
    return close


def _spans(values: Values) -> bool:
    """Whether values are far enough apart for a formula to be told from another."""
    return len(values) >= MANY and float(np.ptp(values)) > 0.01 * max(1e-6, float(np.abs(values).max()))


def _chosen(cases: Sequence[Case], fits: npt.NDArray[np.bool_]) -> list[Case]:
    return [case for case, fit in zip(cases, fits.tolist(), strict=True) if fit]


def _evidence(cases: Sequence[Case], scene: Scene) -> list[str]:
    words, _ = _fit(cases, scene)
    hidden = sum(case.verdict.value == "hidden" for case in cases)
    lines = [f"{words}: it fits all {len(cases):,}, and no rank changed for it"]
    lines += [
        f"{case.id}: recorded {recorded:.4f}, now {got:.4f}"
        for case in cases[:2]
        for recorded, got in (_pair(case, scene),)
    ]
    if hidden:
        lines.append(f"{hidden:,} of them are below the threshold, which is meant for the other scale")
    return lines


CAUSE = Systemic(
    code="MR605",
    name="score-formula",
    title="similarities are on another scale: one formula maps them all",
    of=("MR604", "MR401"),
    explains=_explains,
    evidence=_evidence,
    remedy=(
        "Convert thresholds to the scale that scores have now, and record the golden set's similarities on memregress's"
        " ({metric}; higher is closer)."
    ),
)
