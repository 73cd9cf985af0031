"""A stand-in for GitHub's REST interface over HTTP: it has state, and holds each request to GitHub's own description.

What it knows of GitHub beyond that description: who may write, pages with a `Link` header, comments of at most 65,536
characters, artifacts as ZIP archives behind a redirect, rate limits. Each instance listens on loopback, or on the one
address it is given, and ends with its context.
"""

import contextlib
import http.server
import io
import itertools
import json
import re
import threading
import urllib.parse
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema

DESCRIPTION = json.loads(Path(__file__).with_name("github_openapi.json").read_text())
LONGEST = 65_536
BOT, WRITES, READS = "github-actions[bot]", "token-that-writes", "token-that-reads"


@contextlib.contextmanager
def running(**given):
    """A stand-in that serves."""
    github = Github(**given)
    server = http.server.ThreadingHTTPServer((github.host, 0), type("Handler", (Handler,), {"github": github}))
    server.daemon_threads = True
    github.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield github
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


class Github:
    """One repository, org/app, and everything that was asked of it."""

    def __init__(self, *, host="127.0.0.1", prefix="", graphql=True):
        self.host, self.prefix, self.graphql, self.port = host, prefix, graphql, 0
        self.lock = threading.Lock()
        self.comments, self.pulls, self.commits, self.artifacts = [], [], [], []
        self.requests, self.violations, self.answers_first = [], [], []
        self.before = {}
        self._ids, self._now = itertools.count(1_000), datetime(2026, 1, 1, tzinfo=UTC)

    @property
    def url(self):
        return f"http://{self.host}:{self.port}{self.prefix}"

    @property
    def graphql_url(self):
        return f"http://{self.host}:{self.port}/{'api/graphql' if self.prefix else 'graphql'}"

    def comment(self, number, body, author=BOT, minutes=1):
        """A comment that is there."""
        self._now += timedelta(minutes=minutes)
        time = self._now.isoformat().replace("+00:00", "Z")
        id_ = next(self._ids)
        made = {
            "id": id_, "node_id": f"IC_{id_}", "body": body, "user": user(author), "created_at": time,
            "updated_at": time, "author_association": "NONE", "number": number,
            "url": f"{self.url}/repos/org/app/issues/comments/{id_}", "issue_url": f"{self.url}/repos/org/app/issues/1",
            "html_url": f"https://github.com/org/app/pull/{number}#issuecomment-{id_}",
        }  # fmt: skip
        self.comments.append(made)
        return made

    def artifact(self, name, sha, files, *, branch="main", fork=False, expired=False):
        """An artifact that a run on a branch has left; `files` are its members."""
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as members:
            for member, data in files.items():
                members.writestr(member, data)
        id_ = next(self._ids)
        run = {"id": 1, "repository_id": 1, "head_repository_id": 2 if fork else 1, "head_branch": branch}
        made = {
            "id": id_, "node_id": f"A_{id_}", "name": name, "size_in_bytes": 1, "expired": expired,
            "url": f"{self.url}/artifacts/{id_}", "archive_download_url": f"{self.url}/artifacts/{id_}/zip",
            "created_at": "2026-01-01T00:00:00Z", "expires_at": None, "updated_at": None,
            "workflow_run": {**run, "head_sha": sha},
        }  # fmt: skip
        self.artifacts.insert(0, (made, archive.getvalue()))  # the latest first

    def fail_first(self, method, path, status, message="", **headers):
        """Answer the next request of that method and path (a regular expression) with an error."""
        self.answers_first.append((method, re.compile(path), status, message, headers))

    @property
    def calls(self):
        """Requests by method and path."""
        return [f"{method} {path.split('/org/app')[-1]}" for method, path in self.requests]

    def bodies(self, number):
        """The comments of a pull request."""
        return [comment["body"] for comment in self.comments if comment["number"] == number]


