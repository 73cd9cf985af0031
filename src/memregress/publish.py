"""The action `publish`: several legs as one check, the sole writer of the comment. It replays nothing.

It trusts nothing that it is given: reports are checked against their schema and rendered anew, and the pull request of
a ``workflow_run`` is looked up. Its exit code is the verdict over all legs that were expected; under ``workflow_run``
the check is the triggering run's, and a second red one would only alarm the wrong people.
"""

from __future__ import annotations

from collections.abc import Mapping

from memregress import errors, legs, publish_inputs
from memregress.github import commands, publishing
from memregress.github.context import Context
from memregress.github.publishing import say
from memregress.publish_inputs import Inputs
from memregress.render import several, terminal
from memregress.report import Gate


def main(environ: Mapping[str, str]) -> int:
    """Run the action and return its exit code (see `errors`)."""
    context = Context.read(environ)
    try:
        given = publish_inputs.read(environ)
        stores = legs.read(given.folder, given.legs, prefix=given.prefix)
    except errors.MemregressError as error:
        text = "\n".join(terminal.plain(line) for line in (error.message, error.remedy))
        say(commands.annotation("error", text, title="memregress: nothing was judged"))
        publishing.outputs(context, {"verdict": Gate.ERROR})
        return error.exit_code
    return _tell(stores, given, context)


def _tell(stores: list[legs.Leg], given: Inputs, context: Context) -> int:
    gate = legs.gate(stores)
    code = 0 if context.triggered_by else gate.exit_code
    told = publishing.facts(context, given.snippets, golden=given.golden)
    headline = several.headline(stores, told)
    say(commands.annotation("notice" if gate is Gate.PASSED else "error", headline, title=f"memregress {gate}"))
    try:
        publishing.summary(stores, context, told)
    except errors.PublishError as error:
        say(commands.annotation("error", str(error), title="memregress could not publish"))
        code = code or error.exit_code
    url = publishing.comment(stores, context, told, given.terms)
    publishing.outputs(context, {"verdict": gate, **_numbers(stores), "comment-url": url})
    say(headline)
    return code


def _numbers(stores: list[legs.Leg]) -> dict[str, object]:
    documents = list(legs.reports(stores).values())
    return {
        "broken": sum(document.broken for document in documents),
        "tested": sum(document.tested for document in documents),
        "causes": ",".join(sorted({cause.code for document in documents for cause in document.causes})),
    }
