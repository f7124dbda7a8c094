"""What `jpo suggest` makes of a Prometheus in trouble, one row per known fault.

Without --strict the answer rests on the history, and a note names cause and next step; with --strict the exit code says so, and
neither config.ini nor the store has changed. Either way it ends in time and shows no credential.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import struct
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unittest.mock import ANY
from urllib.parse import parse_qs, urlsplit

import pytest
from answering import NOTHING, Handler, Reply, Server, cuts, echoes, refuses, sends, served, tells

if TYPE_CHECKING:
    from user_project import Answer, Project

TOKEN, ORGANISATION, PASSWORD = "t0ken-of-the-test", "org-of-the-test", "p4ss-of-the-test"
ALLOWANCE_SECONDS = 4.0
"""For what is not telemetry: the command itself takes 0.05 s on a quiet machine, half a second on a slow one, and tests run
beside each other. What keeps to no deadline here never ends: the servers answer nothing, or without end."""


def rows(*values: str) -> dict[str, object]:
    """As if it were an answer to everything: runs that are over, and of which everything measured so."""
    marks = {"dataset": "digits", "model": "cnn", "framework": "pytorch", "seen": "run", "batch_size": "32"}
    result = [{"metric": {"run_id": f"strange-{n}", **marks}, "value": [1, value]} for n, value in enumerate(values)]
    return {"resultType": "vector", "result": result}


def marked(*marks: str) -> Reply:
    """A run that is over, at the time that was asked, in rows with these marks of ours, whatever was asked."""

    def answer(handler: Handler) -> None:
        at = float(parse_qs(urlsplit(handler.path).query)["time"][0])
        series = [{"metric": {"run_id": "strange", "quantity": mark}, "value": [at, "1"]} for mark in marks]
        tells({"resultType": "vector", "result": series})(handler)

    return answer


def hangs(handler: Handler) -> None:
    handler.server.over.wait(20)


def drips(handler: Handler) -> None:
    handler.head(200, {"Content-Type": "application/json", "Content-Length": 100_000})
    while not handler.server.over.wait(0.02):
        handler.wfile.write(b" ")


def drips_head(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
    while not handler.server.over.wait(0.02):
        handler.wfile.write(b"x")


def resets(handler: Handler) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(handler.connection.detach())


def floods(handler: Handler) -> None:
    handler.head(200, {"Content-Type": "application/json", "Connection": "close"})
    handler.wfile.write(b'{"status":"success","data":{"result":["')
    while not handler.server.over.is_set():
        handler.wfile.write(b"x" * 2**20)


HTML = sends(b"<html>Sign in</html>", kind="text/html")
BUSY = sends(b"upstream unavailable", 503, "text/plain")


@dataclass(frozen=True)
class Fault:
    """Answers of the server; code and words of the note; how often the server is asked; seconds until the deadline.

    A deadline below a second leaves no time for another try.
    """

    answers: tuple[Reply, ...]
    code: str
    says: str
    hits: object = 1
    deadline: float = 0.9


FAULTS = {
    "503": Fault((BUSY,), "JPO-E102", "not available (HTTP 503); try again later", hits=2, deadline=1.2),
    "503 with a reason": Fault((refuses(503, "unavailable", "starting up"),), "JPO-E102", "(HTTP 503): starting up"),
    "500": Fault((refuses(500, "internal", "no space left"),), "JPO-E102", "(HTTP 500): no space left"),
    "502": Fault((sends(b"<html>Bad gateway", 502, "text/html"),), "JPO-E102", "(HTTP 502)"),
    "429, come back later": Fault((sends(b"", 429, **{"Retry-After": 60}),), "JPO-E102", "(HTTP 429)", deadline=5),
    "slow": Fault((hangs,), "JPO-E103", "no complete answer within 0.4 s; raise --timeout", deadline=0.4),
    "dripping body": Fault((drips,), "JPO-E103", "no complete answer within 0.4 s", deadline=0.4),
    "dripping head": Fault((drips_head,), "JPO-E103", "no complete answer within 0.4 s", deadline=0.4),
    "bad query": Fault((refuses(400, "bad_data", "1:9: parse error"),), "JPO-E105", "(HTTP 400): 1:9: parse error"),
    "many-to-many": Fault((refuses(422, "execution", "many-to-many matching"),), "JPO-E105", "many-to-many matching"),
    "401": Fault((refuses(401, "unauthorized", "no"),), "JPO-E101", "refused the credentials (HTTP 401): no; check user"),
    "403": Fault((sends(b"<html>", 403, "text/html"),), "JPO-E101", "does not allow this user to query (HTTP 403)"),
    "credentials in the answer": Fault((echoes,), "JPO-E105", "(HTTP 400): Host: 127.0.0.1"),
    "302 to another host": Fault((sends(b"", 302, Location="http://localhost:1/x"),), "JPO-E104", "redirects to another server"),
    "302 to a sign-in page": Fault((sends(b"", 302, Location="/login"), HTML), "JPO-E104", "a sign-in page?", hits=2),
    "200 HTML": Fault((HTML,), "JPO-E104", "a web page (a sign-in page?); check the URL"),
    "redirect loop": Fault((sends(b"", 302, Location="/loop"),), "JPO-E104", "redirects in a circle", hits=6),
    "wrong path prefix": Fault((sends(b"404 page not found", 404, "text/plain"),), "JPO-E104", "is there a route prefix"),
    "http to an https port": Fault(
        (sends(b"Client sent an HTTP request to an HTTPS server.\n", 400, "text/plain"),), "JPO-E104", "write https:// in the URL"
    ),
    "cut body": Fault((cuts,), "JPO-E108", "answer was cut off; check the proxy"),
    "truncated JSON": Fault((sends(b'{"status":"succ'),), "JPO-E108", "cut off or is not JSON", hits=2, deadline=1.2),
    "a key twice": Fault(
        (sends(b'{"status":"error","status":"success","data":{"resultType":"vector","result":[]}}'),),
        "JPO-E108",
        "cut off or is not JSON",
    ),
    "empty 200": Fault((sends(b""),), "JPO-E108", "cut off or is not JSON"),
    "status error": Fault((refuses(200, "execution", "found duplicate series"),), "JPO-E105", "found duplicate series"),
    "no data": Fault((sends({"status": "success"}),), "JPO-E104", "answered without data"),
    "warnings": Fault(
        (tells(NOTHING, warnings=["store 7 is down"]),), "JPO-E113", "in part: store 7 is down; ask again", hits=ANY
    ),
    "warnings of many stores": Fault(
        (tells(NOTHING, warnings=[f"store {n} is down" for n in range(9)]),),
        "JPO-E113",
        "store 2 is down; and 6 more; ask again",
        hits=ANY,
    ),
    "part of the series": Fault((tells(rows("1"), warnings=["partial"]),), "JPO-E113", "in part: partial", hits=ANY),
    "isPartial": Fault((tells(NOTHING, isPartial=True),), "JPO-E113", "in part: the answer is partial", hits=ANY),
    "a header says partial": Fault(
        (sends({"status": "success", "data": NOTHING}, **{"X-Partial": "true"}),),
        "JPO-E113",
        "in part: X-Partial: true",
        hits=ANY,
    ),
    "samples instead of values": Fault((tells({"resultType": "matrix", "result": []}),), "JPO-E104", "where a vector was asked"),
    "a number instead of series": Fault((tells({"resultType": "scalar", "result": [1, "1"]}),), "JPO-E104", "with scalar, where"),
    "another question's answer": Fault((marked("x"),), "JPO-E104", "series that were not asked for"),
    "another time's answer": Fault((tells(rows("1")),), "JPO-E104", "times that were not asked for"),
    "foreign digits": Fault((tells(rows("\u0663\u0662")),), "JPO-E104", "malformed series"),
    "the same twice": Fault((marked("run", "run"),), "JPO-E104", "the same series twice"),
    "the first answer, repeated": Fault((marked("run"),), "JPO-E104", "series that were not asked for", hits=2),
    "connection reset": Fault((resets,), "JPO-E102", "closed the connection without an answer; check the URL"),
}
NARROWER = {
    "query timeout": Fault((refuses(503, "timeout", "query timed out"),), "JPO-E103", "query timed out; narrow", deadline=5),
    "too many samples": Fault(
        (refuses(422, "execution", "query processing would load too many samples"),), "JPO-E105", "too many samples", deadline=5
    ),
    "huge": Fault((floods,), "JPO-E109", "more than 64 MiB; narrow the window", deadline=10),
}
"""Asked again is only a narrower question, never the same one."""


@pytest.fixture
def asking(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The project with its CSV history on record, and a token and a header for Prometheus."""
    assert project.jpo("observe").code == 0
    with (project.folder / "jpo.toml").open("a") as file:
        file.write(f'[prometheus]\nauth = {{ type = "bearer" }}\nheaders = {{ X-Scope-OrgID = "{ORGANISATION}" }}\n')
    monkeypatch.setenv("JPO_PROMETHEUS__AUTH__TOKEN", TOKEN)
    return project


