"""The baseline of a change: the report that the base branch left as an artifact, at the commit the change starts from.

An artifact counts only if a run of this repository made it on the base branch itself: a pull request, from a fork above
all, could otherwise bring its own.
"""

from __future__ import annotations

import io
import itertools
import zipfile
from collections.abc import Mapping
from typing import Any, Literal

from memregress import errors, report, report_files
from memregress.gate import Baseline
from memregress.github.api import PAGE, Api
from memregress.github.context import Context

LARGEST = 64 << 20
MEMBER = "report.json"
PAGES = 3
"""Of a hundred artifacts each, the latest first: those of pull requests go by the same name."""
TRIES = 3
"""Reports that are fetched: a run of the base branch that could not start its store has left none."""


def find(api: Api, context: Context, artifact: str) -> Baseline | None:
    """Return the report of the commit that the change starts from, else of its nearest ancestor that has one.

    Raises:
        ApiError: GitHub refuses.
        ConfigError: there are artifacts, and no report in those that are nearest.
    """
    if not context.base_sha:
        return None
    search = _Search(api, context, artifact)
    there: dict[str, int] = {}
    for made in itertools.islice(api.artifacts(artifact), PAGES * PAGE):
        sha = str((made.get("workflow_run") or {}).get("head_sha"))
        if _trusted(made, context) and sha not in there:  # the latest of a commit counts
            there[sha] = int(made["id"])
            if sha == context.base_sha and (found := search.fetch(sha, there[sha], "exact")):
                return found
    earlier = (
        [sha for sha in api.commits(context.base_sha) if sha in there and sha != context.base_sha] if there else []
    )
    for sha in earlier[:TRIES]:
        if found := search.fetch(sha, there[sha], "ancestor"):
            return found
    if search.troubles:
        raise search.troubles[0]
    return None


class _Search:
    """Fetches reports, and keeps why one could not be had."""

    def __init__(self, api: Api, context: Context, artifact: str) -> None:
        self.troubles: list[errors.ConfigError] = []
        self._api = api
        self._context = context
        self._artifact = artifact

    def fetch(self, sha: str, artifact: int, kind: Literal["exact", "ancestor"]) -> Baseline | None:
        name = f"artifact {self._artifact} of {sha[:7]}"
        try:
            document = _read(self._api.download(artifact, largest=LARGEST), name)
        except errors.ConfigError as error:
            self.troubles.append(error)
            return None
        return Baseline(report=document, name=f"{self._context.base_ref}@{sha[:7]}", kind=kind)


def _trusted(made: Mapping[str, Any], context: Context) -> bool:
    run = made.get("workflow_run") or {}
    own = run.get("head_repository_id") == run.get("repository_id")
    return own and run.get("head_branch") == context.base_ref and not made.get("expired")


def _read(archive: bytes, name: str) -> report.Report:
    """Read the one member we know by name; nothing is unpacked to the disk.

    Raises:
        ConfigError: there is no report in it, or one of a run that tested nothing.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as files, files.open(MEMBER) as member:
            data = member.read(LARGEST + 1)
    except (zipfile.BadZipFile, KeyError, OSError, RuntimeError, NotImplementedError) as error:
        raise errors.ConfigError(f"{name} holds no {MEMBER}: {error}", "Record it anew on the base branch.") from error
    if len(data) > LARGEST:
        raise errors.ConfigError(f"{name} has more than {LARGEST:,} bytes", "It is no report of memregress.")
    document = report_files.decode(data, name)
    if not document.tested:
        raise errors.ConfigError(f"{name} tested nothing", "Record it anew on the base branch.")
    return document
