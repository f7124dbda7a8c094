"""One call and what its answer means; what notes make of it is in test_notes.py."""

from __future__ import annotations

import pytest
from answering import sends, served
from code_hosts import code_host, refuses

from jpo.errors import CodeHostError
from jpo.plugins.ci.code_host.calls import Calls, InDoubtError
from jpo.plugins.ci.code_host.merge_request import NOTE, HostAccess


def calls_to(url: str) -> Calls:
    return Calls(HostAccess(NOTE, "github", url, "team/job", "s3cret-token"), timeout_seconds=5.0)


def test_an_answer_is_its_json_and_headers() -> None:
    with served(sends([1], Link="next")) as server, calls_to(server.url) as calls:
        found, headers = calls.ask("GET", "x", query={"page": 2})
    assert (found, headers["Link"], server.asked) == ([1], "next", ["GET /x?page=2"])


def test_a_rate_limit_is_trouble_that_passes_though_it_says_forbidden() -> None:
    limited = sends({"message": "secondary rate limit"}, 403, Retry_After="0", **{"X-RateLimit-Remaining": "0"})
    with served(limited, sends({"id": 1})) as server, calls_to(server.url) as calls:
        assert calls.ask("GET", "user")[0] == {"id": 1}


@pytest.mark.parametrize("status", [500, 501, 503, 520])
def test_a_post_is_in_doubt_after_trouble_and_not_repeated(status: int) -> None:
    with code_host("github") as host, calls_to(host.url) as calls:
        host.faults["POST"] = [refuses(status, {"message": "try later"})] * 2
        with pytest.raises(InDoubtError, match=rf"is not available \(HTTP {status}\): try later"):
            calls.ask("POST", "repos/team/job/issues/5/comments", body={"body": "b"})
        assert len(host.asked) == 1


@pytest.mark.parametrize("body", [b"[" * 200_000, b"", b"3", b"\xff\xfe", b'{"id": 1, "id": 2}', b'{"id": 1e999}'])
def test_json_that_is_none_is_no_answer(body: bytes) -> None:
    with served(sends(body)) as server, calls_to(server.url) as calls:
        with pytest.raises(CodeHostError, match="no JSON") as caught:
            calls.ask("GET", "x")
        assert caught.value.code == "JPO-E906"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"message": "no", "errors": [{"message": "may not open any"}, "twice"]}, "no: may not open any: twice"),
        ({"message": "no", "errors": [{"resource": "PullRequest", "field": "base", "code": "invalid"}]}, "no: base invalid"),
        ({"message": ["another one exists: !3"]}, "another one exists: !3"),
        ({"message": {"base": ["is gone", "is\n::error::bad"]}}, "base is gone: base is ::error::bad"),
        ({"error": "insufficient_scope", "message": "insufficient_scope"}, "insufficient_scope"),
        ({"message": [[[[["deep"]]]]]}, "no reason given"),
        ([], "no reason given"),
    ],
)
def test_a_refusal_is_told_in_the_hosts_own_words(said: object, words: str) -> None:
    with served(sends(said, 422)) as server, calls_to(server.url) as calls, pytest.raises(CodeHostError) as caught:
        calls.ask("GET", "x")
    assert caught.value.finding == f"refused the note (HTTP 422): {words}"
