"""A cause's module, code, fault, test and page belong together."""

import contextlib
import importlib
import re
import string

import msgspec
import numpy as np
import pytest

from memregress import compare, diagnose, evidence, replay, tolerance
from memregress.backends import registry
from memregress.backends.pgvector.options import Columns
from memregress.clock import Clock
from memregress.model import Metric
from memregress.testing import faults, sets

RULES = diagnose.RULES
NOT_MODULES = {"__init__", "cause", "renaming", "scene", "segments"}
NOT_YET = {
    # Injected by docs/causes/regenerate.py, see test_page_on_a_real_store; a test of their own is still to be written.
    "MR203": "needs a replay that fills the store itself; the fixture fills it beforehand",
    "MR603": "a layout without metadata",
    "MR604": "a golden set of another similarity scale",
    "MR999": "no fault of a store, but an expectation that nothing meets",
}
"""Causes that no test under tests/faults names, and why."""

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


def quiet(_):
    """Listen to no progress."""


def test_codes_and_names_are_unique():
    """No code and no name is used twice, and codes have their form."""
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)
    assert all(re.fullmatch(r"MR[1-9]\d\d", rule.code) for rule in RULES)


def test_every_module_is_asked(root):
    """What stands in `diagnose` is listed there, and its module is called what the rule is called."""
    folder = root / "src" / "memregress" / "diagnose"
    modules = {path.stem for path in folder.glob("*.py")} - NOT_MODULES
    assert modules == {rule.name.replace("-", "_") for rule in RULES}
    for name in modules:
        module = importlib.import_module(f"memregress.diagnose.{name}")
        assert (getattr(module, "CAUSE", None) or module.CONCERN) in RULES


@each_rule
def test_page(rule, root):
    """Its page has code and name as title, what it says below, and an output in which it is named."""
    text = (root / "docs" / "causes" / f"{rule.name}.md").read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[0] == f"# {rule.code} {rule.name}"
    assert lines[2].lower().startswith(f"{rule.title.lower()}. verdict: ")
    assert f"\n{rule.code} {rule.name}  {rule.title}" in text
    headings = ["What you see", "What was checked", "Why it happens", "How to mend it", None]
    assert [line[3:] for line in lines if line.startswith("## ")] == [
        heading or "How to keep it from coming back" for heading in headings
    ]


def test_nothing_else_has_a_page(root, regenerate):
    """Each page and each fault on it belongs to a rule, and each rule has one."""
    pages = {path.stem for path in (root / "docs" / "causes").glob("*.md")} - {"README"}
    assert pages == set(regenerate.FAULTS) == {rule.name for rule in RULES}


def test_each_is_proven(root):
    """Each is asserted in a test that injects its fault, or is a fault of the selftest, or one of those to come."""
    injected = {fault.cause or fault.concern for name in registry.BACKENDS for fault in faults.of(name)}
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (root / "tests" / "faults").glob("test_*.py"))
    assert {rule.code for rule in RULES if rule.code not in tests} - injected == set(NOT_YET)


@pytest.mark.store
@each_rule
def test_page_on_a_real_store(rule, regenerate, embedded_pgvector, tmp_path):
    """The fault of its page, injected into a real PostgreSQL, is called by its code."""
    output = regenerate.show(rule.name, embedded_pgvector, tmp_path)
    assert f"{rule.code} {rule.name}  {rule.title}" in output
    assert "?" not in re.findall(rf"{rule.code} .*?\n +remedy (.*?)(?:\n\n|$)", output, re.DOTALL)[0]


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """What remedies may name: the facts of a tiny real run."""
    golden = sets.make(tmp_path_factory.mktemp("facts") / "golden", memories=20, users=2, queries=2)
    module = registry.find("faiss").load()
    clock = Clock(quiet)
    with contextlib.closing(
        module.connect("", space="facts", shape=golden.shape, options=module.Options(), in_place=False)
    ) as backend:
        backend.create()
        replay.load(golden, backend, clock)
        exact = tolerance.choose(metric=Metric.COSINE, stored_as="float32", dimensions=32, scale=1.0, given=None)
        selection = replay.Selection(rows=np.arange(20, dtype=np.int32), positions=[0, 1])
        run = replay.run(golden, backend, selection, replay.Setup(tolerance=lambda _: exact, probe_k=10), clock)
        verdicts = compare.compare(golden, run)
    scene = diagnose.Scene(golden=golden, run=run, verdicts=verdicts, evidence=evidence.Evidence(), remedies={})
    return {*scene.facts, "ids", "count"}


def placeholders(template):
    """The names that a remedy leaves to be filled in."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


@each_rule
def test_remedies_name_facts(rule, facts):
    """A remedy names only what a run knows."""
    assert placeholders(rule.remedy) <= facts


@pytest.mark.parametrize("name", sorted(registry.BACKENDS))
def test_remedies_of_backends_name_facts(name, facts):
    """A backend's own remedies are for causes that there are, and name only what a run on it knows."""
    remedies = registry.find(name).remedies()
    assert set(remedies) <= {rule.code for rule in RULES}
    known = facts | {f"column_{field.name}" for field in msgspec.structs.fields(Columns)}
    assert {code: placeholders(text) - known for code, text in remedies.items() if placeholders(text) - known} == {}
