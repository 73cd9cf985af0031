"""The command line: thin wrappers; errors end as a message and an exit code, never as a traceback."""
# ruff: noqa: PLC0415  a command imports what it needs, so that `--help` is quick

from __future__ import annotations

import functools
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import memregress
from memregress import errors

if TYPE_CHECKING:
    from rich.console import Console

    from memregress.report import Report

INTERRUPTED = 130
TERMINATED = 143
OK, ERROR = 0, 3
LAZY = {
    "golden": ("memregress.golden_cli", "golden", "Check, show, convert and compare golden sets."),
    "selftest": (
        "memregress.selftest_cli",
        "selftest",
        "Break a store in every known way, and see whether each is named.",
    ),
}

_path = click.Path(path_type=Path)


class Commands(click.Group):
    """Imports a group of subcommands only when it is used."""

    def list_commands(self, _: click.Context) -> list[str]:
        """All commands, in the order of a user's first day."""
        return ["demo", "replay", "golden", "report", "selftest", "schema"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command, importing its module if need be."""
        if cmd_name not in LAZY:
            return super().get_command(ctx, cmd_name)
        import importlib

        module, name, _ = LAZY[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        rows = [(name, LAZY[name][2] if name in LAZY else self._help(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def _help(self, ctx: click.Context, name: str) -> str:
        command = self.get_command(ctx, name)
        return command.get_short_help_str(80) if command else ""


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(memregress.__version__, "-V", "--version", prog_name="memregress")
def cli() -> None:
    """Check that a memory store still remembers: replay every recorded memory against the real store.

    \b
    Examples:
        memregress demo
        memregress replay tests/golden --backend pgvector --embedded
        memregress replay tests/golden --backend pgvector --url postgresql://localhost/app --in-place --space public

    Exit codes: 0 nothing broke, 1 memories broke, 2 the settings or the golden set are wrong, 3 the store could not
    be started, reached or filled, or nothing was tested, 4 the report could not be written.
    """


@cli.command()
def demo() -> None:
    """Show the incident memregress exists for, on a real embedded PostgreSQL, in half a minute.

    A migration copies a support bot's memories to pgvector and leaves one vector out. Spot checks pass; the replay
    names the memory, the cause and the remedy. No Docker, no network, nothing left behind.

    \b
    Example:
        memregress demo
    """
    from memregress import demo as story

    with reporter() as progress:
        told = story.tell(_console(), progress=progress)
    sys.exit(OK if told else ERROR)


@cli.command()
@click.argument("golden", type=_path)
@click.option(
    "--backend",
    metavar="NAME",
    help="The store: pgvector, redis, milvus or faiss. Default: `backend` of memregress.toml.",
)
@click.option(
    "--url",
    envvar="MEMREGRESS_URL",
    help="Test a running store. Better given as MEMREGRESS_URL: it may hold a password.",
)
@click.option("--image", help="Start this container image and test that.")
@click.option(
    "--embedded", is_flag=True, help="Test a store that needs no Docker: in process, or a server from a wheel."
)
@click.option("--space", metavar="NAME", help="Name of the run's own space (schema, folder). Default: one made up.")
@click.option("--keep", is_flag=True, help="Leave the space in the store after the run.")
@click.option("--in-place", is_flag=True, help="Replay what already lies in --space; nothing is written.")
@click.option("--only", metavar="ID", multiple=True, help="Test this memory only; may be repeated.")
@click.option("--sample", metavar="N", type=click.IntRange(min=1), help="Test N memories, the same ones each time.")
@click.option(
    "--fail-on",
    type=click.Choice(["any", "regression", "never"]),
    help="Default: regression; all count without --baseline.",
)
@click.option(
    "--baseline", type=_path, metavar="FILE", help="The report.json of the base branch: tells new breakage from old."
)
@click.option(
    "--golden-base", type=_path, metavar="DIR", help="The golden set of the base branch: tells what was loosened in it."
)
@click.option("--out", type=_path, metavar="DIR", help="Write report.json and junit.xml there.")
@click.option("--config", type=_path, metavar="FILE", help="Settings. Default: memregress.toml, where there is one.")
@click.option("--quiet", "-q", is_flag=True, help="Print the summary only, no progress.")
def replay(golden: Path, **given: Any) -> None:
    """Replay a golden set on a real store and say which memories broke, and why.

    Without --url, --image or --embedded the store is started: in a container if Docker answers, else embedded.
    Each run works in a space of its own, which is dropped in the end.

    \b
    Examples:
        memregress replay tests/golden --backend faiss
        memregress replay tests/golden --backend pgvector --image pgvector/pgvector:0.8.5-pg16 --out report
        memregress replay tests/golden --backend pgvector --only m-0042 --keep --space look
    """
    from memregress import replaying

    out = given.pop("out")
    with reporter(quiet=given.pop("quiet")) as progress:
        result = replaying.replay(golden, progress=progress, **given)
    _show(result, _console())  # first, so that a full disk does not lose it
    if out is not None:
        replaying.write(result, out)
    sys.exit(result.gate.exit_code)


@cli.command()
@click.argument("path", metavar="REPORT.json", type=_path)
@click.option(
    "--format", "format_", type=click.Choice(["console", "json", "junit"]), default="console", show_default=True
)
def report(path: Path, format_: str) -> None:
    """Render a report again, on standard output.

    \b
    Examples:
        memregress report out/report.json
        memregress report out/report.json --format junit > junit.xml
    """
    from memregress import report_files as reports

    document = reports.read(path)
    if format_ == "console":
        _show(document, _console())
    elif format_ == "json":
        click.echo(reports.encode(document), nl=False)
    else:
        from memregress.render import junit

        click.echo(junit.render(document), nl=False)


@cli.command()
def schema() -> None:
    """Print the JSON Schema of report.json.

    \b
    Example:
        memregress schema > report.schema.json
    """
    import json

    from memregress import report as reports

    click.echo(json.dumps(reports.schema(), indent=2))


def _show(document: Report, console: Console) -> None:
    from memregress.github import commands
    from memregress.render import console as renderer

    with commands.silenced_in_job(click.echo):
        renderer.show(document, console)


def _console() -> Console:
    """Standard output: full width where it is no terminal, so that lines can be searched."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=240, no_color=True)


def reporter(*, quiet: bool = False) -> Any:
    """Show progress on standard error, where it is a terminal."""
    from rich.console import Console

    from memregress.render import progress

    return progress.Reporter(Console(stderr=True, quiet=quiet))


class Terminated(KeyboardInterrupt):
    """SIGTERM, raised where the program is, so that everything it made is removed on the way out."""


def _terminate(*_: object) -> None:
    raise Terminated


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(_guarded(lambda: cli.main(standalone_mode=False)))


def _guarded(command: Callable[[], Any]) -> int:
    """Run a command; turn every way it can end into a message and an exit code."""
    code = OK
    try:
        code = command() or OK
    except click.exceptions.Exit as end:
        code = end.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except errors.MemregressError as error:
        _complain(error)
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort) as error:
        code = TERMINATED if isinstance(error.__context__ or error, Terminated) else INTERRUPTED
        left = getattr(error, "__notes__", [])
        click.echo("\n".join(["stopped", *left]) if left else "stopped; what was made has been removed", err=True)
    except BrokenPipeError:  # the reader of our output has gone, e.g. `| head`
        sys.stderr.close()
    except Exception as error:  # noqa: BLE001  a fault of our own must not end with the code of a finding
        _trace()
        _complain(errors.MemregressError(f"memregress itself failed: {type(error).__name__}", "Please report it."))
        code = ERROR
    return code


def _trace() -> None:
    from memregress.github import commands

    with commands.silenced_in_job(functools.partial(click.echo, err=True)):
        traceback.print_exc()


def _complain(error: errors.MemregressError) -> None:
    from memregress.github import commands
    from memregress.render import terminal

    lines = [*error.message.splitlines(), *getattr(error, "__notes__", [])]
    with commands.silenced_in_job(functools.partial(click.echo, err=True)):
        click.secho("error: ", fg="red", bold=True, err=True, nl=False)
        for line in lines:
            click.echo(terminal.plain(line), err=True)
        if error.remedy:
            click.secho("what to do: ", bold=True, err=True, nl=False)
            click.echo(terminal.plain(error.remedy), err=True)
