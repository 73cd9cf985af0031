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
class Head:
    """Where the changes of a workflow come from that ran before this one (event ``workflow_run``)."""

    repository: str
    owner: str
    branch: str
    sha: str
    run_id: int
    run_attempt: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """One run of a workflow; paths are None where the runner gave none."""

    event_name: str
    repository: str
    server_url: str
    api_url: str
    graphql_url: str
    run_id: int
    run_attempt: int
    head_sha: str
    base_ref: str
    base_sha: str
    pull_request: int | None
    fork: bool
    """Whether the changes come from another repository, whose token may read only."""
    private: bool
    """Whether what is published is seen by members only; a repository that does not say counts as public."""
    triggered_by: Head | None
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
        change = _part(event, "pull_request")
        group = _part(event, "merge_group")
        repository = environ.get("GITHUB_REPOSITORY", "")
        head, base = _part(change, "head"), _part(change, "base")
        return cls(
            event_name=environ.get("GITHUB_EVENT_NAME", ""),
            repository=repository,
            server_url=environ.get("GITHUB_SERVER_URL", "https://github.com"),
            api_url=environ.get("GITHUB_API_URL", "https://api.github.com"),
            graphql_url=environ.get("GITHUB_GRAPHQL_URL", "https://api.github.com/graphql"),
            run_id=_number(environ.get("GITHUB_RUN_ID")),
            run_attempt=_number(environ.get("GITHUB_RUN_ATTEMPT")) or 1,
            head_sha=head.get("sha") or group.get("head_sha") or environ.get("GITHUB_SHA", ""),
            base_ref=base.get("ref")
            or environ.get("GITHUB_BASE_REF")
            or str(group.get("base_ref", "")).removeprefix("refs/heads/"),
            base_sha=base.get("sha") or group.get("base_sha") or "",
            pull_request=change.get("number"),
            fork=_part(head, "repo").get("full_name", repository) != repository,
            private=bool(_part(event, "repository").get("private", False)),
            triggered_by=_head(_part(event, "workflow_run")),
            output_path=_path(environ.get("GITHUB_OUTPUT")),
            summary_path=_path(environ.get("GITHUB_STEP_SUMMARY")),
            state_path=_path(environ.get("GITHUB_STATE")),
        )

    @property
    def run_url(self) -> str:
        """The page of this run, or of the one that triggered it."""
        run = self.triggered_by.run_id if self.triggered_by else self.run_id
        return f"{self.server_url}/{self.repository}/actions/runs/{run}" if run else ""


def _head(run: dict[str, Any]) -> Head | None:
    if not run:
        return None
    repository = _part(run, "head_repository")
    return Head(
        repository=str(repository.get("full_name", "")),
        owner=str(_part(repository, "owner").get("login", "")),
        branch=str(run.get("head_branch", "")),
        sha=str(run.get("head_sha", "")),
        run_id=_number(run.get("id")),
        run_attempt=_number(run.get("run_attempt")) or 1,
    )


def _event(path: str | None) -> dict[str, Any]:
    if not path or not Path(path).is_file():
        return {}
    try:
        event = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise errors.ConfigError(f"the event at {path} cannot be read: {error}", "Check GITHUB_EVENT_PATH.") from error
    return event if isinstance(event, dict) else {}


def _part(whole: dict[str, Any], name: str) -> dict[str, Any]:
    part = whole.get(name)
    return part if isinstance(part, dict) else {}


def _number(value: object) -> int:
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() else 0


def _path(name: str | None) -> Path | None:
    return Path(name) if name else None
