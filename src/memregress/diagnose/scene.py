"""What the rules look at: one broken memory (`Case`), and all that is known of the run (`Scene`)."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memregress.compare import Verdicts, Witness
from memregress.evidence import Evidence, Ladder
from memregress.golden import GoldenSet
from memregress.model import Floats, Ints, Metric, Verdict
from memregress.run import Run, Searches
from memregress.verify import StoredMemory

SQL_NAMES = {
    Metric.COSINE: {"operator": "<=>", "opclass": "cosine_ops"},
    Metric.INNER_PRODUCT: {"operator": "<#>", "opclass": "ip_ops"},
    Metric.L2: {"operator": "<->", "opclass": "l2_ops"},
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One broken memory."""

    row: int
    id: str
    user: str | None
    verdict: Verdict
    witness: Witness
    search: int
    stored: StoredMemory | None
    ladder: Ladder | None
    twin: int | None
    differs: frozenset[str]
    copies: int
    dimensions: int

    @property
    def group(self) -> tuple[object, ...]:
        """Memories alike in this, and asked about or not, are taken to share a cause."""
        return self.verdict, self.witness, self.differs, self.dimensions, self.copies > 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """The whole run, for rules that look at more than one memory."""

    golden: GoldenSet
    run: Run
    verdicts: Verdicts
    evidence: Evidence
    remedies: Mapping[str, str]
    min_similarity: float | None = None
    wants_index: bool = True
    """Whether the settings ask for a vector index."""

    def case(self, row: int) -> Case:
        """Gather what is known of one memory."""
        stored = self.run.stored
        return Case(
            row=row,
            id=self.golden.ids[row],
            user=self.golden.users[row],
            verdict=self.verdicts.of(row),
            witness=Witness(int(self.verdicts.witness[row])),
            search=int(self.verdicts.search[row]),
            stored=stored.kept.get(row),
            ladder=self.evidence.ladders.get(row),
            twin=self.evidence.twins.get(row),
            differs=frozenset(name for name, flags in stored.differs.items() if flags[row]),
            copies=int(stored.copies[row]),
            dimensions=int(stored.dimensions[row]),
        )

    def vector(self, row: int) -> Floats:
        """The golden vector of a memory, float32[d]."""
        vector: Floats = self.golden.vectors([row])[0]
        return vector

    def searches(self, case: Case) -> Searches:
        """The searches among which the one that decided is."""
        return self.run.recorded if case.witness is Witness.QUERY else self.run.probes

    def hits(self, case: Case) -> Ints:
        """The rows that the deciding search returned, by rank."""
        if case.search < 0:
            return np.empty(0, np.int32)
        answers = self.searches(case).answers
        row: Ints = answers.row[case.search]
        found: Ints = row[answers.similarity[case.search] > -np.inf]
        return found

    def k(self, case: Case) -> int:
        """How many hits the deciding search asked for."""
        return int(self.searches(case).k[case.search]) if case.search >= 0 else 0

    def filtered(self, case: Case) -> bool:
        """Whether the deciding search asks for a user or has a filter; that of lifetimes leaves all golden memories."""
        if case.search < 0 or case.witness is Witness.INDEX:
            return False
        if self.searches(case).users[case.search] is not None:
            return True
        if case.witness is not Witness.QUERY:
            return False
        return bool(self.golden.queries[self.run.positions[case.search]].filter)

    @functools.cached_property
    def rebuilt_share(self) -> float:
        """Of the memories that the index missed, the share that a fresh build finds; NaN where none was built."""
        found = [ladder.rebuilt for ladder in self.evidence.ladders.values() if ladder.rebuilt is not None]
        return sum(found) / len(found) if found else float("nan")

    @property
    def _more_effort(self) -> str:
        """The setting that finds what was missed, where a sweep found one; else about four times the one in force."""
        swept, info = self.evidence.sweep, self.run.info
        if swept is not None and swept.enough is not None:
            return f"{swept.name} = {swept.enough}"
        return _more_effort({**info.parameters, **info.settings})

    @functools.cached_property
    def facts(self) -> Mapping[str, Any]:
        """Names and numbers for remedies."""
        info = self.run.info
        schema, _, table = info.location.rpartition(".")
        return {
            "location": info.location,
            "schema": schema,
            "table": table,
            "index": info.index or "(no index)",
            "kind": info.kind,
            "metric": str(self.golden.shape.metric),
            "store_metric": str(info.metric),
            **SQL_NAMES[self.golden.shape.metric],
            "search_opclass": SQL_NAMES[info.metric]["opclass"],
            "dimensions": self.golden.shape.dimensions,
            "store_dimensions": info.dimensions,
            "settings": ", ".join(f"{name} = {value}" for name, value in info.settings.items()),
            "parameters": ", ".join(f"{name} = {value}" for name, value in info.parameters.items()),
            "predicate": info.predicate,
            "more_effort": self._more_effort,
            "unusable": info.unusable,
            "min_similarity": self.min_similarity,
            **{f"column_{field}": name for field, name in info.names.items()},
            **{name.replace(".", "_"): value for name, value in {**info.parameters, **info.settings}.items()},
        }


def pairs_of_vectors(cases: Sequence[Case], scene: Scene) -> tuple[list[Case], Floats, Floats]:
    """Return memories whose stored vector has the same dimensions and is finite; stored and recorded, float32[n, d]."""
    dimensions = scene.golden.shape.dimensions
    found = [
        case
        for case in cases
        if case.stored is not None and len(case.stored.vector) == dimensions and np.isfinite(case.stored.vector).all()
    ]
    stored = [case.stored.vector for case in found if case.stored is not None]
    if not stored:
        return [], np.empty((0, dimensions), np.float32), np.empty((0, dimensions), np.float32)
    return found, np.stack(stored), scene.golden.vectors([case.row for case in found])


def _more_effort(known: Mapping[str, Any]) -> str:
    """A setting that searches about four times as thoroughly as the one in force."""
    for name, most in (("hnsw.ef_search", 1000), ("ef_search", 10_000)):
        if isinstance(now := known.get(name), int):
            return f"{name} = {min(most, max(100, 4 * now))}"
    for name, lists in (("ivfflat.probes", "lists"), ("nprobe", "nlist")):
        if isinstance(now := known.get(name), int):
            return f"{name} = {min(int(known.get(lists, 4 * now)), max(10, 4 * now))}"
    return "the search effort higher"


def quoted(ids: Sequence[str], limit: int = 3) -> str:
    """Ids as SQL literals, the first few of them."""
    shown = ", ".join("'" + id_.replace("'", "''") + "'" for id_ in ids[:limit])
    return shown + (", …" if len(ids) > limit else "")
