"""The baseline of a change: the report that the base branch left as an artifact, at the commit the change starts from.

An artifact counts only if a run of this repository made it on the base branch itself: a pull request, from a fork above
all, could otherwise bring its own.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from memregress import errors, report, report_files
from memregress.gate import Baseline
from memregress.github.api import Api
from memregress.github.context import Context

LARGEST = 64 << 20
MEMBER = "report.json"


def find(api: Api, context: Context, artifact: str) -> Baseline | None:
    """Return the report of the commit that the change starts from, else of its nearest ancestor that has one.

    Raises:
        ApiError: GitHub refuses.
    """
    if not context.base_sha:
        return None
    there = {str(made["workflow_run"]["head_sha"]): made for made in _trusted(api.artifacts(artifact), context)}
    if not there:
        return None
    for sha in [context.base_sha] if context.base_sha in there else api.commits(context.base_sha):
        if sha in there:
            document = _read(api.download(int(there[sha]["id"]), largest=LARGEST), f"artifact {artifact} of {sha[:7]}")
            name = f"{context.base_ref}@{sha[:7]}"
            return Baseline(report=document, name=name, kind="exact" if sha == context.base_sha else "ancestor")
    return None


def _trusted(artifacts: list[dict[str, Any]], context: Context) -> Iterator[Mapping[str, Any]]:
    """Oldest first, so that of two of one commit the later counts."""
    for made in reversed(artifacts):
        run = made.get("workflow_run") or {}
        own = run.get("head_repository_id") == run.get("repository_id")
        if own and run.get("head_branch") == context.base_ref and not made.get("expired"):
            yield made


def _read(archive: bytes, name: str) -> report.Report:
    """Read the one member we know by name; nothing is unpacked to the disk."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as files, files.open(MEMBER) as member:
            data = member.read(LARGEST + 1)
    except (zipfile.BadZipFile, KeyError, OSError, RuntimeError, NotImplementedError) as error:
        raise errors.ConfigError(f"{name} holds no {MEMBER}: {error}", "Delete it, and record it anew.") from error
    if len(data) > LARGEST:
        raise errors.ConfigError(f"{name} has more than {LARGEST:,} bytes", "It is no report of memregress.")
    return report_files.decode(data, name)
