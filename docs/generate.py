"""Write the generated parts of the documentation anew, or with --check say which are out of date.

.venv/bin/python docs/generate.py [--check]
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from memregress import cli, diagnose
from memregress.model import Metric
from memregress.report import FailOn

DOCS = Path(__file__).parent
WIDTH = 100
NOTE = "<!-- Written by docs/generate.py; edit the docstrings, not this file. -->\n"

SETTINGS = """\
# Settings

`memregress.toml`, in the working directory or named by `--config`, holds these keys. Flags go before it. A key that is
unknown, or a value of the wrong type, is an error that names it.

```toml
backend = "pgvector"
min_similarity = 0.3

[pgvector]
setup = ["migrations/*.sql"]
table = "agent_memory"

[pgvector.columns]
vector = "vec"
expires_at = ""

[pgvector.settings]
"hnsw.ef_search" = 100
```
"""
CAUSES = """\
# Causes

Each broken memory gets one cause: the first rule that applies, most certain first. Codes are stable. The hundreds say
where it went wrong: 1 the store is set up for other vectors, 2 what is stored, 3 its lifetime, 4 a condition excludes
it, 5 it is shown to somebody it should not be shown to, 6 rank and similarity, 7 the approximate index, 8 a concern,
which broke no memory, 9 none of these. The outputs on the pages are real: `regenerate.py` injects each fault into a
PostgreSQL with pgvector, or a Redis, and replays a golden set on it.

| code | name | what it says | verdict |
| --- | --- | --- | --- |"""

TYPES: Mapping[str, str] = {
    "str": "text",
    "int": "integer",
    "Positive": "integer from 1",
    "float": "number",
    "bool": "true or false",
    "list[str]": "list of texts",
    "dict[str, str | int | float | bool]": "table",
    "Columns": "table",
    "Fields": "table",
    "Metric": " or ".join(f"`{metric}`" for metric in Metric),
    "FailOn": " or ".join(f"`{item}`" for item in FailOn),
}


def main() -> None:
    """Write the files, or check them."""
    pages = {
        DOCS / "reference" / "cli.md": command_line(),
        DOCS / "reference" / "settings.md": settings(),
        DOCS / "causes" / "README.md": causes(),
    }
    stale = [path for path, text in pages.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        names = ", ".join(str(path.relative_to(DOCS.parent)) for path in stale)
        sys.exit(f"out of date: {names}; run docs/generate.py" if stale else 0)
    for path in stale:
        path.write_text(pages[path], encoding="utf-8")
        print(path.relative_to(DOCS.parent))


def command_line() -> str:
    """The help of every command."""
    parts = [NOTE, "# Command line\n"]
    for name, context in commands(cli.cli, None, "memregress"):
        text = context.command.get_help(context).replace("\b\n", "")
        lines = "\n".join(line.rstrip() for line in text.splitlines())
        parts.append(f"## {name}\n\n```text\n{lines}\n```\n")
    return "\n".join(parts)


def commands(command: click.Command, parent: click.Context | None, word: str) -> Iterator[tuple[str, click.Context]]:
    """A command and those below it, by their full names."""
    context = click.Context(
        command, parent, word, terminal_width=WIDTH, max_content_width=WIDTH, **command.context_settings
    )
    yield context.command_path, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None:
                yield from commands(found, context, name)


def settings() -> str:
    """The keys of the settings file, by table."""
    tables = [
        ("General", "memregress.settings", "Settings"),
        ("[pgvector]", "memregress.backends.pgvector.options", "Options"),
        ("[pgvector.columns]", "memregress.backends.pgvector.options", "Columns"),
        ("[redis]", "memregress.backends.redis.options", "Options"),
        ("[redis.fields]", "memregress.backends.redis.options", "Fields"),
        ("[milvus]", "memregress.backends.milvus.options", "Options"),
        ("[milvus.fields]", "memregress.backends.milvus.options", "Fields"),
        ("[faiss]", "memregress.backends.faiss.options", "Options"),
    ]
    parts = [NOTE, SETTINGS]
    parts += [f"## {heading}\n\n{table(module, name)}" for heading, module, name in tables]
    return "\n".join(parts)


def table(module: str, name: str) -> str:
    """A Markdown table of a struct's fields."""
    loaded = importlib.import_module(module)
    struct = getattr(loaded, name)
    written = documented(Path(loaded.__file__ or ""), name)
    rows = []
    for item in msgspec.structs.fields(struct):
        annotation, text = written[item.name]
        rows.append(f"| `{item.encode_name}` | {words(annotation)} | {default(item)} | {text} |")
    described = (struct.__doc__ or "").strip().replace("``", "`")
    if not any(text for _, text in written.values()):
        rows = [re.sub(r" *\| *\|$", " |", row) for row in rows]
        header = "| key | type | default |\n| --- | --- | --- |"
    else:
        header = "| key | type | default | meaning |\n| --- | --- | --- | --- |"
    return f"{described}\n\n{header}\n" + "\n".join(rows) + "\n"


def documented(path: Path, name: str) -> dict[str, tuple[str, str]]:
    """The annotation and the docstring of each field of a class, from its source."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name).body
    fields: dict[str, tuple[str, str]] = {}
    for position, node in enumerate(body):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            fields[node.target.id] = ast.unparse(node.annotation), _docstring(body[position + 1 : position + 2])
    return fields


def _docstring(following: list[ast.stmt]) -> str:
    for node in following:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return " ".join(node.value.value.split()).replace("``", "`").replace("|", "\\|")
    return ""


def words(annotation: str) -> str:
    """A type, as a person who writes TOML calls it."""
    bare = annotation.removesuffix(" | None")
    if bare.startswith("Literal["):
        return " or ".join(f"`{choice}`" for choice in ast.literal_eval(bare.removeprefix("Literal")))
    return TYPES[bare]


def default(item: msgspec.structs.FieldInfo) -> str:
    """A default value, as it is written in TOML; nothing where the docstring tells what happens."""
    value: Any = item.default if item.default is not msgspec.NODEFAULT else None
    if item.default_factory is not msgspec.NODEFAULT:
        value = item.default_factory()
    if value is None or isinstance(value, msgspec.Struct):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


def causes() -> str:
    """The table of causes and concerns; verdicts are read from the pages."""
    rules = sorted(diagnose.RULES, key=lambda rule: rule.code)
    rows = [f"| {rule.code} | [{rule.name}]({rule.name}.md) | {rule.title} | {verdict(rule.name)} |" for rule in rules]
    return "\n".join([NOTE, CAUSES, *rows, ""])


def verdict(name: str) -> str:
    """What a page says of the verdict."""
    text = (DOCS / "causes" / f"{name}.md").read_text(encoding="utf-8")
    found = re.search(r"Verdict: (.*?)\.\n", text)
    return found[1] if found else ""


if __name__ == "__main__":
    main()
