"""The report as JUnit XML: a failed test case for each broken memory, a passed one for the rest of each verdict."""

from __future__ import annotations

import collections
import io
import re
from collections.abc import Iterator, Mapping

from junitparser import Error, Failure, JUnitXml, TestCase, TestSuite

from memregress.report import CauseReport, Gate, MemoryReport, Report

TOLD = 100
"""Test cases of a cause that say all that is known of it; the others say where their memory stands."""
TEXT = 4_000
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
    cases += _broken(report.memories, causes)
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


def _broken(memories: list[MemoryReport], causes: Mapping[str, CauseReport]) -> Iterator[TestCase]:
    told: collections.Counter[str] = collections.Counter()
    for memory in memories:
        if memory.verdict.broken:
            cause = causes.get(memory.cause or "")
            told[memory.cause or ""] += 1
            yield _failed(memory, cause, whole=told[memory.cause or ""] <= TOLD)


def _failed(memory: MemoryReport, cause: CauseReport | None, *, whole: bool) -> TestCase:
    title = f"{memory.verdict}: {cause.title}" if cause else str(memory.verdict)
    failure = Failure(_clean(title), _clean(memory.cause or memory.verdict.value))
    lines = [f"{memory.file}:{memory.line}", *([*cause.evidence, cause.remedy] if cause and whole else [])]
    failure.text = _clean("\n".join(lines)[:TEXT])
    return _case(_clean(memory.id), failure, user=memory.user)


def _case(name: str, result: Failure | Error | None, *, user: str | None = None) -> TestCase:
    case = TestCase(name, classname=_clean(f"memregress.{user}" if user else "memregress"), time=0)
    if result is not None:
        case.result = [result]
    return case


def _clean(text: str) -> str:
    return _NOT_XML.sub("�", text)
