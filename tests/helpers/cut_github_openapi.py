"""Cut GitHub's OpenAPI description down to what the stand-in is held to.

npm pack @octokit/openapi && tar xzf octokit-openapi-*.tgz
python tests/helpers/cut_github_openapi.py package/generated/api.github.com.json > tests/helpers/github_openapi.json
"""

import json
import sys
from pathlib import Path

OPERATIONS = {
    "/repos/{owner}/{repo}/issues/{issue_number}/comments": ("get", "post"),
    "/repos/{owner}/{repo}/issues/comments/{comment_id}": ("patch", "delete"),
    "/repos/{owner}/{repo}/pulls": ("get",),
    "/repos/{owner}/{repo}/commits": ("get",),
    "/repos/{owner}/{repo}/actions/artifacts": ("get",),
    "/repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}": ("get",),
}
RESPONSES = {"get issues comments", "post issues comments", "patch issues comments", "get actions artifacts"}
DROPPED = {"description", "example", "examples", "externalDocs", "summary", "tags", "operationId", "headers"}


def main(path):
    whole = json.loads(Path(path).read_text())
    paths = {place: {method: operation(whole, place, method) for method in ms} for place, ms in OPERATIONS.items()}
    kept = {"openapi": whole["openapi"], "paths": paths, "components": {}}
    while missing := [ref for ref in sorted(refs(kept)) if not present(kept, ref)]:
        for ref in missing:
            _, _, kind, name = ref.split("/")
            kept["components"].setdefault(kind, {})[name] = clean(whole["components"][kind][name])
    json.dump(kept, sys.stdout, indent=1, sort_keys=True)
    sys.stdout.write("\n")


def operation(whole, place, method):
    found = clean(whole["paths"][place][method])
    words = f"{method} {' '.join(word for word in place.split('/')[4:] if '{' not in word)}"
    if words in RESPONSES:
        found["responses"] = {code: answer for code, answer in found["responses"].items() if code in ("200", "201")}
    else:
        found.pop("responses")
    return {name: found[name] for name in ("parameters", "requestBody", "responses") if name in found}


def clean(node):
    if isinstance(node, list):
        return [clean(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {}
    for name, value in node.items():
        text = name in DROPPED and not (isinstance(value, dict) and "type" in value)  # a property may have the name
        if not text and not name.startswith("x-"):
            kept[name] = clean(value)
    return kept


def refs(node):
    if isinstance(node, list):
        return {ref for item in node for ref in refs(item)}
    if not isinstance(node, dict):
        return set()
    own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
    return own | {ref for value in node.values() for ref in refs(value)}


def present(kept, ref):
    _, _, kind, name = ref.split("/")
    return name in kept["components"].get(kind, {})


main(sys.argv[1])
