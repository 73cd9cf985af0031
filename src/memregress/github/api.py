"""GitHub's REST interface, as far as a comment and a baseline need it.

https://docs.github.com/en/rest (version 2022-11-28), on GitHub Enterprise too: the addresses are the runner's. Calls
that GitHub asks to repeat later are repeated, for a while; what it refuses comes back as an error in words, with the
permission that is missing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import requests

from memregress import errors

VERSION = "2022-11-28"
TIMEOUT = (10.0, 30.0)
"""Seconds to connect, and between two pieces of an answer."""
ATTEMPTS = 4
LONGEST_WAIT = 60.0
"""Seconds; who is asked to wait longer gives up: the job's minutes are worth more than a comment."""
PAGE = 100
REPEATABLE = frozenset({"GET", "PATCH", "DELETE"})
"""A POST whose answer was lost may have been carried out."""

PERMISSIONS = """permissions:
  contents: read
  actions: read         # finds the baseline
  pull-requests: write  # writes the comment"""

REMEDIES = {
    401: "The token is wrong or has expired; leave `github-token` out, or give a valid one.",
    403: f"Give the job these permissions (a pull request from a fork never gets them):\n{PERMISSIONS}",
    404: f"The token does not reach it. Give the job these permissions:\n{PERMISSIONS}",
    422: "GitHub does not take it: the pull request may be locked, or gone.",
}


class ApiError(errors.PublishError):
    """GitHub refused, or could not be reached; `status` is 0 for the latter."""

    def __init__(self, status: int, message: str, remedy: str) -> None:
        super().__init__(message, remedy)
        self.status = status


class Api:
    """One repository, by one token; `calls` counts what was sent."""

    def __init__(
        self, url: str, token: str, repository: str, *, graphql_url: str, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.calls = 0
        self._url = f"{url.rstrip('/')}/repos/{quote(repository)}"
        self._graphql_url = graphql_url
        self._sleep = sleep
        self._session = requests.Session()
        self._session.headers.update(
            {
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {token}",
                "User-Agent": "memregress",
                "X-GitHub-Api-Version": VERSION,
            }
        )

    def login(self) -> str:
        """Return the name that our comments bear; only GraphQL tells it to a workflow's own token."""
        answer = self._send("POST", self._graphql_url, json={"query": "{viewer{login}}"}, repeatable=True).json()
        return str(answer["data"]["viewer"]["login"])

    def comments(self, number: int, **parameters: str) -> Iterator[dict[str, Any]]:
        """Yield the comments of a pull request, over all pages."""
        for page in self._pages(f"/issues/{number}/comments", parameters):
            yield from page

    def create_comment(self, number: int, body: str) -> dict[str, Any]:
        """Write a comment on a pull request, and return it."""
        return self._object("POST", f"/issues/{number}/comments", json={"body": body})

    def update_comment(self, comment: int, body: str) -> dict[str, Any]:
        """Replace the text of a comment, and return it."""
        return self._object("PATCH", f"/issues/comments/{comment}", json={"body": body})

    def delete_comment(self, comment: int) -> None:
        """Delete a comment; one that is gone already is as good."""
        try:
            self._send("DELETE", f"{self._url}/issues/comments/{comment}")
        except ApiError as error:
            if error.status != 404:
                raise

    def pull_requests(self, head: str) -> list[dict[str, Any]]:
        """Return the open pull requests from a branch, named ``owner:branch``."""
        return self._list("/pulls", {"head": head, "state": "open", "per_page": str(PAGE)})

    def commits(self, sha: str) -> list[str]:
        """Return a commit and up to 99 of its ancestors, nearest first."""
        found = self._list("/commits", {"sha": sha, "per_page": str(PAGE)})
        return [str(commit["sha"]) for commit in found]

    def artifacts(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the artifacts of that name, the latest first, over all pages."""
        for page in self._pages("/actions/artifacts", {"name": name}):
            yield from page["artifacts"]

    def download(self, artifact: int, *, largest: int) -> bytes:
        """Return an artifact as a ZIP archive of at most `largest` bytes."""
        url = f"{self._url}/actions/artifacts/{artifact}/zip"
        with self._send("GET", url, stream=True) as answer:
            data = b""
            for piece in answer.iter_content(1 << 16):
                data += piece
                if len(data) > largest:
                    raise ApiError(0, f"artifact {artifact} has more than {largest:,} bytes", "It is no report.")
            return data

    def _pages(self, path: str, parameters: Mapping[str, str]) -> Iterator[Any]:
        number, more = 1, True
        while more:
            query = {**parameters, "per_page": str(PAGE), "page": str(number)}
            answer = self._send("GET", self._url + path, params=query)
            yield answer.json()
            number, more = number + 1, "next" in answer.links

    def _list(self, path: str, parameters: Mapping[str, str]) -> list[dict[str, Any]]:
        return list(self._send("GET", self._url + path, params=parameters).json())

    def _object(self, method: str, path: str, **given: Any) -> dict[str, Any]:
        return dict(self._send(method, self._url + path, **given).json())

    def _send(self, method: str, url: str, *, repeatable: bool | None = None, **given: Any) -> requests.Response:
        again = method in REPEATABLE if repeatable is None else repeatable
        for attempt in range(1, ATTEMPTS + 1):
            self.calls += 1
            try:
                answer = self._session.request(method, url, timeout=TIMEOUT, **given)
            except requests.RequestException as error:
                if not again or attempt == ATTEMPTS:
                    raise _unreachable(url, error) from error
                self._sleep(2.0**attempt)
                continue
            if answer.ok:
                return answer
            wait = _wait(answer, attempt, repeatable=again)
            if wait is None or wait > LONGEST_WAIT or attempt == ATTEMPTS:
                raise _refused(answer)
            self._sleep(wait)
        raise AssertionError  # the last attempt has returned or raised


def _wait(answer: requests.Response, attempt: int, *, repeatable: bool) -> float | None:
    """Return the seconds after which to try again, None for never.

    https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#handle-rate-limit-errors-appropriately
    """
    headers = answer.headers
    if answer.status_code in (403, 429):  # nothing was done
        if headers.get("Retry-After", "").isdigit():
            return float(headers["Retry-After"])
        if headers.get("X-RateLimit-Remaining") == "0" and headers.get("X-RateLimit-Reset", "").isdigit():
            return max(1.0, float(headers["X-RateLimit-Reset"]) - time.time())
        return 2.0**attempt * 5 if answer.status_code == 429 or "rate limit" in answer.text else None
    return 2.0**attempt if answer.status_code >= 500 and repeatable else None


def _refused(answer: requests.Response) -> ApiError:
    try:
        said = str(answer.json().get("message", ""))
    except (ValueError, AttributeError):
        said = answer.reason or ""
    status = answer.status_code
    message = f"GitHub answers {status} to {answer.request.method} {_place(answer.url)}: {said}"
    return ApiError(status, message, REMEDIES.get(status, "Try again later; https://www.githubstatus.com may know."))


def _unreachable(url: str, error: Exception) -> ApiError:
    reason = type(error).__name__
    return ApiError(
        0, f"GitHub does not answer at {_place(url)} ({reason})", "Try again later, or check GITHUB_API_URL."
    )


def _place(url: str) -> str:
    """A URL without its query, which may be signed."""
    return url.partition("?")[0]
