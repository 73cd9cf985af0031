"""The documentation says what is."""

import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import msgspec
import pytest

from memregress import report
from memregress.measures import Measures
from memregress.model import IndexInfo, Verdict

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def test_generated_pages_are_up_to_date(root):
    """Command line, settings and the table of causes are what the code says."""
    done = subprocess.run(
        [sys.executable, root / "docs" / "generate.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_ci_runs_what_the_readme_says(root):
    """The README's second command, which runs the tests, is the one that CI runs, letter for letter."""
    commands = re.findall(r"```sh\n(.*?)\n```", (root / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert commands[0].endswith("/memregress demo")
    assert commands[1].endswith("-m pytest")
    lines = [line.strip() for line in (root / ".ci" / "run").read_text(encoding="utf-8").splitlines()]
    assert lines.count(commands[1]) == 1


@pytest.mark.store
def test_readme_shows_the_demo(root):
    """What the README shows of the demo is what the demo prints."""
    text = (root / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"```text\n(.*?)```", text, re.DOTALL)[1].splitlines()
    done = subprocess.run([sys.executable, "-m", "memregress", "demo"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line for line in shown if line not in done.stdout.splitlines()] == []


def anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    kept = [c for c in heading.lower() if c in " -_" or unicodedata.category(c)[0] in "LN"]
    return "".join(kept).strip().replace(" ", "-")


def anchors(path: Path) -> set[str]:
    """The anchors of a page."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    return {anchor(line.lstrip("#")) for line in text.splitlines() if line.startswith("#")}


def test_links_lead_somewhere(root, files):
    """Every link to a file of the repository has a file at its end, and a heading where it names one."""
    broken = []
    for page in (path for path in files if path.suffix == ".md"):
        for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
            if "://" in target or target.startswith("mailto:"):
                continue
            name, _, fragment = target.partition("#")
            end = (page.parent / name).resolve() if name else page
            if not end.exists() or (fragment and fragment not in anchors(end)):
                broken.append(f"{page.relative_to(root)}: {target}")
    assert broken == []


def test_every_page_is_linked(root, files):
    """Every page of the documentation can be reached from its index."""
    start = root / "docs" / "README.md"
    seen, todo = set(), [start]
    while todo:
        page = todo.pop()
        if page in seen or page.suffix != ".md" or not page.exists():
            continue
        seen.add(page)
        targets = LINK.findall(page.read_text(encoding="utf-8"))
        todo += [(page.parent / target.partition("#")[0]).resolve() for target in targets if "://" not in target]
    pages = {path for path in files if path.suffix == ".md" and (root / "docs") in path.parents}
    assert pages - seen == set()


@pytest.mark.parametrize(
    "struct",
    [
        report.Report,
        report.MemoryReport,
        report.CauseReport,
        report.BaselineReport,
        report.GoldenChange,
        report.GoldenReport,
        report.TargetReport,
        report.Observed,
        Measures,
        IndexInfo,
    ],
    ids=lambda struct: struct.__name__,
)
def test_every_field_of_the_report_is_described(root, struct):
    """The page of the report names every field that a report has."""
    text = (root / "docs" / "reference" / "report.md").read_text(encoding="utf-8")
    assert [field.encode_name for field in msgspec.structs.fields(struct) if f"`{field.encode_name}`" not in text] == []


def test_every_verdict_is_described(root):
    """The page on reading a report has a row for every verdict, worst first, and the README names them all."""
    text = (root / "docs" / "how-to" / "read-a-report.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE) == [verdict.value for verdict in Verdict]
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert all(f"`{verdict.value}`" in readme for verdict in Verdict)
