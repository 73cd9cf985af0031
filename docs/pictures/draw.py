"""Draw the situations of the comment as GitHub shows them: GitHub's Markdown, in a headless Chromium.

python docs/pictures/draw.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import cmarkgfm

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

import situations  # noqa: E402

from memregress.render import fitting, several  # noqa: E402

HERE = Path(__file__).parent
HEIGHTS = {
    "green": 280, "one-broken": 740, "systemic": 1000, "no-store": 380, "moved": 420, "first-run": 280,
    "several-stores": 1340,
}  # fmt: skip
STYLE = """
body { font: 14px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1f2328; margin: 24px; max-width: 900px }
h3 { font-size: 1.25em; margin: 0 0 12px } h4 { font-size: 1em; margin: 20px 0 12px }
code { font: 85% "DejaVu Sans Mono", monospace; background: #eff1f3; border-radius: 6px; padding: .2em .4em }
pre { background: #f6f8fa; border-radius: 6px; padding: 12px; overflow: hidden }
pre code { background: none; padding: 0 }
table { border-collapse: collapse; display: block; overflow: hidden; margin-bottom: 16px }
td, th { border: 1px solid #d1d9e0; padding: 6px 13px } tr:nth-child(2n) { background: #f6f8fa }
a { color: #0969da; text-decoration: none } sub { color: #59636e; font-size: 12px } details { margin: 12px 0 }
"""


def draw(name: str, chromium: str) -> None:
    """Draw one situation."""
    text = fitting.comment(several.renderer(situations.SITUATIONS[name], situations.FACTS))
    body = cmarkgfm.github_flavored_markdown_to_html(text, options=cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE)
    with tempfile.TemporaryDirectory() as scratch:
        page = Path(scratch) / "page.html"
        page.write_text(f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{body}", encoding="utf-8")
        command = [
            chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
            f"--user-data-dir={scratch}/profile", f"--window-size=960,{HEIGHTS[name]}",
            f"--screenshot={HERE / name}.png", page.as_uri(),
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, timeout=60)


def main() -> None:
    """Draw all of them."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("Chromium is not installed")
    for name in situations.SITUATIONS:
        draw(name, chromium)


main()