def suggest(project: Project, url: str, *options: str) -> Answer:
    return project.jpo("suggest", "config.ini", "--no-learn", "--explore", "off", "--prometheus-url", url, *options)


def on_disk(project: Project) -> tuple[bytes, list[str]]:
    """config.ini, and the whole store: runs, watermarks, suggestions, audit log."""
    with closing(sqlite3.connect(f"file:{project.folder}/.jpo/jpo.db?mode=ro", uri=True)) as store:
        return project.config.read_bytes(), list(store.iterdump())


def tries_of_each(server: Server) -> dict[tuple[str, str], int]:
    """(Query, instant) in the order in which they came, and how often each did; probes ask otherwise."""
    asked = [parse_qs(urlsplit(path).query) for path in server.asked]
    return Counter((one["query"][0], one["time"][0]) for one in asked if {"query", "time"} <= one.keys())


def suggest_in_time(project: Project, fault: Fault, *options: str) -> tuple[Answer, Server]:
    """The answer to a server with this fault, given within the deadline and a tenth, and what the server was asked."""
    with served(*fault.answers) as server:
        began = time.monotonic()
        answer = suggest(project, server.url, *options, "--timeout", f"{fault.deadline}s")
        assert time.monotonic() - began < 1.1 * fault.deadline + ALLOWANCE_SECONDS
    return answer, server


