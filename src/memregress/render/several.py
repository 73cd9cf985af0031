"""Several stores in one text: a line a store, then each that is not green, folded."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from memregress import legs as stores
from memregress.legs import Leg
from memregress.model import Verdict
from memregress.render import gfm, markdown
from memregress.render.facts import Facts, Room
from memregress.report import Failure, Gate, Report

ICON = {Gate.PASSED: "✅", Gate.FAILED: "❌", Gate.ERROR: "⚠️"}
HEAD = (
    "| store | verdict | broken (new) | tested | time |",
    "| --- | --- | ---: | ---: | ---: |",
)


def renderer(legs: Sequence[Leg], facts: Facts) -> Callable[[Room], str]:
    """Return what makes the whole text; where there is one leg only, it is that leg's own."""
    if len(legs) == 1 and legs[0].outcome is not None:
        return functools.partial(markdown.render, legs[0].outcome, facts)
    across = _across(legs)  # looks at every memory: once, however often the text is shortened

    def render(room: Room) -> str:
        parts = ["\n".join([*HEAD, *(_row(leg) for leg in legs)]), across]
        if room.details or room.memories:
            parts += [_details(leg, facts, room) for leg in legs if not _quiet(leg)]
        text = "\n\n".join(part for part in parts if part)
        return f"### {headline(legs, facts)}\n\n{text}\n\n{_footer(legs, facts)}"

    return render


def headline(legs: Sequence[Leg], facts: Facts) -> str:
    """Return the verdict over all legs in one line of our own words."""
    gate = stores.gate(legs)
    failed = sum(stores.gate([leg]) is Gate.FAILED for leg in legs)
    silent = sum(stores.gate([leg]) is Gate.ERROR for leg in legs)
    if gate is Gate.PASSED:
        quiet = all(_quiet(leg) for leg in legs)
        return f"{'✅' if quiet else '🟡'} memregress: passed on all {len(legs)} stores"
    words = [f"{failed} of {len(legs)} stores broken by {facts.subject}"] if failed else []
    words += [f"{silent} of {len(legs)} stores not tested, so this is no pass"] if silent else []
    return f"{ICON[gate]} memregress: {'; '.join(words)}"


def _quiet(leg: Leg) -> bool:
    document = leg.outcome
    return isinstance(document, Report) and markdown.icon(document) == "✅"


def _row(leg: Leg) -> str:
    document = leg.outcome
    if document is None:
        return f"| {gfm.code(leg.name)} | ⚠️ no result: its job failed before memregress ran | | 0 | |"
    if isinstance(document, Failure) or not document.tested:
        return f"| {gfm.code(leg.name)} | ⚠️ not tested | | 0 | |"
    new = "" if document.new_broken is None else f" ({document.new_broken:+,})"
    broken = f"**{document.broken:,}{new}**" if document.broken else "0"
    name = f"{gfm.code(leg.name)} {gfm.code(document.target.index.server)}"
    seconds = sum(document.timings.values())
    verdict = f"{markdown.icon(document)} {document.gate}"
    return f"| {name} | {verdict} | {broken} | {document.tested:,} | {seconds:,.0f} s |"


def _across(legs: Sequence[Leg]) -> str:
    """What one store alone cannot tell: whether it is the store, or what all of them share."""
    found = stores.broken_on(legs)
    judged = len(stores.reports(legs))
    everywhere = [id_ for id_, names in found.items() if len(names) == judged]
    alone = [id_ for id_, names in found.items() if len(names) == 1]
    lines = []
    if everywhere:
        lines.append(
            f"{_example(everywhere)} broken on all {judged} stores: look at the golden set and at what they share."
        )
    if alone and judged > 1:
        lines.append(f"{_example(alone)} broken on {gfm.code(found[alone[0]][0])} only: look at that store.")
    return "\n".join(f"- {line}" for line in lines)


def _example(ids: list[str]) -> str:
    more = f" and {len(ids) - 1:,} more are" if len(ids) > 1 else " is"
    return f"{gfm.code(ids[0], 80)}{more}"


def _details(leg: Leg, facts: Facts, room: Room) -> str:
    if leg.outcome is None:
        return ""
    own = Room(memories=room.memories, causes=room.causes, details=False)
    summary = f"<b>{gfm.escaped(leg.name)}</b>: {_short(leg.outcome)}"
    return gfm.fold(summary, markdown.body(leg.outcome, facts, own), opened=stores.gate([leg]) is not Gate.PASSED)


def _short(outcome: Report | Failure) -> str:
    if isinstance(outcome, Failure):
        return "nothing was tested"
    moved = outcome.counts.get(Verdict.TOLERATED, 0)
    return f"{outcome.broken:,} broken" if outcome.broken or not moved else f"{moved:,} moved within tolerance"


def _footer(legs: Sequence[Leg], facts: Facts) -> str:
    reported = sum(leg.outcome is not None for leg in legs)
    links = [f'<a href="{facts.run_url}">run</a>', f'<a href="{facts.run_url}#artifacts">reports and JUnit</a>']
    words = [f"{len(legs)} stores expected, {reported} reported", f"gate: {stores.gate(legs)}"]
    words += [*(links if facts.run_url else []), facts.tested]
    return f"<sub>{' · '.join(word for word in words if word)}</sub>"
