"""`memregress golden`: check, show, convert and compare golden sets. Thin wrappers over `memregress.golden`."""
# ruff: noqa: PLC0415  what imports numpy is imported by the command that needs it, so that `--help` is quick

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from memregress import errors
from memregress.github import commands
from memregress.render import terminal

if TYPE_CHECKING:
    from memregress.golden.diff import Changes, Difference
    from memregress.golden.golden_set import GoldenSet

SHOWN = 20
_TEXT_SHOWN = 400

_folder = click.Path(path_type=Path)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def golden() -> None:
    """Check, show, convert and compare golden sets."""


@golden.command()
@click.argument("path", type=_folder)
@_json
def validate(path: Path, *, as_json: bool) -> None:
    """Check a golden set and name everything that is wrong with it, with file, line and field.

    \b
    Example:
        memregress golden validate tests/golden
    """
    from memregress import golden as sets

    try:
        opened = sets.open(path)
    except errors.GoldenError as error:
        if as_json:
            _print_json({"ok": False, "problems": [_problem(problem) for problem in error.problems]})
        raise
    if as_json:
        _print_json({"ok": True, "problems": [], "digest": opened.digest})
        return
    click.echo(f"{path}: {len(opened):,} memories, {len(opened.queries):,} queries, no problem")


@golden.command()
@click.argument("path", type=_folder)
@click.argument("ids", nargs=-1)
@_json
def show(path: Path, ids: tuple[str, ...], *, as_json: bool) -> None:
    """Show the facts of a golden set, or the memories and queries of the given ids.

    \b
    Examples:
        memregress golden show tests/golden
        memregress golden show tests/golden m-00017 q-003
    """
    from memregress import golden as sets

    opened = sets.open(path)
    found = [_item(opened, id_) for id_ in ids] if ids else _facts(opened)
    if as_json:
        _print_json(found if ids else found[0])
        return
    with commands.silenced_in_job(click.echo):
        for number, item in enumerate(found):
            if number:
                click.echo()
            _print_table(item)


@golden.command(name="import")
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.argument("target", type=_folder)
@click.option("--from", "form", type=click.Choice(["parquet", "beir", "jsonl"]), help="Default: by the name.")
@click.option("--vectors", type=_folder, help="Vectors of the memories, .npy, a row for each line.")
@click.option("--queries", type=_folder, help="Queries as JSON lines.")
@click.option("--query-vectors", type=_folder, help="Vectors of the queries, .npy, a row for each line.")
@click.option("--metric", type=click.Choice(["cosine", "inner_product", "l2"]), help="Default: cosine.")
@click.option("--model", help="The model that made the vectors, in your words.")
@click.option("--name", help="Default: the target's name.")
@click.option("--captured-at", metavar="TIME", help="The clock lifetimes are meant against. Default: now.")
@click.option("--created-at", metavar="TIME", help="Default: now; give it for the same bytes every time.")
def import_(
    source: Path,
    target: Path,
    *,
    form: Literal["parquet", "beir", "jsonl"] | None,
    vectors: Path | None,
    queries: Path | None,
    query_vectors: Path | None,
    metric: str | None,
    model: str | None,
    name: str | None,
    captured_at: str | None,
    created_at: str | None,
) -> None:
    """Write a golden set from Parquet, BEIR or JSON lines; queries without expectations get those of exact search.

    \b
    Examples:
        memregress golden import memories.jsonl tests/golden --queries queries.jsonl
        memregress golden import memories.parquet tests/golden
        memregress golden import scifact tests/golden --vectors corpus.npy --query-vectors queries.npy
    """
    from memregress.golden import importing
    from memregress.model import Metric

    origin = importing.Source(
        path=source,
        form=form or importing.guess_form(source),
        vectors=vectors,
        queries=queries,
        query_vectors=query_vectors,
    )
    facts = origin.facts()
    now = datetime.now(UTC).replace(microsecond=0)
    manifest = importing.bring(
        target,
        origin,
        name=name or facts.name or target.name,
        created_at=_time(created_at) or now,
        captured_at=_time(captured_at) or _time(facts.captured_at) or now,
        metric=Metric(metric or facts.vectors.get("metric", Metric.COSINE)),
        model=model or facts.vectors.get("model"),
        normalized=facts.vectors.get("normalized"),
        stored_as=facts.vectors.get("stored_as", "float32"),
    )
    click.echo(f"{target}: {manifest.rows('memories'):,} memories, {manifest.rows('queries'):,} queries")


@golden.command()
@click.argument("path", type=_folder)
@click.argument("target", type=_folder)
@click.option("--to", "form", type=click.Choice(["parquet", "beir"]), required=True)
def export(path: Path, target: Path, form: Literal["parquet", "beir"]) -> None:
    """Write a golden set into a new folder as Parquet or BEIR, which `golden import` reads again.

    \b
    Example:
        memregress golden export tests/golden out --to parquet
    """
    from memregress import golden as sets
    from memregress.golden import exporting

    exporting.send(sets.open(path), target, form)
    click.echo(f"{target}: {', '.join(sorted(file.name for file in target.iterdir()))}")