def user(login):
    urls = ("followers", "following", "gists", "starred", "subscriptions", "organizations", "repos", "events")
    return {
        "login": login, "id": 1, "node_id": "U_1", "avatar_url": "https://github.com/a", "gravatar_id": "",
        "url": "https://github.com/u", "html_url": "https://github.com/u", "type": "Bot", "site_admin": False,
        "received_events_url": "https://github.com/u", **{f"{name}_url": "https://github.com/u" for name in urls},
    }  # fmt: skip


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers one request."""

    github: Github
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Be quiet."""

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        parts = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(parts.query))
        if wait := self.github.before.get(self.command):
            wait(self.path)
        with self.github.lock:
            self.github.requests.append((self.command, parts.path))
            self.send(*self.decide(parts.path, query, body))

    do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815

    def send(self, status, content=None, headers=None):
        data = content if isinstance(content, bytes) else b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def decide(self, path, query, body):
        for failure in self.github.answers_first:
            method, pattern, status, message, headers = failure
            if method == self.command and pattern.search(path):
                self.github.answers_first.remove(failure)
                return status, {"message": message}, headers
        if path.startswith("/signed/"):
            if "Authorization" in self.headers:  # GitHub's storage refuses a request with two signatures
                return 400, {"message": "one authorization too many"}
            return 200, next(data for made, data in self.github.artifacts if made["id"] == int(path.split("/")[2]))
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if token not in (WRITES, READS):
            return 401, {"message": "Bad credentials"}
        if path == urllib.parse.urlsplit(self.github.graphql_url).path:
            known = self.github.graphql and body == {"query": "{viewer{login}}"}
            return (200, {"data": {"viewer": {"login": BOT}}}) if known else (404, {"message": "Not Found"})
        return self.rest(path, query, body, token)

    def rest(self, path, query, body, token):
        place = path.removeprefix(self.github.prefix)
        found = operation(place, self.command)
        if found is None or not path.startswith(self.github.prefix):
            self.github.violations.append(f"{self.command} {path}: no such operation")
            return 404, {"message": "Not Found"}
        template, variables = found
        described = DESCRIPTION["paths"][template][self.command.lower()]
        self.github.violations += violations(described, variables, query, body, f"{self.command} {template}")
        if self.headers.get("X-GitHub-Api-Version") != "2022-11-28" or not self.headers.get("User-Agent"):
            self.github.violations.append(f"{self.command} {path}: headers")
        if self.command != "GET" and token != WRITES:
            return 403, {"message": "Resource not accessible by integration"}
        words = [word for word in template.split("/")[4:] if "{" not in word]
        name = "archive" if template.endswith("{archive_format}") else "_".join(words)
        act = getattr(self, f"{self.command.lower()}_{name}")
        return self.checked(described, act(variables, query, body))

    def checked(self, described, answer):
        """Hold the stand-in itself to the description, lest it be kinder than GitHub."""
        for code, response in described.get("responses", {}).items():
            if code == str(answer[0]):
                check(response["content"]["application/json"]["schema"], answer[1])
        return answer

    def get_issues_comments(self, variables, query, _):
        number, since = int(variables["issue_number"]), query.get("since", "")
        since = f"{since[:19]}Z" if since else ""
        there = [c for c in self.github.comments if c["number"] == number and c["updated_at"] >= since]
        return self.page(there, query)

    def post_issues_comments(self, variables, _, body):
        if len(body["body"]) > LONGEST:
            return 422, {"message": "Body is too long (maximum is 65536 characters)"}
        if int(variables["issue_number"]) == 404:
            return 404, {"message": "Not Found"}
        return 201, self.github.comment(int(variables["issue_number"]), body["body"], minutes=0)

    def patch_issues_comments(self, variables, _, body):
        for comment in self.github.comments:
            if comment["id"] == int(variables["comment_id"]):
                comment["body"] = body["body"]
                return 200, comment
        return 404, {"message": "Not Found"}

    def delete_issues_comments(self, variables, *_):
        before = len(self.github.comments)
        self.github.comments = [c for c in self.github.comments if c["id"] != int(variables["comment_id"])]
        return (204, None) if len(self.github.comments) < before else (404, {"message": "Not Found"})

    def get_pulls(self, _, query, __):
        return self.page([p for p in self.github.pulls if p["head"]["label"] == query["head"]], query)

    def get_commits(self, _, query, __):
        shas = self.github.commits
        after = shas[shas.index(query["sha"]) :] if query["sha"] in shas else []
        return self.page([{"sha": sha} for sha in after], query)

    def get_actions_artifacts(self, _, query, __):
        there = [made for made, _ in self.github.artifacts if made["name"] == query["name"]]
        status, items, headers = self.page(there, query)
        return status, {"total_count": len(there), "artifacts": items}, headers

    def get_archive(self, variables, *_):
        return 302, None, {"Location": f"http://localhost:{self.github.port}/signed/{variables['artifact_id']}"}

    def page(self, items, query):
        size, number = int(query.get("per_page", 30)), int(query.get("page", 1))
        more = len(items) > size * number
        following = urllib.parse.urlencode({**query, "page": number + 1})
        link = {"Link": f'<{self.github.url}{urllib.parse.urlsplit(self.path).path}?{following}>; rel="next"'}
        return 200, items[size * (number - 1) : size * number], link if more else {}


def operation(path, method):
    """The template of a path, and what stands in its places; the one with the fewest places first."""
    for template in sorted(DESCRIPTION["paths"], key=lambda text: text.count("{")):
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template)
        found = re.fullmatch(pattern, path)
        if found and method.lower() in DESCRIPTION["paths"][template]:
            return template, found.groupdict()
    return None


def violations(described, variables, query, body, name):
    """What of a request GitHub's description does not allow."""
    parameters = [resolve(parameter) for parameter in described.get("parameters", [])]
    known = {(parameter["in"], parameter["name"]): parameter for parameter in parameters}
    found = [f"{name}: unknown parameter {key}" for key in query if ("query", key) not in known]
    for (place, key), parameter in known.items():
        given = (variables if place == "path" else query).get(key)
        if given is None and parameter.get("required"):
            found.append(f"{name}: {key} is missing")
        elif given is not None:
            found += faults(parameter["schema"], typed(given, parameter["schema"]), f"{name}: {key}")
    content = described.get("requestBody", {}).get("content", {}).get("application/json")
    if content:
        found += faults(content["schema"], body, f"{name}: body")
        extra = set(body or {}) - set(resolve(content["schema"]).get("properties", {}))
        found += [f"{name}: unknown field {key}" for key in extra]
    return found


def typed(text, schema):
    return int(text) if resolve(schema).get("type") == "integer" and text.isdigit() else text


def resolve(node):
    if "$ref" not in node:
        return node
    _, _, kind, key = node["$ref"].split("/")
    return DESCRIPTION["components"][kind][key]


def faults(schema, value, name):
    try:
        check(schema, value)
    except jsonschema.ValidationError as error:
        return [f"{name}: {error.message}"]
    return []


def check(schema, value):
    whole = {**nullable(schema), "components": nullable(DESCRIPTION["components"])}
    jsonschema.Draft202012Validator(whole, format_checker=jsonschema.FormatChecker()).validate(value)


def nullable(node):
    """OpenAPI 3.0 says `nullable` where JSON Schema lists a type."""
    if isinstance(node, list):
        return [nullable(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {name: nullable(value) for name, value in node.items()}
    return {"anyOf": [kept, {"type": "null"}]} if node.get("nullable") is True else kept
