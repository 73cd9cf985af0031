"""What people read on GitHub: the situations, the limits, and strangers' text that stays text everywhere."""

import html
import io
import re
import xml.etree.ElementTree as ET

import cmarkgfm
import msgspec
import pytest
import situations
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from memregress import legs, report
from memregress.github import annotating
from memregress.github.commenting import Marker
from memregress.legs import Leg
from memregress.model import Verdict
from memregress.render import console, facts, fitting, junit, several
from memregress.report import Gate

MARKER = "<!-- memregress:v1 key=default run=99 attempt=1 head=x state=green since= runs=1 -->"
HOSTILE = [
    "@octocat @org/team #1 GH-1 org/app#2",
    "https://example.com/x www.example.com a@example.com",
    "![](https://example.com/beacon.png) [x](javascript:alert(1))",
    "</details></td></table><script>alert(1)</script>",
    "a | b | c\n| d |",
    "``` ` `` \n```\n# heading\n~~~",
    MARKER,
    f"\n{MARKER}\n",
    "::error::boom\n::set-output name=verdict::passed\n##[error]x",
    "\u202egnp.exe\u200b\x1b[31m\x00\x07",
    "%0A::stop-commands::x",
    "$x^2$ $$\\unsafe$$ :tada: &amp;&#64;octocat",
    "",
    "   ",
    "`",
    "\\|\\",
    "]]>&<?xml ?>",
]


def comment(stores, told=situations.FACTS):
    return fitting.comment(several.renderer(stores, told))


def summary(stores, told=situations.FACTS):
    return fitting.summary(several.renderer(stores, told))


def page(text):
    return cmarkgfm.github_flavored_markdown_to_html(text, options=cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE)


@pytest.mark.parametrize(
    ("name", "says"),
    {
        "green": [
            "✅ memregress: all 12,431 memories tested are still found",
            "Nothing broke or was fixed, compared with `main@4e7d9a2`",
        ],
        "one-broken": [
            "❌ memregress: 1 of 12,431 memories is broken by this pull request",
            "[MR201 null-vector](https://github.com/org/memregress/blob/main/docs/causes/null-vector.md)",
            "| missing | 1 | 0 | **+1** |",
            "--only mem_8f3a21",
            "`Allergic to penicillin: tell every doctor`",
            "merge of 9c1f0be into main@4e7d9a2",
            "It was intact on `main@4e7d9a2`.",
        ],
        "systemic": ["❌ memregress: one problem breaks 11,902 of 12,431 memories", "…and 11,897 more", "**+11,902**"],
        "no-store": ["⚠️ memregress: nothing was tested, so this is no pass", "exit code 137", "Killed"],
        "moved": [
            "🟡 memregress: passed, 214 memories moved within tolerance",
            "12 memories added, 1 memory removed, **2 expectations loosened**",
            "`q-17: mem_77e5b8: max_rank raised from 5 to 10`",
        ],
        "first-run": ["(no baseline yet)", "Judged absolutely"],
        "several-stores": [
            "❌ memregress: 1 of 4 stores broken by this pull request; 2 of 4 stores not tested",
            "no result: its job failed before memregress ran",
            "`mem_8f3a21` is broken on `pgvector` only: look at that store",
            "4 stores expected, 3 reported",
        ],
    }.items(),
)
def test_situations(name, says):
    """Each says what happened, how many of how many, whose fault, and what to do, in the same order everywhere."""
    text = comment(situations.SITUATIONS[name])
    assert [sentence for sentence in says if sentence not in text] == []
    assert len(text) < 20_000
    assert "<table>" in page(text) or name == "no-store"


def test_broken_without_a_baseline():
    """Without a baseline nobody is blamed."""
    text = comment([Leg(name="x", outcome=situations.null_vector(3, baseline=None))])
    assert "3 of 12,431 memories are broken" in text
    assert "cannot be told whether this pull request did it" in text


def test_broken_before():
    """What was broken on the base branch already fails nothing, and is said."""
    document = situations.null_vector(2)
    old = [msgspec.structs.replace(memory, new=False) for memory in document.memories]
    text = comment([Leg(name="x", outcome=situations.document(old, document.causes))])
    assert "🟡 memregress: passed, with nothing newly broken, 2 memories broken before" in text


