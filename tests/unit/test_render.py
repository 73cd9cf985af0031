"""What people read: hostile text stays text on every surface, and limits hold."""

import io
import time
import xml.etree.ElementTree as ET
from datetime import UTC, datetime

import msgspec
import pytest
from rich.console import Console

from memregress import report, report_files
from memregress.measures import Measures
from memregress.model import IndexInfo, Metric, Verdict
from memregress.render import console, junit

HOSTILE = "\x1b[31m[red]x[/red] \u202e <script>&]]> \x00 \r\n::error::boom \ud83d"
CAUSE = report.CauseReport(code="MR201", name="null-vector", title="t", count=1, evidence=["e"], remedy="r", docs="d")


def memory(number=0, text="m"):
    return report.MemoryReport(
        id=f"{text}{number}",
        user=text,
        verdict=Verdict.MISSING,
        cause="MR201",
        search="readback",
        expected=report.Observed(),
        got=report.Observed(note="no row"),
        file="memories.jsonl",
        line=number + 1,
        snippet=text,
    )


def document(memories, *, gate=report.Gate.FAILED, causes=(CAUSE,)):
    nothing = dict.fromkeys(field for field in Measures.__struct_fields__ if field != "queries")
    return report.Report(
        memregress="0",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        gate=gate,
        reason="x",
        fail_on=report.FailOn.ANY,
        counts={"missing": len(memories), "ok": 3},
        tested=3,
        total=3,
        broken=len(memories),
        memories=memories,
        causes=list(causes),
        concerns=[],
        notes=[],
        measures=Measures(queries=0, **nothing),
        users={},
        timings={"load": 1.0},
        golden=report.GoldenReport(
            name="g", digest="d", memories=3, queries=0, dimensions=2, metric="cosine", model=None,
            captured_at=datetime(2026, 1, 1, tzinfo=UTC),
        ),
        target=report.TargetReport(
            backend="faiss", instance="embedded", space="s", in_place=False,
            index=IndexInfo(server="x", location="y", rows=3, stored_as="float32", metric=Metric.COSINE),
            index_searches=0, searches=3, index_checked=0, index_checked_found=0, tolerance=1e-6, tolerance_origin="o",
        ),
    )  # fmt: skip


def printed(shown):
    buffer = io.StringIO()
    console.show(shown, Console(file=buffer, width=200, force_terminal=True, color_system="truecolor"))
    return buffer.getvalue()


def test_hostile_text_cannot_steer_a_terminal():
    """Escape sequences, markup, bidi marks and line ends of a memory are shown, not obeyed."""
    text = printed(document([memory(text=HOSTILE)]))
    assert "\\x1b[31m[red]x[/red]" in text
    assert "\x1b[31m[" not in text
    assert "\u202e" not in text
    assert "\n::error::" not in text


def test_hostile_text_cannot_break_the_xml():
    """The document stays well-formed, and the text comes back with only what XML cannot hold replaced."""
    root = ET.fromstring(junit.render(document([memory(text=HOSTILE)])))
    (failed,) = [case for case in root.iter("testcase") if case.find("failure") is not None]
    assert "<script>&]]>" in failed.get("name")
    assert "\x00" not in failed.get("name")


def test_many_broken_memories_stay_readable_and_quick():
    """Of 50,000 memories with one cause a person sees five and the number; JUnit has them all, within seconds."""
    shown = document([memory(number) for number in range(50_000)])
    started = time.perf_counter()
    text = printed(shown)
    assert len(text.splitlines()) < 40
    assert "and 49,995 more" in text
    root = ET.fromstring(junit.render(shown))
    assert len(root.findall(".//failure")) == 50_000
    assert time.perf_counter() - started < 30


def test_an_error_is_no_pass():
    """A gate that could not judge is an error in JUnit, never an empty green suite."""
    root = ET.fromstring(junit.render(document([], gate=report.Gate.ERROR)))
    assert len(root.findall(".//error")) == 1


def test_a_report_reads_back_as_it_was_written(tmp_path):
    """Encoding and reading a report loses nothing, and an unknown field of a later version is passed over."""
    shown = document([memory()])
    path = tmp_path / "report.json"
    path.write_bytes(report_files.encode(shown))
    assert report_files.read(path) == shown
    later = msgspec.json.decode(report_files.encode(shown)) | {"later": 1}
    path.write_bytes(msgspec.json.encode(later))
    assert report_files.read(path) == shown


@pytest.mark.parametrize("cut", [0, 1, 500])
def test_a_damaged_report_is_the_users_error(tmp_path, cut):
    """What is no report is refused with the file's name."""
    path = tmp_path / "report.json"
    path.write_bytes(report_files.encode(document([memory()]))[:cut])
    with pytest.raises(Exception, match=r"report\.json is no report"):
        report_files.read(path)
