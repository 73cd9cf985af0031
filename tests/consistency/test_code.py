"""The code keeps to the sizes and names that the project set itself."""

import ast
import re
import subprocess
import sys

import pytest

LONGEST_MODULE = 300
LONGEST_FUNCTION = 60
FOREIGN = re.compile(
    r"/[w]ork/|/[f]arm/|/[t]mp/v/|[p]ypi[.]org|[p]ythonhosted|[n]pmjs[.]|[d]eb[.]debian", re.IGNORECASE
)
"""Paths of one machine, and hosts of package registries; written so that this line is none."""


@pytest.fixture(scope="module")
def modules(root):
    """The modules of memregress, parsed."""
    paths = sorted((root / "src").rglob("*.py"))
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def test_modules_are_short(modules, root):
    """No module is longer than 300 lines."""
    lengths = {str(path.relative_to(root)): len(path.read_text(encoding="utf-8").splitlines()) for path in modules}
    assert {name: length for name, length in lengths.items() if length > LONGEST_MODULE} == {}


def test_functions_are_short(modules):
    """No function is longer than 60 lines."""
    functions = [
        (f"{path.name}:{node.lineno} {node.name}", node.end_lineno - node.lineno + 1)
        for path, tree in modules.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert [function for function in functions if function[1] > LONGEST_FUNCTION] == []


def test_no_module_hides_the_standard_library(modules, root):
    """No module or package is called what one of the standard library is called."""
    package = root / "src" / "memregress"
    names = {part.removesuffix(".py") for path in modules for part in path.relative_to(package).parts}
    assert names & set(sys.stdlib_module_names) <= {"__main__"}


def test_nothing_names_a_machine(files, root):
    """No file names a path of the machine it was written on, or the host of a package registry."""
    found = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(root)}: {match[0]}" for match in FOREIGN.finditer(text)]
    assert found == []


@pytest.mark.parametrize("arguments", [["--help"], ["replay", "--help"], ["golden", "--help"], ["--version"]])
def test_help_is_quick(arguments):
    """Help imports neither numpy nor a driver."""
    code = (
        "import sys; sys.argv[0] = 'memregress'\n"
        "from memregress import cli\n"
        "try: cli.main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "print('imported:', *sorted({'numpy', 'faiss', 'psycopg2', 'rich', 'docker', 'msgspec'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "imported:"
