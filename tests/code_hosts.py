"""GitLab and GitHub on loopback, as far as JPO writes there: a double that checks every call by the published schemas.

It keeps notes, and a repository (repositories.py).

A call which the schema does not know, a parameter or body that it does not allow, is noted in `breaches`; so is an answer of the
double itself that the schema does not have, or the double would prove nothing.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from jsonschema import Draft202012Validator
from repositories import GitRepository, answered

SCHEMAS = Path(__file__).parent / "plugins" / "ci" / "code_host"
TOKEN = "t0ken-0f-the-test"
ME, SOMEBODY, ANOTHER_BOT = 7, 8, 9
Fault = Callable[["Handler"], bool]
"""Answers in the place of the double, or lets it go on."""
NOW = "2026-11-22T00:00:00Z"


class CodeHost(ThreadingHTTPServer):
    """One merge request with its notes.

    Attributes:
        notes: number -> (author, body), as they came.
        asked: `GET /path` of each call, without the query.
        faults: what happens to the next calls of a method, one after the other, before the double answers.
        is_app: our token is that of a GitHub app, as in a workflow, which may not ask who it is.
    """

    daemon_threads = True

    def __init__(self, kind: Literal["gitlab", "github"], *, per_page: int = 100, is_app: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.kind, self.is_app, self.per_page = kind, is_app, per_page
        self.notes: dict[int, tuple[int, str]] = {}
        self.asked: list[str] = []
        self.breaches: list[str] = []
        self.faults: dict[str, list[Fault]] = {}
        self.number = 100
        self.repository = GitRepository()
        self.schema = json.loads((SCHEMAS / f"{kind}.openapi.json").read_text())
        self.url = f"http://127.0.0.1:{self.server_port}" + ("/api/v4" if kind == "gitlab" else "")

    def add(self, author: int, body: str) -> int:
        self.number += 1
        self.notes[self.number] = (author, body)
        return self.number

    def environment(self, folder: Path) -> dict[str, str]:
        """What a runner of this host sets in a pipeline of the merge request 5."""
        if self.kind == "gitlab":
            page = "https://gitlab.example.com/team/job"
            return {
                "GITLAB_CI": "true",
                "CI_API_V4_URL": self.url,
                "CI_PROJECT_ID": "42",
                "CI_MERGE_REQUEST_IID": "5",
                "CI_PROJECT_PATH": "team/job",
                "CI_PROJECT_URL": page,
                "CI_JOB_URL": f"{page}/-/jobs/1",
                "JPO_COMMENT_TOKEN": TOKEN,
            }
        event = folder / "event.json"
        event.write_text(json.dumps({"pull_request": {"number": 5}, "ratio": 1.5}))
        return {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": self.url,
            "GITHUB_REPOSITORY": "team/job",
            "GITHUB_RUN_ID": "9",
            "GITHUB_SERVER_URL": "https://github.example.com",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_TOKEN": TOKEN,
        }

    def nightly(self, root: Path, commit: str) -> dict[str, str]:
        """What a runner sets in a pipeline of the default branch main, which has checked out this commit."""
        both = {name: text for name, text in self.environment(root).items() if "MERGE_REQUEST" not in name}
        if self.kind == "gitlab":
            return {
                **both,
                "CI_COMMIT_BRANCH": "main",
                "CI_DEFAULT_BRANCH": "main",
                "CI_COMMIT_SHA": commit,
                "CI_PROJECT_DIR": str(root),
                "JPO_PERSIST_TOKEN": TOKEN,
            }
        named = {"GITHUB_REF": "refs/heads/main", "GITHUB_REF_NAME": "main", "GITHUB_EVENT_NAME": "schedule"}
        return {**both, **named, "GITHUB_SHA": commit, "GITHUB_WORKSPACE": str(root)}

    def bodies(self, author: int = ME) -> list[str]:
        return [body for one, body in self.notes.values() if one == author]

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is what some tests are about."""


