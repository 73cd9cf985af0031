"""The report as JUnit XML: a failed test case for each broken memory, a passed one for the rest of each verdict."""

from __future__ import annotations

import io
import re

from junitparser import Error, Failure, JUnitXml, TestCase, TestSuite

from memregress.report import CauseReport, Gate, MemoryReport, Report

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped (https://www.w3.org/TR/xml/#charsets)."""


def render(report: Report) -> bytes:
    """Return the document as bytes."""
    causes = {cause.code: cause for cause in report.causes}
    suite = TestSuite(f"memregress.{_clean(report.golden.name)}")
    cases = [
        _passed(f"{count} memories {verdict}")
        for verdict, count in report.counts.items()
        if verdict in ("ok", "tolerated") and count
    ]
    cases += [_failed(memory, causes.get(memory.cause or "")) for memory in report.memories if memory.verdict.broken]
    if report.gate is Gate.ERROR:
        cases.append(_case("gate", Error(report.reason, "error")))
    suite.add_testcases(cases)
    document = JUnitXml("memregress")
    document.add_testsuite(suite)
    suite.time = document.time = sum(report.timings.values())
    buffer = io.BytesIO()
    document.write(buffer)
    return buffer.getvalue()


def _passed(name: str) -> TestCase:
    return _case(name, None)


def _failed(memory: MemoryReport, cause: CauseReport | None) -> TestCase:
    title = f"{memory.verdict}: {cause.title}" if cause else str(memory.verdict)
    failure = Failure(_clean(title), memory.cause or memory.verdict.value)
    lines = [f"{memory.file}:{memory.line}", *(cause.evidence if cause else []), cause.remedy if cause else ""]
    failure.text = _clean("\n".join(lines))
    return _case(_clean(memory.id), failure, user=memory.user)


def _case(name: str, result: Failure | Error | None, *, user: str | None = None) -> TestCase:
    case = TestCase(name, classname=_clean(f"memregress.{user}" if user else "memregress"), time=0)
    if result is not None:
        case.result = [result]
    return case


def _clean(text: str) -> str:
    return _NOT_XML.sub("�", text)
