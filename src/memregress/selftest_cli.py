"""`memregress selftest`: inject every fault that can occur on a store, and print what was said of each."""
# ruff: noqa: PLC0415  a command imports what it needs, so that `--help` is quick

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from memregress.selftest import Outcome
    from memregress.testing.faults import Fault


@click.command()
@click.option("--backend", metavar="NAME", required=True, help="The store: pgvector, redis, milvus or faiss.")
@click.option("--url", envvar="MEMREGRESS_URL", help="A running store; spaces are made in it, and dropped.")
@click.option("--image", help="Start this container image.")
@click.option("--embedded", is_flag=True, help="A store that needs no Docker.")
@click.option("--fault", "names", metavar="NAME", multiple=True, help="Inject this fault only; may be repeated.")
@click.option("--list", "list_", is_flag=True, help="List the faults, and inject none.")
@click.option("--format", "format_", type=click.Choice(["console", "json"]), default="console", show_default=True)
@click.option("--quiet", "-q", is_flag=True, help="Print the table only, no progress.")
def selftest(
    backend: str,
    url: str | None,
    image: str | None,
    *,
    embedded: bool,
    names: tuple[str, ...],
    list_: bool,
    format_: str,
    quiet: bool,
) -> None:
    """Prove memregress on a store: break it in every known way, and see whether each is found and named.

    Each fault is injected for real into a space of its own, which is replayed and dropped. The table says of each
    what was found (the right memories by the right verdict and cause), missed, misnamed, and alarmed falsely; noise
    is what this build of an approximate index misses by chance.

    \b
    Examples:
        memregress selftest --backend faiss
        memregress selftest --backend pgvector --image pgvector/pgvector:0.8.5-pg16
        memregress selftest --backend redis --embedded --fault text-for-bytes --fault wrong-tag
        memregress selftest --backend pgvector --list

    Exit codes: 0 every fault was found and named, 1 one was not, 3 the store could not be started, reached or filled.
    """
    from memregress import instances, selftest
    from memregress.backends import registry
    from memregress.cli import reporter
    from memregress.testing import faults

    entry = registry.find(backend)
    entry.load()
    known = faults.of(entry.name)
    chosen = _chosen(known, names)
    if list_:
        _list(chosen, entry.name)
        return
    target = instances.choose(entry, url=url, image=image, embedded=embedded)
    injected = [fault for fault in chosen if not fault.why_not(entry.name, target.kind)]
    with reporter(quiet=quiet or format_ == "json") as progress:
        outcomes = list(selftest.run(target, injected, progress=progress))
    left_out = {fault.name: reason for fault in chosen if (reason := fault.why_not(entry.name, target.kind))}
    _show(outcomes, left_out, format_)
    sys.exit(int(not all(outcome.proven for outcome in outcomes)))


def _chosen(known: Sequence[Fault], names: Sequence[str]) -> list[Fault]:
    from memregress import errors

    by_name = {fault.name: fault for fault in known}
    for name in names:
        if name not in by_name:
            hint = errors.did_you_mean(name, by_name)
            raise errors.ConfigError(f"--fault {name}: there is no such fault", f"{hint}See --list.")
    return [by_name[name] for name in names] if names else list(known)


def _list(chosen: Sequence[Fault], backend: str) -> None:
    width = max(len(fault.name) for fault in chosen)
    for fault in chosen:
        reason = "".join(f"  (not on {name}: {why})" for name, why in fault.cannot.items() if name.startswith(backend))
        click.echo(f"{fault.name:{width}}  {fault.cause or fault.concern or '-':5}  {fault.story}{reason}")


def _show(outcomes: Sequence[Outcome], left_out: Mapping[str, str], format_: str) -> None:
    if format_ == "json":
        click.echo(json.dumps([_row(outcome) for outcome in outcomes], indent=2))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("fault", "what went wrong", "verdict", "cause"):
        table.add_column(name)
    for name in ("found", "missed", "misnamed", "false alarms", "noise"):
        table.add_column(name, justify="right")
    for outcome in outcomes:
        cells = [str(value) for value in list(_row(outcome).values())[:9]]
        table.add_row(*cells, style=None if outcome.proven else "bold red")
    console = Console()
    Console(width=console.width if console.is_terminal else 160).print(table)
    for outcome in outcomes:
        if not outcome.proven:
            said = ", ".join(f"{words} ({count:,})" for words, count in outcome.said.items()) or "nothing"
            click.echo(f"✗ {outcome.fault.name}: said was {said}")
    proven = sum(outcome.proven for outcome in outcomes)
    click.echo(f"{proven:,} of {len(outcomes):,} faults: exactly what was hit, by the right name")
    for name, reason in left_out.items():
        click.echo(f"not injected: {name}, because {reason}")


def _row(outcome: Outcome) -> dict[str, Any]:
    fault = outcome.fault
    return {
        "fault": fault.name,
        "story": fault.story,
        "verdict": "error" if fault.error else (fault.verdict.value if fault.verdict else "-"),
        "cause": fault.cause or fault.concern or "-",
        "found": outcome.found,
        "missed": outcome.missed,
        "misnamed": outcome.misnamed,
        "alarms": outcome.alarms,
        "noise": outcome.noise,
        "proven": outcome.proven,
        "said": dict(outcome.said),
    }