def words_of(answer: Answer) -> str:
    """All words, without the line breaks of a terminal."""
    return " ".join(f"{answer.out} {answer.err}".split())


def hides_secrets(project: Project, answer: Answer) -> bool:
    kept = "\n".join([answer.out, answer.err, project.jpo("audit", "show", "-o", "json").out, *on_disk(project)[1]])
    return not any(secret in kept for secret in (TOKEN, ORGANISATION, PASSWORD))


@pytest.mark.parametrize("name", FAULTS)
def test_strict_ends_with_4_and_changes_nothing(asking: Project, name: str) -> None:
    fault, before = FAULTS[name], on_disk(asking)
    answer, server = suggest_in_time(asking, fault, "--strict")
    assert (answer.code, answer.out) == (4, "")
    assert (answer.err.count("\n"), fault.says in answer.err, fault.code in answer.err) == (1, True, True), answer.err
    assert on_disk(asking) == before
    assert hides_secrets(asking, answer)
    assert len(server.asked) == fault.hits


@pytest.mark.parametrize("name", FAULTS)
def test_without_strict_the_history_answers_and_a_note_says_why(asking: Project, name: str) -> None:
    fault = FAULTS[name]
    answer, _ = suggest_in_time(asking, fault)
    note = words_of(answer)
    assert (answer.code, answer.err) == (0, "")
    assert "Note: History not refreshed from prometheus (newest run on record: " in note
    assert fault.says in note
    assert fault.code in note
    assert "batch_size = 64 " in asking.config.read_text()
    assert "strange" not in asking.jpo("history", "--format", "json").out
    assert hides_secrets(asking, answer)


@pytest.mark.parametrize("name", NARROWER)
def test_what_was_too_much_is_not_asked_again(asking: Project, name: str) -> None:
    fault, before = NARROWER[name], on_disk(asking)
    answer, server = suggest_in_time(asking, fault, "--strict")
    assert (answer.code, on_disk(asking)) == (4, before)
    assert fault.says in answer.err
    assert fault.code in answer.err
    assert set(tries_of_each(server).values()) == {1}


@pytest.mark.parametrize("times", [1, 3])
def test_a_server_that_is_busy_for_a_moment_is_asked_again(asking: Project, times: int) -> None:
    with served(*[BUSY] * times, tells(NOTHING)) as server:
        assert suggest(asking, server.url, "--strict", "--timeout", "6s").code == 0
    first, *others = tries_of_each(server).values()
    assert (first, set(others) - {1}) == (times + 1, set())


