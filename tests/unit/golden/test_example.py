"""The golden set of the support bot, as it is shipped."""

import ast
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from memregress import golden, similarity
from memregress.golden import manifest

FOLDER = Path(__file__).parents[3] / "examples" / "support-bot"


@pytest.fixture(scope="module")
def opened() -> golden.GoldenSet:
    return golden.open(FOLDER / "golden")


def test_size(opened: golden.GoldenSet) -> None:
    """Some three thousand memories of many users, a few of them heavy, in less than 8 MB."""
    counts = Counter(opened.users)
    assert 2_800 < len(opened) < 3_300
    assert 60 <= len(counts) <= 120
    assert sum(count > 150 for count in counts.values()) >= 3
    assert sum(path.stat().st_size for path in (FOLDER / "golden").iterdir()) < 8_000_000


def test_variety(opened: golden.GoldenSet) -> None:
    """Queries use all three kinds of filter, thresholds, forbidden memories and labels."""
    filters = [value for query in opened.queries for value in (query.filter or {}).values()]
    assert any(not isinstance(value, dict) for value in filters)
    assert any("in" in value for value in filters if isinstance(value, dict))
    assert any("gte" in value for value in filters if isinstance(value, dict))
    for name in ("min_similarity", "forbidden", "labels"):
        assert sum(bool(getattr(query, name)) for query in opened.queries) > 30


def test_vectors_are_normalised(opened: golden.GoldenSet) -> None:
    """All vectors have length 1, as the manifest says."""
    assert opened.manifest.vectors.normalized
    assert np.allclose(np.linalg.norm(opened.vectors(range(len(opened))), axis=1), 1, atol=1e-5)


def test_duplicates(opened: golden.GoldenSet) -> None:
    """Some memories of one user are word for word the same, and then their vectors are too."""
    rows: dict[tuple[str | None, str], list[int]] = {}
    for batch in opened.batches():
        for id_, user, content in zip(batch.ids, batch.users, batch.contents, strict=True):
            rows.setdefault((user, content), []).append(opened.row_of[id_])
    same = [group[:2] for group in rows.values() if len(group) > 1]
    assert len(same) > 30
    pairs = np.array(same)
    assert (opened.vectors(pairs[:, 0]) == opened.vectors(pairs[:, 1])).all()


def test_expected_similarities(opened: golden.GoldenSet) -> None:
    """Each recorded similarity is that of the vectors."""
    asked, found, recorded = [], [], []
    for position, query in enumerate(opened.queries):
        for expected in query.expected:
            asked.append(position)
            found.append(opened.row_of[expected.id])
            recorded.append(expected.similarity)
    assert opened.query_vectors is not None
    computed = similarity.pairs(opened.shape.metric, opened.query_vectors[asked], opened.vectors(found))
    assert np.abs(computed - np.array(recorded)).max() < 1e-6


def test_mail_addresses_are_examples(opened: golden.GoldenSet) -> None:
    """Every mail address is at the domain that is reserved for examples."""
    words = [word.strip(".,;") for batch in opened.batches() for text in batch.contents for word in text.split()]
    assert {word.partition("@")[2] for word in words if "@" in word} == {"example.com"}


def test_generator_is_as_described(opened: golden.GoldenSet) -> None:
    """The generator parses, and the set names it as its source."""
    assert opened.manifest.source is not None
    assert opened.manifest.source["generator"] == "examples/support-bot/generate.py"
    ast.parse((FOLDER / "generate.py").read_text(encoding="utf-8"))
    assert (FOLDER / "golden" / "manifest.json").read_bytes() == manifest.encode(opened.manifest)


def test_readme_counts(opened: golden.GoldenSet) -> None:
    """The numbers in the README are those of the set."""
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert f"{len(opened):,} memories of {len(set(opened.users))} customers" in readme.replace("\n", " ")
    assert f"{len(opened.queries)} questions" in readme