@pytest.mark.parametrize("count", [12_431, 100_000])
@pytest.mark.parametrize("many", [1, 32])
def test_limits_hold(count, many):
    """However many memories, causes and lines: every surface stays within its limit and says what is left out."""
    texts = ["🎉" * 300 + "|`" * 50] * 10
    causes = [
        situations.cause(f"MR{900 + number}", "a-name", count // many, texts, "\n".join(texts))
        for number in range(many)
    ]
    memories = [
        msgspec.structs.replace(
            situations.memory(number, Verdict.MISSING, f"MR{900 + number % many}"), id=f"{number}{'`|' * 100}"
        )
        for number in range(count)
    ]
    document = situations.document(memories, causes, gate=Gate.FAILED)
    for stores in ([Leg(name="x", outcome=document)], [Leg(name=f"leg-{n}", outcome=document) for n in range(20)]):
        text = comment(stores)
        assert len(text) <= fitting.COMMENT_CHARACTERS
        assert "report.json" in text
        assert len(summary(stores).encode()) <= 1 << 20
    lines = annotating.lines(document, "golden")
    assert len(lines) <= 10
    assert max(map(len, lines)) < 16_000  # 4,000 characters, each as up to 3 where escaped
    assert len(ET.fromstring(junit.render(document)).findall(".//failure")) == count


def everywhere(text, *, texts=True):
    """The surfaces, with a text in every place that comes from a golden set, a store or somebody else's report."""
    memory = report.MemoryReport(
        id=text or "empty", user=text, verdict=Verdict.MISSING, cause="MR201", search=text,
        expected=report.Observed(rank=1, note=text), got=report.Observed(note=text), new=True, file=text, line=1,
        snippet=text,
    )  # fmt: skip
    known = situations.cause("MR201", text, 1, [text], text)
    strange = report.CauseReport(
        code=text, name=text, title=text, count=1, evidence=[text], remedy=text, docs=f"javascript:{text}"
    )
    target = msgspec.structs.replace(
        situations.document().target,
        instance=text,
        index=msgspec.structs.replace(situations.document().target.index, server=text, location=text, kind=text),
    )
    document = situations.document(
        [memory, msgspec.structs.replace(memory, cause=text)],
        [known, strange],
        gate=Gate.FAILED,
        baseline=report.BaselineReport(name=text, kind="exact", counts={text: 1, "ok": 2}, tested=3),
        golden_change=report.GoldenChange(added=1, removed=0, changed=0, loosened=1, samples=[text]),
        reason=text,
        notes=[text],
        timings={text: 1.0},
        target=target,
        golden=msgspec.structs.replace(situations.document().golden, name=text, model=text),
    )
    failure = msgspec.structs.replace(
        situations.no_store(), message=text, remedy=text, log=[text, text], kind=text, backend=text,
        problems=[report.Problem(file=text, line=1, field=text, what=text)],
    )  # fmt: skip
    told = facts.Facts(texts=texts, salt="s", golden=text, options=[text], run_url="https://github.com/run")
    return document, failure, told


def check_markdown(text):
    """Only our own elements, links to our own pages, no mention outside of code, no marker at a line's start."""
    shown = page(text)
    without_code = re.sub(r"<(code|pre)\b.*?</\1>", "", shown, flags=re.DOTALL)
    elements = set(re.findall(r"</?([a-zA-Z!?][\w-]*)", without_code))
    allowed = {"h3", "h4", "p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "strong", "a", "sub", "b"}
    assert elements <= allowed | {"details", "summary"}
    links = re.findall(r'(?:href|src)="([^"]*)"', shown)
    assert [link for link in links if not link.startswith("https://github.com/")] == []
    words = html.unescape(re.sub(r"<[^>]*>", " ", without_code))
    assert "@" not in words
    assert "example.com" not in words
    assert "::" not in words
    assert Marker.read(text) is None  # a marker counts on the first line only, which is ours
    assert shown.count("<details") == shown.count("</details>")
    rows = re.findall(r"<tr>(.*?)</tr>", shown, re.DOTALL)
    assert {row.count("<td") + row.count("<th") for row in rows} <= {2, 4, 5, 7}


def check(text):
    for texts in (True, False):
        document, failure, told = everywhere(text, texts=texts)
        legs_ = [Leg(name="one", outcome=document), Leg(name="two", outcome=failure)]
        for stores in (legs_[:1], legs_[1:], legs_):
            check_markdown(comment(stores, told))
            check_markdown(summary(stores, told))
    for outcome in (document, failure):
        for line in annotating.lines(outcome, "golden"):
            assert re.match(r"::(error|notice|warning) title=", line)
            assert not re.search(r"[\r\n]", line)
    for case in ET.fromstring(junit.render(document)).iter("testcase"):
        assert set(case.attrib) <= {"name", "classname", "time"}
    buffer = io.StringIO()
    console.show(document, Console(file=buffer, width=200, force_terminal=True, color_system=None))
    assert not re.search("[\x00-\x09\x0b-\x1a\x1c-\x1f\u202e]", buffer.getvalue())


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(text):
    """Nothing executes, pings, loads, breaks a table or fakes our marker, on any surface, wherever it stands."""
    check(text)


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(alphabet=st.characters(codec="utf-8"), max_size=60),
        st.lists(st.sampled_from([*HOSTILE, *"`|<>@#*_[]()!~\\&:\n-", "```", "<!--", "-->"]), max_size=6).map("".join),
    )
)
def test_any_text_stays_text(text):
    """The same for three hundred texts nobody thought of."""
    check(text)


def test_withheld():
    """Where texts are withheld neither content nor user is anywhere in the text, and the user's pseudonym is stable."""
    _, _, told = everywhere("", texts=False)
    text = comment([Leg(name="x", outcome=situations.null_vector())], told)
    assert "penicillin" not in text
    assert "u_0000" not in text
    assert "sha256" in text
    again = comment([Leg(name="x", outcome=situations.null_vector())], told)
    assert re.search("user [0-9a-f]{8}", text)[0] == re.search("user [0-9a-f]{8}", again)[0]


def test_a_report_that_tested_nothing_is_no_pass():
    """Whatever a report says of itself: without tested memories its leg is red."""
    empty = situations.document(tested=0, gate=Gate.PASSED)
    assert legs.gate([Leg(name="x", outcome=empty)]) is Gate.ERROR
    assert legs.gate([]) is Gate.ERROR
    assert legs.gate([Leg(name="x", outcome=situations.document()), Leg(name="y", outcome=None)]) is Gate.ERROR