@golden.command()
@click.argument("old", type=_folder)
@click.argument("new", type=_folder)
@click.option("--exit-code", is_flag=True, help="Exit with 1 where the sets differ.")
@_json
@click.pass_context
def diff(context: click.Context, old: Path, new: Path, *, exit_code: bool, as_json: bool) -> None:
    """Show what changed from one golden set to another, and which expectations were loosened.

    \b
    Examples:
        memregress golden diff main/golden tests/golden
        memregress golden diff main/golden tests/golden --json | jq .loosened
    """
    from memregress import golden as sets
    from memregress.golden import diff as comparison

    difference = comparison.compare(sets.open(old), sets.open(new))
    if as_json:
        _print_json(difference)
    else:
        with commands.silenced_in_job(click.echo):
            for line in _difference(difference):
                click.echo(line)
    if exit_code and difference:
        context.exit(1)


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise errors.ConfigError(f"{text} is not a time with its zone", "Write it like 2026-01-31T12:00:00Z.")
    return time


def _problem(problem: errors.Problem) -> dict[str, Any]:
    return {"file": problem.file, "line": problem.line, "field": problem.field, "what": problem.what}


def _print_json(value: Any) -> None:
    import msgspec

    click.echo(json.dumps(msgspec.to_builtins(value), indent=2))  # ASCII only: nothing in it steers a terminal


def _item(opened: GoldenSet, id_: str) -> Mapping[str, Any]:
    """A memory, else a query, of that id, with the place it stands at."""
    import msgspec

    from memregress.golden import summary

    if id_ in opened.row_of:
        row = opened.row_of[id_]
        file, line = opened.line_of(row)
        return {"at": f"{file}:{line}", **msgspec.to_builtins(summary.memory(opened, row))}
    positions = {query.id: position for position, query in enumerate(opened.queries)}
    if id_ in positions:
        file, line = opened.query_line(positions[id_])
        return {"at": f"{file}:{line}", **msgspec.to_builtins(opened.queries[positions[id_]])}
    hint = errors.did_you_mean(id_, [*opened.ids, *positions])
    raise errors.ConfigError(f"{opened.path} has no memory and no query {id_!r}", hint)


def _facts(opened: GoldenSet) -> list[Mapping[str, Any]]:
    """The facts first, then a few memories."""
    import msgspec

    from memregress.golden import summary

    facts = msgspec.to_builtins(summary.summarize(opened))
    return [facts, *(_item(opened, id_) for id_ in opened.ids[:3])]


def _print_table(item: Mapping[str, Any]) -> None:
    """A table to a terminal, `key: value` lines when piped; either way one line of safe text a value."""
    rows = [(terminal.plain(key), terminal.plain(_words(value), limit=_TEXT_SHOWN)) for key, value in item.items()]
    stream = sys.stdout
    if not stream.isatty():
        for key, value in rows:
            click.echo(f"{key}: {value}")
        return
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    table = Table("key", Column("value", overflow="fold"), show_header=False, box=None)
    for key, value in rows:
        table.add_row(Text(key, style="bold"), Text(value))
    Console(file=stream, markup=False, highlight=False).print(table)


def _words(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _difference(difference: Difference) -> Iterator[str]:
    if not difference:
        yield "no difference"
        return
    if difference.manifest:
        yield f"manifest: {', '.join(difference.manifest)} changed"
    yield from _changes("memories", difference.memories)
    yield from _changes("queries", difference.queries)
    if difference.loosened:
        yield f"loosened: {len(difference.loosened):,} expectations are easier to meet than before"
        yield from _some([f"! {item.query or 'policy'}: {item.what}" for item in difference.loosened])


def _changes(kind: str, changes: Changes) -> Iterator[str]:
    counts = [(len(changes.added), "added"), (len(changes.removed), "removed"), (len(changes.changed), "changed")]
    yield f"{kind}: {', '.join(f'{count:,} {word}' for count, word in counts)}"
    yield from _some([f"+ {id_}" for id_ in changes.added])
    yield from _some([f"- {id_}" for id_ in changes.removed])
    yield from _some([f"~ {change.id}: {', '.join(change.fields)}{_moved(change.moved)}" for change in changes.changed])


def _moved(distance: float | None) -> str:
    return f" (moved by {distance:g})" if distance else ""


def _some(lines: list[str]) -> Iterator[str]:
    for line in lines[:SHOWN]:
        yield f"  {terminal.plain(line)}"
    if len(lines) > SHOWN:
        yield f"  … and {len(lines) - SHOWN:,} more; --json shows all"
