"""The actions' files, their code and their page name the same inputs and outputs; the examples name only those."""

import dataclasses
import re

import pytest
import yaml

from memregress import inputs, publish_inputs
from memregress.backends import registry
from memregress.github import reading

ACTIONS = {"action.yml": inputs.Inputs, "publish/action.yml": publish_inputs.Inputs}


def load(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", ACTIONS)
def test_inputs_of_the_file_are_those_of_the_code(root, path):
    """Every input is declared and read, with the same default; those with choices name each of them."""
    declared = load(root / path)["inputs"]
    fields = {field.name.replace("_", "-"): field for field in dataclasses.fields(ACTIONS[path])}
    fields.pop("url", None)
    assert set(declared) - {"url-env"} == set(fields)
    for name, field in fields.items():
        if field.default is not dataclasses.MISSING and name != "github-token":
            assert declared[name].get("default", "") == field.default, name
        for choice in reading.CHOICES.get(field.name, ()):
            assert choice in declared[name]["description"], name


@pytest.mark.parametrize("path", ACTIONS)
def test_inputs_and_outputs_are_documented(root, path):
    """The page names each."""
    page = (root / "docs" / "reference" / "action.md").read_text(encoding="utf-8")
    action = load(root / path)
    assert [name for name in (*action["inputs"], *action["outputs"]) if f"`{name}`" not in page] == []


def test_the_backends_are_named(root):
    """The action's file and page name every backend there is."""
    for path in ("action.yml", "docs/reference/action.md"):
        text = (root / path).read_text(encoding="utf-8")
        assert [name for name in registry.BACKENDS if name not in text] == []


def test_what_workflows_give_is_declared(root):
    """Each step of a workflow, and each call of the reusable one, gives only inputs that there are."""
    known = {
        "org/memregress-action@v1": load(root / "action.yml")["inputs"],
        "org/memregress-action/publish@v1": load(root / "publish" / "action.yml")["inputs"],
    }
    reusable = load(root / ".github" / "workflows" / "memregress.yml")[True]["workflow_call"]["inputs"]
    used = 0
    for path in (*root.glob("examples/workflows/*/*.yml"), root / ".github" / "workflows" / "memregress.yml"):
        for job in load(path)["jobs"].values():
            if "memregress.yml@v1" in job.get("uses", ""):
                assert set(job["with"]) <= set(reusable), path
                used += 1
            for step in job.get("steps", ()):
                if step.get("uses", "") in known:
                    assert set(step["with"]) <= set(known[step["uses"]]), path
                    used += 1
    assert used >= 9


def test_everybody_elses_actions_are_pinned(root):
    """Workflows, examples and documentation name others' actions by commit."""
    files = [*root.glob("**/*.yml"), *root.glob("docs/**/*.md"), root / "README.md"]
    found = [
        (str(path), name)
        for path in files
        if ".venv" not in path.parts
        for name in re.findall(r"uses: ([\w./-]+@[^\s]+)", path.read_text(encoding="utf-8"))
        if not name.startswith(("org/", "./")) and not re.search(r"@[0-9a-f]{40}$", name)
    ]
    assert found == []
