"""One note per workload on GitLab and GitHub, against a double that checks every call by the published schemas."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from code_hosts import ANOTHER_BOT, ME, SOMEBODY, TOKEN, CodeHost, code_host, does_it_and_hangs_up, hangs_up, refuses

from jpo.errors import CodeHostError
from jpo.plugins.ci.code_host import notes
from jpo.plugins.ci.code_host.merge_request import merge_request_of
from jpo.plugins.ci.code_host.notes import Written, put_note

MARK = "<!-- jpo:suggestion:0123 -->"
OLD, NEW = f"{MARK}\n\nold\n", f"{MARK}\n\nnew\n"
KINDS = ["gitlab", "github"]
UPDATE = {"gitlab": "PUT", "github": "PATCH"}


@pytest.fixture(params=KINDS)
def host(request: pytest.FixtureRequest) -> Any:
    with code_host(request.param) as one:
        yield one


def put(host: CodeHost, folder: Path, body: str = NEW, *, seconds: float = 10.0, **environment: str) -> Written:
    request = merge_request_of({**host.environment(folder), **environment})
    assert request is not None
    written = put_note(request, MARK, body, timeout_seconds=seconds)
    assert written is not None
    return written


def calls(host: CodeHost, method: str) -> int:
    return sum(asked.startswith(f"{method} ") for asked in host.asked)


def test_the_first_note_is_written_and_the_next_ones_update_it(host: CodeHost, tmp_path: Path) -> None:
    host.add(SOMEBODY, "looks good")
    first = put(host, tmp_path, OLD)
    assert (first.how, host.bodies()) == ("written", [OLD])
    assert (
        first.url.rpartition("#")[0]
        == {
            "gitlab": "https://gitlab.example.com/team/job/-/merge_requests/5",
            "github": "https://github.example.com/team/job/pull/5",
        }[host.kind]
    )
    assert (put(host, tmp_path).how, host.bodies()) == ("updated", [NEW])
    assert (put(host, tmp_path).how, calls(host, UPDATE[host.kind]), calls(host, "POST")) == ("unchanged", 1, 1)


def test_a_note_of_another_workload_or_author_is_not_touched(host: CodeHost, tmp_path: Path) -> None:
    host.add(SOMEBODY, OLD)
    host.add(ME, f"> {OLD}")
    host.add(ME, OLD.replace("0123", "4567"))
    assert (put(host, tmp_path).how, host.bodies(SOMEBODY), len(host.bodies())) == ("written", [OLD], 3)


def test_the_token_of_a_workflow_knows_its_own_note_though_it_may_not_ask_who_it_is(tmp_path: Path) -> None:
    with code_host("github", is_app=True) as host:
        host.add(SOMEBODY, OLD)
        assert [put(host, tmp_path, body).how for body in (OLD, NEW)] == ["written", "updated"]
        assert (host.bodies(SOMEBODY), host.bodies()) == ([OLD], [NEW])


def test_the_note_of_another_bot_is_left_and_does_not_stand_in_the_way(tmp_path: Path) -> None:
    with code_host("github", is_app=True) as host:
        host.add(ANOTHER_BOT, OLD)
        assert [put(host, tmp_path, body).how for body in (OLD, NEW)] == ["unchanged", "written"]
        assert (host.bodies(ANOTHER_BOT), host.bodies()) == ([OLD], [NEW])


def test_it_is_found_on_a_later_page(host: CodeHost, tmp_path: Path) -> None:
    host.per_page = 2
    for number in range(5):
        host.add(SOMEBODY, f"remark {number}")
    host.add(ME, OLD)
    assert (put(host, tmp_path).how, host.bodies()) == ("updated", [NEW])


def test_of_several_own_notes_the_oldest_is_kept(host: CodeHost, tmp_path: Path) -> None:
    oldest = host.add(ME, OLD)
    host.add(ME, OLD)
    host.add(ME, NEW)
    done = put(host, tmp_path)
    assert (done.how, done.removed, done.left, host.notes) == ("updated", 2, None, {oldest: (ME, NEW)})


def test_a_further_one_that_cannot_be_deleted_is_said_and_the_note_is_right(host: CodeHost, tmp_path: Path) -> None:
    host.add(ME, OLD)
    host.add(ME, OLD)
    host.faults["DELETE"] = [refuses(403)]
    done = put(host, tmp_path)
    assert (done.how, done.removed, host.bodies()) == ("updated", 0, [NEW, OLD])
    assert "does not let this token do that (HTTP 403)" in str(done.left)


def test_one_that_was_deleted_meanwhile_is_written_anew(host: CodeHost, tmp_path: Path) -> None:
    number = host.add(ME, OLD)
    host.faults[UPDATE[host.kind]] = [lambda _: host.notes.pop(number) is None]
    assert (put(host, tmp_path).how, host.bodies()) == ("written", [NEW])


@pytest.mark.parametrize("fault", [refuses(502, html=True), refuses(429, Retry_After="0"), hangs_up], ids=["502", "429", "cut"])
@pytest.mark.parametrize("method", ["GET", "POST", "update"])
def test_trouble_that_passes_is_survived(host: CodeHost, tmp_path: Path, method: str, fault: Any) -> None:
    if method == "update":
        host.add(ME, OLD)
    host.faults[UPDATE[host.kind] if method == "update" else method] = [fault]
    put(host, tmp_path)
    assert host.bodies() == [NEW]


def test_a_note_that_arrived_though_nobody_said_so_is_not_written_twice(host: CodeHost, tmp_path: Path) -> None:
    host.faults["POST"] = [does_it_and_hangs_up]
    assert (put(host, tmp_path).how, host.bodies(), calls(host, "POST")) == ("written", [NEW], 1)


REFUSED = {
    "401": (refuses(401), "JPO-E901", "does not accept the token (HTTP 401): no; "),
    "403": (refuses(403), "JPO-E902", "does not let this token do that (HTTP 403): no; "),
    "scope": (refuses(403, {"error": "insufficient_scope", "scope": "api"}), "JPO-E902", "insufficient_scope; "),
    "404": (refuses(404), "JPO-E903", "knows no such merge request, or does not show it to this token (HTTP 404): no"),
    "409": (refuses(409), "JPO-E904", "refused the note (HTTP 409): no"),
    "410": (refuses(410), "JPO-E904", "refused the note (HTTP 410): no"),
    "422": (
        refuses(422, {"message": {"note": ["is too\n::error::long"]}}),
        "JPO-E904",
        "refused the note (HTTP 422): note is too ",
    ),
    "html": (refuses(200, html=True), "JPO-E906", "answered with HTTP 200 and no JSON (a sign-in page?)"),
    "html 404": (refuses(404, html=True), "JPO-E903", "knows no such merge request"),
    "a number": (refuses(200, 3), "JPO-E906", "and no JSON"),
    "an object": (refuses(201, {"id": "x"}), "JPO-E906", "answered with something else than notes"),
    "redirect": (refuses(302, Location="https://sign-in.example/"), "JPO-E906", "redirects to another server"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_is_one_line_and_nothing_is_half_done(host: CodeHost, tmp_path: Path, name: str) -> None:
    fault, code, words = REFUSED[name]
    host.faults["POST"] = [fault]
    with pytest.raises(CodeHostError) as caught:
        put(host, tmp_path)
    text = str(caught.value)
    assert (caught.value.code, host.notes, calls(host, "POST")) == (code, {}, 1)
    assert words in text
    assert TOKEN not in text
    assert "\n" not in text


def test_a_host_that_is_down_for_long_is_given_up_at_the_deadline(host: CodeHost, tmp_path: Path) -> None:
    host.faults["GET"] = [refuses(503)] * 9
    with pytest.raises(CodeHostError, match=r"is not available \(HTTP 503\)") as caught:
        put(host, tmp_path, seconds=1.0)
    assert (caught.value.code, host.notes) == ("JPO-E905", {})


def test_a_token_that_the_server_repeats_is_in_no_message(tmp_path: Path) -> None:
    with code_host("gitlab") as host:
        host.faults["GET"] = [refuses(400, {"message": f"bad token {TOKEN}"})]
        with pytest.raises(CodeHostError) as caught:
            put(host, tmp_path)
        assert "bad token [hidden]" in str(caught.value)


def test_a_wrong_token_and_a_closed_port_say_what_to_do(host: CodeHost, tmp_path: Path) -> None:
    name = "JPO_COMMENT_TOKEN"
    with pytest.raises(CodeHostError, match="does not accept the token"):
        put(host, tmp_path, **{name: "another"})
    address = {"CI_API_V4_URL": "http://127.0.0.1:9/api/v4", "GITHUB_API_URL": "http://127.0.0.1:9"}
    with pytest.raises(CodeHostError, match="no connection; is it reachable from the runner") as caught:
        put(host, tmp_path, **address)
    assert caught.value.code == "JPO-E905"


def test_a_note_beyond_all_bounds_is_never_sent(host: CodeHost, tmp_path: Path) -> None:
    with pytest.raises(CodeHostError, match="60000 are the most"):
        put(host, tmp_path, MARK + "x" * notes.LARGEST_BODY)
    assert host.asked == []


def test_nothing_of_the_environment_but_the_proxy_free_session_speaks(
    host: CodeHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert os.environ["http_proxy"]
    assert put(host, tmp_path).how == "written"
