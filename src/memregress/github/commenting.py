"""The one comment on a pull request: when it is written, edited, written anew, or left alone.

It is ours if we wrote it and its first line is our marker. The marker holds the run that wrote it, so that a run that
ends late never overwrites a newer one, and the state, so that people are notified when something broke and only then:
an edited comment notifies nobody, a new one does.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal
from urllib.parse import quote, unquote

from memregress.github.api import Api, ApiError

BOT = "github-actions[bot]"
"""Whom a workflow's own token writes as, where GraphQL is not to be had."""
RACE = timedelta(minutes=10)
"""How far back a comment is looked for that another run has written meanwhile."""
_MARKER = re.compile(r"<!-- memregress:v1((?: [a-z]+=[^\s]*)+) -->")

Mode = Literal["auto", "always", "never"]
Text = Callable[[str], str]
"""Makes the text of a comment from a line on its history, which may be empty."""


class State(enum.StrEnum):
    """What a comment says."""

    GREEN = "green"
    WARN = "warn"
    """Passed, with something a reviewer has to see."""
    RED = "red"


@dataclass(frozen=True, kw_only=True, slots=True)
class Marker:
    """The first line of a comment, which nobody sees; `since` and `runs` are of the first red run in a row."""

    key: str
    run: int
    attempt: int
    head: str
    state: State
    since: str = ""
    runs: int = 1

    def __str__(self) -> str:
        values = {name: getattr(self, name) for name in self.__slots__}
        pairs = " ".join(f"{name}={_quote(str(value))}" for name, value in values.items())
        return f"<!-- memregress:v1 {pairs} -->"

    @classmethod
    def read(cls, body: str) -> Marker | None:
        """Return the marker if it is the comment's first line, whole."""
        found = _MARKER.fullmatch(body.partition("\n")[0].rstrip("\r"))
        if found is None:
            return None
        values = dict(pair.split("=", 1) for pair in found[1].split())
        try:
            return cls(
                key=unquote(values["key"]),
                run=int(values["run"]),
                attempt=int(values["attempt"]),
                head=unquote(values["head"]),
                state=State(values["state"]),
                since=unquote(values.get("since", "")),
                runs=int(values.get("runs", "1")),
            )
        except (KeyError, ValueError):
            return None

    @property
    def age(self) -> tuple[int, int]:
        """Grows with every run; of a run with every attempt."""
        return self.run, self.attempt


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A comment of ours."""

    id: int
    url: str
    marker: Marker


class Act(enum.Enum):
    """What to do."""

    NOTHING = enum.auto()
    CREATE = enum.auto()
    EDIT = enum.auto()
    RECREATE = enum.auto()


def decide(before: Marker | None, now: Marker, mode: Mode) -> Act:
    """Decide what becomes of the comment; `before` is the marker of the one that is there."""
    if mode == "never":
        return Act.NOTHING
    if before is None:
        return Act.NOTHING if now.state is State.GREEN and mode == "auto" else Act.CREATE
    if before.age > now.age:
        return Act.NOTHING
    if now.state is State.RED and before.state is not State.RED:
        return Act.RECREATE
    return Act.EDIT


def publish(api: Api, number: int, now: Marker, text: Text, mode: Mode) -> str:
    """Bring the comment up to date and return its URL, empty where there is none.

    Raises:
        ApiError: GitHub refuses.
    """
    if mode == "never":
        return ""
    ours = _ours(api, _marked(api.comments(number), now.key))
    before = max(ours, key=lambda found: found.marker.age, default=None)
    now = _carried(before.marker if before else None, now)
    act = decide(before.marker if before else None, now, mode)
    if act is Act.NOTHING:
        return before.url if before else ""
    body = f"{now}\n{text(_history(now))}"
    if act is Act.EDIT and before is not None:
        url = str(api.update_comment(before.id, body)["html_url"])
        obsolete = [found for found in ours if found is not before]
    else:
        written = api.create_comment(number, body)
        url, obsolete = str(written["html_url"]), ours  # a delete that fails leaves one too many, never none
        if not ours:
            obsolete, url = _race(api, number, now, written, url)
    for found in obsolete[:2]:
        api.delete_comment(found.id)
    return url


def _carried(before: Marker | None, now: Marker) -> Marker:
    """Count the red runs in a row."""
    if now.state is not State.RED:
        return now
    if before is None or before.state is not State.RED:
        return replace(now, since=now.head, runs=1)
    again = 0 if before.age == now.age else 1
    return replace(now, since=before.since or before.head, runs=before.runs + again)


def _history(now: Marker) -> str:
    if now.state is State.RED and now.runs > 1:
        return f"broken since {now.since[:7]}, {now.runs} runs"
    return ""


def _marked(comments: Any, key: str) -> list[tuple[str, Found]]:
    """The comments with our marker, and who wrote them; anybody can write one."""
    found = []
    for comment in comments:
        marker = Marker.read(comment.get("body") or "")
        if marker is not None and marker.key == key:
            author = str((comment.get("user") or {}).get("login", ""))
            found.append((author, Found(id=comment["id"], url=str(comment["html_url"]), marker=marker)))
    return found


def _ours(api: Api, marked: Sequence[tuple[str, Found]]) -> list[Found]:
    if not marked:
        return []
    try:
        login = api.login()
    except (ApiError, KeyError, TypeError, ValueError):
        login = BOT
    return [found for author, found in marked if author == login]


def _race(api: Api, number: int, now: Marker, written: dict[str, Any], url: str) -> tuple[list[Found], str]:
    """Two runs may both have found no comment: of all that there are now, the one of the newest run stays.

    Runs that see each other agree on which that is, so none deletes the last.
    """
    author = str((written.get("user") or {}).get("login", ""))
    since = (datetime.fromisoformat(str(written["created_at"])) - RACE).isoformat().replace("+00:00", "Z")
    there = [found for who, found in _marked(api.comments(number, since=since), now.key) if who == author]
    newest = max(there, key=lambda found: (found.marker.age, found.id), default=None)
    if newest is None:
        return [], url
    return [found for found in there if found is not newest], newest.url


def _quote(text: str) -> str:
    """Nothing in a value may end the comment (``-->``), or part it."""
    return quote(text, safe="").replace("-", "%2D")
