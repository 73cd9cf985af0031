"""Saying the outcome on GitHub: job summary, comment, outputs; where one is closed, the others still speak.

The comment is a courtesy, the exit code the check: where the comment cannot be written there is a warning with the
permissions that are missing, and the verdict stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memregress import errors, legs
from memregress.github import commands, commenting
from memregress.github.api import Api, ApiError
from memregress.github.context import Context
from memregress.legs import Leg
from memregress.render import fitting, markdown, several
from memregress.render.facts import Facts
from memregress.report import Gate

RESERVE = 2_000
"""Characters of a comment for the marker and its history."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """How to publish: by whose token, when, and which of several comments is ours."""

    token: str = field(repr=False)
    mode: commenting.Mode
    key: str


def say(line: str) -> None:
    """Print a line of the log."""
    print(line, flush=True)  # noqa: T201  the log of a workflow is standard output


def facts(context: Context, snippets: str, *, golden: str = "", options: Sequence[str] = ()) -> Facts:
    """Gather what the text needs beside the outcome."""
    head, base = _head(context)[:7], f"{context.base_ref}@{context.base_sha[:7]}" if context.base_sha else ""
    return Facts(
        texts=snippets == "full" or (snippets == "auto" and context.private),
        salt=context.repository,
        golden=golden,
        options=options,
        run_url=context.run_url,
        subject="this pull request" if context.pull_request or context.triggered_by else "this change",
        tested=f"tested: merge of {head} into {base}" if base else f"tested: {head}" if head else "",
        head=head,
    )


def summary(stores: Sequence[Leg], context: Context, told: Facts) -> None:
    """Append the text to the summary of the job.

    Raises:
        PublishError: the file cannot be written.
    """
    if context.summary_path is None:
        return
    text = fitting.summary(several.renderer(stores, told))
    try:
        with context.summary_path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise errors.PublishError(
            f"the job summary could not be written: {error.strerror}", "Free some space."
        ) from error


def api(context: Context, token: str) -> Api:
    """Return the repository this run is of."""
    return Api(context.api_url, token, context.repository, graphql_url=context.graphql_url)


def comment(stores: Sequence[Leg], context: Context, told: Facts, terms: Terms) -> str:
    """Bring the comment on the pull request up to date and return its URL; empty, and a warning, where it cannot be."""
    if terms.mode == "never" or not terms.token:
        return ""
    github = api(context, terms.token)
    try:
        number = _pull_request(github, context)
        if number is None:
            return ""
        return commenting.publish(github, number, _marker(stores, context, terms), _text(stores, told), terms.mode)
    except (ApiError, KeyError, TypeError, ValueError) as error:
        say(commands.annotation("warning", _trouble(error, context), title="memregress: the comment is not posted"))
        return ""


def outputs(context: Context, values: Mapping[str, object]) -> None:
    """Write the outputs of the step."""
    if context.output_path is not None:
        for name, value in values.items():
            commands.write_value(context.output_path, name, str(value))


def _text(stores: Sequence[Leg], told: Facts) -> commenting.Text:
    def text(history: str) -> str:
        body = fitting.comment(several.renderer(stores, told), reserve=RESERVE)
        updated = f"updated for {told.head}" if told.head else ""
        small = " · ".join(word for word in (history, updated) if word)
        return f"{body}\n<sub>{small}</sub>" if small else body

    return text


def _pull_request(github: Api, context: Context) -> int | None:
    """The pull request of this run, or by GitHub's own word that of the run that triggered it.

    The payload of ``workflow_run`` names none for forks, and what an artifact says is a stranger's.
    """
    head = context.triggered_by
    if head is None:
        return context.pull_request
    for change in github.pull_requests(f"{head.owner}:{head.branch}"):
        repository = (change["head"]["repo"] or {}).get("full_name")  # null where the fork is gone
        if change["head"]["sha"] == head.sha and repository == head.repository:
            return int(change["number"])
    say(commands.annotation("notice", f"no open pull request has {head.sha[:7]} as its head", title="memregress"))
    return None


def _marker(stores: Sequence[Leg], context: Context, terms: Terms) -> commenting.Marker:
    head = context.triggered_by
    return commenting.Marker(
        key=terms.key,
        run=head.run_id if head else context.run_id,
        attempt=head.run_attempt if head else context.run_attempt,
        head=_head(context),
        state=_state(stores),
    )


def _state(stores: Sequence[Leg]) -> commenting.State:
    if legs.gate(stores) is not Gate.PASSED:
        return commenting.State.RED
    loosened = any(markdown.loosened(document) for document in legs.reports(stores).values())
    return commenting.State.WARN if loosened else commenting.State.GREEN


def _head(context: Context) -> str:
    return context.triggered_by.sha if context.triggered_by else context.head_sha


def _trouble(error: Exception, context: Context) -> str:
    if isinstance(error, ApiError) and error.status == 403 and context.fork:
        return (
            "This pull request comes from a fork, whose token can only read. The verdict stands; to have the comment,"
            " publish from a workflow_run workflow (see examples/workflows/fork-safe)."
        )
    if isinstance(error, ApiError):
        return f"{error.message}\n{error.remedy}"
    return f"GitHub's answer is not understood ({type(error).__name__}: {error}); the verdict stands."
