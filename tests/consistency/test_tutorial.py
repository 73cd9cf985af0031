"""The tutorial's commands do what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"(?:<!-- exit (\d+) -->\n)?```(sh|text)\n(.*?)```", re.DOTALL)


@pytest.mark.store
def test_tutorial(tmp_path):
    """Each command exits as told, and what the tutorial shows of its output is there, line by line."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    output, ran = "", 0
    for code, kind, text in BLOCK.findall((DOCS / "tutorial.md").read_text(encoding="utf-8"))[1:]:  # [0]: installing
        if kind == "text":
            assert [line for line in text.splitlines() if line not in output.splitlines()] == []
            continue
        done = subprocess.run(
            ["bash", "-euc", text], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == int(code or 0), done.stderr
        output, ran = done.stdout, ran + 1
    assert ran == 8
    assert {file.name for file in (tmp_path / "report").iterdir()} == {"report.json", "junit.xml"}