def test_a_server_that_says_when_to_come_back_is_asked_then(asking: Project) -> None:
    with served(sends(b"", 429, **{"Retry-After": 1}), tells(NOTHING)) as server:
        began = time.monotonic()
        assert suggest(asking, server.url, "--strict").code == 0
    assert (time.monotonic() - began >= 1, next(iter(tries_of_each(server).values()))) == (True, 2)


@pytest.mark.parametrize(("url", "says"), [("http://127.0.0.1:1", "no connection"), ("https://jpo.invalid:9090", "not known")])
def test_a_server_that_is_down_or_unknown(asking: Project, url: str, says: str) -> None:
    before = on_disk(asking)
    strict = suggest(asking, url, "--strict", "--timeout", "4s")
    assert (strict.code, on_disk(asking)) == (4, before)
    assert f"{says}; check the URL and that the server runs, or use --offline [JPO-E102]" in strict.err
    assert suggest(asking, url, "--timeout", "4s").code == 0


def test_what_was_read_before_the_trouble_stays_and_the_next_query_goes_on_from_there(asking: Project) -> None:
    with served(tells(NOTHING), refuses(403, "forbidden")) as server:
        answer = suggest(asking, server.url, "-o", "json")
        (note,) = json.loads(answer.out)["evidence"]["notes"]
        assert (answer.code, "Prometheus was read up to " in note, "rest next time: does not allow" in note) == (0, True, True)
        assert "JPO-W117" in json.loads(answer.out)["reason_codes"]
        # The same server: another address has a watermark of its own.
        server.answers = [tells(NOTHING), refuses(403, "forbidden")]
        answer = suggest(asking, server.url, "--strict")
        assert (answer.code, "JPO-E117" in answer.err) == (4, True)
        server.answers, server.asked = [tells(NOTHING)], []
        assert suggest(asking, server.url, "--strict").code == 0
        assert len(server.asked) < 3, "not all 90 days again"


@pytest.mark.parametrize("url", ["prometheus:9090", f"me:{PASSWORD}@prometheus:9090", f"http://me:{PASSWORD}@prometheus:port"])
@pytest.mark.parametrize("options", [(), ("--strict",)])
def test_a_url_that_can_never_work_is_a_mistake_of_usage(asking: Project, url: str, options: tuple[str, ...]) -> None:
    before, answer = on_disk(asking), suggest(asking, url, *options)
    assert (answer.code, on_disk(asking)) == (2, before)
    assert "write e.g. http://prometheus:9090 [JPO-E107]" in answer.err
    assert hides_secrets(asking, answer)


def test_an_empty_answer_is_a_normal_one(asking: Project) -> None:
    with served(tells(NOTHING)) as server:
        answer = suggest(asking, server.url, "--strict")
    assert (answer.code, "not refreshed" in words_of(answer)) == (0, False)


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-Inf", "9223372036854775794"])
def test_numbers_that_are_none_reach_no_run(asking: Project, value: str) -> None:
    with served(tells(rows(value, value))) as server:
        assert suggest(asking, server.url).code == 0
    history = json.loads(asking.jpo("history", "--format", "json").out)
    assert not [run for run in history["runs"] if run["run_id"].startswith("strange") and run["status"] == "succeeded"]


def test_a_label_value_with_quotes_stays_one_value(asking: Project) -> None:
    config = asking.config.read_text()
    asking.config.write_text(config.replace("dataset = digits", 'dataset = o\'brien "x"} or up{a="\\'))
    with served(tells(NOTHING)) as server:
        assert suggest(asking, server.url, "--strict").code == 0
    query, _ = next(iter(tries_of_each(server)))
    assert r'''dataset="o'brien \"x\"} or up{a=\"\\"''' in query


def test_credentials_in_the_url_are_sent_and_kept_nowhere(asking: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JPO_PROMETHEUS__AUTH__TOKEN")
    toml = (asking.folder / "jpo.toml").read_text()
    (asking.folder / "jpo.toml").write_text(toml.replace('auth = { type = "bearer" }\n', ""))
    with served(echoes) as server:
        monkeypatch.setenv("PROMETHEUS_URL", server.url.replace("//", f"//me:{PASSWORD}@"))
        answer = asking.jpo("suggest", "config.ini", "--no-learn")
    assert (answer.code, "Authorization: Basic [hidden]" in words_of(answer)) == (0, True)
    assert hides_secrets(asking, answer)
