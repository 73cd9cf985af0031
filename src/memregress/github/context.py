"""What the runner tells a run: its event, its repository, and the files it may write to.

Variables: https://docs.github.com/en/actions/reference/workflows-and-actions/variables.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memregress import errors


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """One run of a workflow; paths are None where the runner gave none."""

    event_name: str
    repository: str
    run_url: str
    head_sha: str
    base_ref: str
    pull_request: int | None
    private: bool
    """Whether what is published is seen by members only; a repository that does not say counts as public."""
    output_path: Path | None
    summary_path: Path | None
    state_path: Path | None

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Context:
        """Read the environment and the event's payload.

        Raises:
            ConfigError: the payload cannot be read.
        """
        event = _event(environ.get("GITHUB_EVENT_PATH"))
        pull_request = event.get("pull_request") or {}
        merge_group = event.get("merge_group") or {}
        server, repository = environ.get("GITHUB_SERVER_URL", ""), environ.get("GITHUB_REPOSITORY", "")
        return cls(
            event_name=environ.get("GITHUB_EVENT_NAME", ""),
            repository=repository,
            run_url=f"{server}/{repository}/actions/runs/{environ.get('GITHUB_RUN_ID', '')}",
            head_sha=(pull_request.get("head") or merge_group).get("sha")
            or merge_group.get("head_sha")
            or environ.get("GITHUB_SHA", ""),
            base_ref=environ.get("GITHUB_BASE_REF") or str(merge_group.get("base_ref", "")).removeprefix("refs/heads/"),
            pull_request=pull_request.get("number"),
            private=bool((event.get("repository") or {}).get("private", False)),
            output_path=_path(environ.get("GITHUB_OUTPUT")),
            summary_path=_path(environ.get("GITHUB_STEP_SUMMARY")),
            state_path=_path(environ.get("GITHUB_STATE")),
        )


def _event(path: str | None) -> dict[str, Any]:
    if not path or not Path(path).is_file():
        return {}
    try:
        event = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise errors.ConfigError(f"the event at {path} cannot be read: {error}", "Check GITHUB_EVENT_PATH.") from error
    return event if isinstance(event, dict) else {}


def _path(name: str | None) -> Path | None:
    return Path(name) if name else None