@contextmanager
def code_host(kind: Literal["gitlab", "github"], **options: Any) -> Iterator[CodeHost]:
    """A host that is up as long as the context; every call must have been one of the schema."""
    with CodeHost(kind, **options) as host:
        threading.Thread(target=host.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield host
        host.shutdown()
        assert host.breaches == []


def refuses(status: int, document: object = None, *, html: bool = False, **headers: str) -> Fault:
    """An answer instead of what was asked for."""

    def fault(handler: Handler) -> bool:
        body = b"<html>sign in</html>" if html else json.dumps({"message": "no"} if document is None else document).encode()
        handler.send(status, body, "text/html" if html else "application/json", **headers)
        return True

    return fault


def hangs_up(handler: Handler) -> bool:
    """Nothing was done, and nothing is said."""
    handler.close_connection = True
    return True


def does_it_and_hangs_up(handler: Handler) -> bool:
    """It was done, and nobody is told."""
    handler.carry_out(answer=False)
    handler.close_connection = True
    return True


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: CodeHost

    def do_GET(self) -> None:
        self.given = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append(f"{self.command} {urlsplit(self.path).path}")
        faults = self.server.faults.get(self.command, [])
        if faults and faults.pop(0)(self):
            return
        self.carry_out()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - names http.server looks for

    def log_message(self, *_: object) -> None:
        pass

    def send(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def carry_out(self, *, answer: bool = True) -> None:
        """What the host does; where it is no call of the schema, nothing but a note of that."""
        found = self.operation()
        if found is None:
            self.server.breaches.append(f"{self.command} {self.path} is not in the schema")
            return self.send(404, b"{}")
        operation, path = found
        status, document, headers = self.result(path)
        schema = operation["responses"].get(str(status), {}).get("content", {}).get("application/json", {}).get("schema")
        unknown = status < 300 and str(status) not in operation["responses"]
        if unknown or (schema and not self.valid(schema, document)):
            self.server.breaches.append(f"the double's own answer {status} {document}")
        if answer:
            self.send(status, b"" if status == 204 else json.dumps(document).encode(), **headers)
        return None

    def operation(self) -> tuple[dict[str, Any], dict[str, str]] | None:
        """The operation that is called, with its path parameters; parameters and body must be as the schema has them."""
        parts = urlsplit(self.path.removeprefix("/api/v4"))
        for template, methods in self.server.schema["paths"].items():
            pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(template))
            match = re.fullmatch(pattern, parts.path)
            if match and self.command.lower() in methods:
                operation, path = methods[self.command.lower()], {name: unquote(text) for name, text in match.groupdict().items()}
                given = {("path", name): text for name, text in path.items()}
                given |= {("query", name): text for name, text in parse_qsl(parts.query)}
                self.check(operation, given)
                return operation, path
        return None

    def check(self, operation: dict[str, Any], given: dict[tuple[str, str], str]) -> None:
        known = {(one["in"], one["name"]): one for one in operation["parameters"]}
        for key, text in given.items():
            schema = known.get(key, {}).get("schema", False)
            value = int(text) if schema and schema.get("type") == "integer" and text.isdecimal() else text
            if not self.valid(schema, value):
                self.server.breaches.append(f"{self.command} {self.path}: {key} = {text!r}")
        body = operation.get("requestBody")
        if body is None and self.given:
            self.server.breaches.append(f"{self.command} {self.path} has a body")
        if body and not (
            self.headers["Content-Type"] == "application/json"
            and self.valid(body["content"]["application/json"]["schema"], json.loads(self.given))
        ):
            self.server.breaches.append(f"{self.command} {self.path}: body {self.given[:200]!r}")

    def valid(self, schema: Any, value: object) -> bool:
        with_parts = {**schema, "components": self.server.schema.get("components", {})} if isinstance(schema, dict) else schema
        return Draft202012Validator(with_parts).is_valid(value)

    def result(self, path: dict[str, str]) -> tuple[int, object, dict[str, str]]:
        host = self.server
        token = (
            self.headers["PRIVATE-TOKEN"]
            if host.kind == "gitlab"
            else self.headers.get("Authorization", "").removeprefix("Bearer ")
        )
        if token != TOKEN:
            return 401, {"message": "401 Unauthorized"}, {}
        if self.path.endswith("/user"):
            if host.is_app:
                return 403, {"message": "Resource not accessible by integration"}, {}
            return 200, self.user(ME), {}
        if answer := answered(self, path, dict(parse_qsl(urlsplit(self.path).query))):
            return answer
        number = int(path.get("note_id") or path.get("comment_id") or 0)
        if self.command == "GET":
            return self.listed()
        if self.command == "POST":
            number = host.add(ME, json.loads(self.given)["body"])
            return 201, self.document(number), {}
        if number not in host.notes:
            return 404, {"message": "404 Not found"}, {}
        author, _ = host.notes[number]
        if author != ME:
            return 403, {"message": "403 Forbidden"}, {}
        if self.command == "DELETE":
            del host.notes[number]
            return 204, None, {}
        host.notes[number] = (ME, json.loads(self.given)["body"])
        return 200, self.document(number), {}

    def listed(self) -> tuple[int, object, dict[str, str]]:
        query = dict(parse_qsl(urlsplit(self.path).query))
        page, size = int(query["page"]), min(int(query["per_page"]), self.server.per_page)
        numbers = sorted(self.server.notes)[(page - 1) * size :]
        more = str(page + 1) if len(numbers) > size else ""
        headers = (
            {"X_Next_Page": more} if self.server.kind == "gitlab" else {"Link": f'<{self.path}>; rel="next"'} if more else {}
        )
        return 200, [self.document(number) for number in numbers[:size]], headers

    def document(self, number: int) -> dict[str, object]:
        author, body = self.server.notes[number]
        if self.server.kind == "gitlab":
            return {"id": number, "body": body, "system": False, "author": self.user(author)}
        page = f"https://github.example.com/team/job/pull/5#issuecomment-{number}"
        return {"id": number, "body": body, "user": self.user(author), "html_url": page, "created_at": NOW, "updated_at": NOW}

    def user(self, number: int) -> dict[str, object]:
        if self.server.kind == "gitlab":
            return {"id": number, "username": f"user-{number}"}
        kind = "Bot" if number == ANOTHER_BOT or (self.server.is_app and number == ME) else "User"
        page = f"https://github.example.com/user-{number}"
        return {"login": f"user-{number}", "id": number, "type": kind, "html_url": page, "created_at": NOW, "updated_at": NOW}
