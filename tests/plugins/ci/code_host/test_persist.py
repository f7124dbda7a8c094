"""One merge request per workload on GitLab and GitHub, against a double that checks every call by the published schemas."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from code_hosts import TOKEN, CodeHost, code_host, does_it_and_hangs_up, hangs_up, refuses
from repositories import FORK

from jpo.errors import CodeHostError, ConflictError, JpoError
from jpo.plugins.ci.code_host.changes import ProposedChange
from jpo.plugins.ci.code_host.persist import Persisted, marker, persist
from jpo.plugins.ci.code_host.repository import Repository, repository_of

if TYPE_CHECKING:
    from repositories import GitRepository

PATH, BRANCH = "train/config.ini", "jpo/digits_cnn.0123456789ab"
COMMITTED, TUNED = b"[training]\r\nbatch_size = 64\r\n", b"[training]\r\nbatch_size = 128\r\n"
VALUES, OTHER_VALUES = "a" * 32, "b" * 32
WANTED = ProposedChange(BRANCH, PATH, TUNED, VALUES, "JPO: values", f"{marker(VALUES)}\n\nbecause\n", "Values in force")
MORE = replace(WANTED, content=TUNED.replace(b"128", b"256"), values=OTHER_VALUES, body=WANTED.body.replace(VALUES, OTHER_VALUES))
WRITES = ("POST", "PUT", "PATCH", "DELETE")


@pytest.fixture(params=["gitlab", "github"])
def host(request: pytest.FixtureRequest) -> Any:
    with code_host(request.param) as one:
        one.repository.commit("main", {PATH: COMMITTED, "train.py": b"print()\n", "jpo.toml": b""}, "first")
        yield one


def here(host: CodeHost, folder: Path, commit: str | None = None, **changed: str) -> Repository:
    found = repository_of({**host.nightly(folder, commit or host.repository.branches["main"]), **changed})
    assert isinstance(found, Repository)
    return found


def put(
    host: CodeHost, folder: Path, wanted: ProposedChange = WANTED, commit: str | None = None, seconds: float = 10.0
) -> Persisted:
    main = host.repository.branches.get("main")
    done = persist(here(host, folder, commit), wanted, timeout_seconds=seconds)
    assert host.repository.branches.get("main") == main, "nobody writes to the default branch"
    return done


def writes(host: CodeHost) -> int:
    return sum(asked.startswith(WRITES) for asked in host.asked)


def whole(git: GitRepository, content: bytes = TUNED) -> None:
    """The branch has this config.ini, all else as on main, and nothing in its history is lost."""
    head, main = (git.commits[git.branches[name]] for name in (BRANCH, "main"))
    assert head.files == {**main.files, PATH: (main.files[PATH][0], content)}


def test_it_is_opened_once_and_then_brought_up_to_date(host: CodeHost, tmp_path: Path) -> None:
    git = host.repository
    git.commits[git.branches["main"]].files[PATH] = ("100755", COMMITTED)
    first = put(host, tmp_path)
    assert (first.how, [one.source for one in git.open], git.open[0].target) == ("opened", [BRANCH], "main")
    assert (git.open[0].title, git.open[0].body) == (WANTED.title, WANTED.body)
    whole(git)
    before = writes(host)
    assert (put(host, tmp_path).how, writes(host)) == ("unchanged", before)
    assert put(host, tmp_path, MORE).how == "updated"
    assert (len(git.proposals), git.open[0].body) == (1, MORE.body)
    whole(git, MORE.content)


def test_a_new_reason_for_the_same_values_is_a_new_text_alone(host: CodeHost, tmp_path: Path) -> None:
    put(host, tmp_path)
    head = host.repository.branches[BRANCH]
    assert put(host, tmp_path, replace(WANTED, body=WANTED.body + "and more\n")).how == "updated"
    assert (host.repository.branches[BRANCH], host.repository.open[0].body.endswith("more\n")) == (head, True)


def test_it_follows_the_default_branch(host: CodeHost, tmp_path: Path) -> None:
    git = host.repository
    put(host, tmp_path)
    git.commit("main", {"train.py": b"print(1)\n"})
    assert put(host, tmp_path).how == "updated"
    whole(git)
    ahead, paths, parted = git.compared(git.branches["main"], git.branches[BRANCH])
    assert (paths, parted) == ([PATH], git.branches["main"])
    assert len(ahead) == (1 if host.kind == "gitlab" else 2)
    assert put(host, tmp_path).how == "unchanged"


def test_a_comment_in_the_committed_file_is_kept_by_the_next_pipeline(host: CodeHost, tmp_path: Path) -> None:
    put(host, tmp_path)
    host.repository.commit("main", {PATH: b"# new\r\n" + COMMITTED})
    wanted = replace(WANTED, content=b"# new\r\n" + TUNED)
    assert put(host, tmp_path, wanted).how == "updated"
    whole(host.repository, wanted.content)


@pytest.mark.parametrize("there", [b"# new\r\n" + COMMITTED, None])
def test_a_config_ini_that_moved_since_the_checkout_is_left_alone(host: CodeHost, tmp_path: Path, there: bytes | None) -> None:
    git = host.repository
    checked_out = git.branches["main"]
    if there is None:
        files = {"elsewhere.ini": git.commits[checked_out].files[PATH]}
        git.add("main", type(git.commits[checked_out])("moved", [checked_out], files))
    else:
        git.commit("main", {PATH: there})
    with pytest.raises(ConflictError) as caught:
        put(host, tmp_path, commit=checked_out)
    assert (caught.value.code, caught.value.exit_code, writes(host), git.proposals) == ("JPO-E923", 6, 0, [])


def test_it_goes_on_though_other_files_have_changed_since_the_checkout(host: CodeHost, tmp_path: Path) -> None:
    checked_out = host.repository.branches["main"]
    host.repository.commit("main", {"train.py": b"print(2)\n"})
    assert put(host, tmp_path, commit=checked_out).how == "opened"
    whole(host.repository)


def test_a_branch_is_kept_up_to_date_again_when_a_persons_commit_is_taken_off_it(host: CodeHost, tmp_path: Path) -> None:
    """On GitHub there is no other way: it closes the pull request of a deleted branch, which is a person's no."""
    git = host.repository
    put(host, tmp_path)
    ours = git.branches[BRANCH]
    git.commit(BRANCH, {"train.py": b"print(3)\n"})
    left = put(host, tmp_path, MORE)
    assert (left.how, left.why.endswith("it is left alone until they are taken off it")) == ("left", True)
    git.branches[BRANCH] = ours
    assert put(host, tmp_path, MORE).how == "updated"
    whole(git, MORE.content)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"train.py": b"print(3)\n"}, "a person's"),
        ({PATH: b"[training]\r\nbatch_size = 100\r\n"}, "a person's"),
        ({PATH: b"[training]\r\nbatch_size = 100\r\n"}, "ours"),
        ({"train.py": b"print(3)\n"}, "ours"),
        ({}, "empty"),
    ],
)
def test_a_persons_commit_on_the_branch_is_respected(
    host: CodeHost, tmp_path: Path, files: dict[str, bytes], message: str
) -> None:
    git = host.repository
    put(host, tmp_path)
    ours = git.commits[git.branches[BRANCH]].message
    git.commit(BRANCH, files, ours if message == "ours" else message)
    head, before = git.branches[BRANCH], writes(host)
    for wanted in (WANTED, MORE, replace(WANTED, content=COMMITTED)):
        done = put(host, tmp_path, wanted)
        assert (done.how, "of somebody else" in done.why, git.branches[BRANCH], writes(host)) == ("left", True, head, before)
    del git.branches[BRANCH]
    assert put(host, tmp_path, MORE).how == "updated"
    whole(git, MORE.content)


def test_a_commit_that_a_person_has_amended_is_a_persons(host: CodeHost, tmp_path: Path) -> None:
    git = host.repository
    put(host, tmp_path)
    git.commit(
        BRANCH, {PATH: b"[training]\r\nbatch_size = 100\r\n"}, git.commits[git.branches[BRANCH]].message, git.branches["main"]
    )
    head = git.branches[BRANCH]
    assert (put(host, tmp_path, MORE).how, git.branches[BRANCH]) == ("left", head)


def test_a_person_who_is_faster_loses_nothing(host: CodeHost, tmp_path: Path) -> None:
    """The commit arrives after the branch was looked at, and before it is written."""
    git = host.repository
    put(host, tmp_path)
    git.commit("main", {"train.py": b"print(1)\n"})

    def pushed(_: object) -> bool:
        git.commit(BRANCH, {"train.py": b"mine\n"}, "a person's")
        return False

    looks = host.asked.__len__
    if host.kind == "github":
        host.faults["PATCH"] = [pushed]
    else:  # the last look before the commit: four of branches, two of files, two comparisons and one list come before
        put_looks = looks()
        host.faults["GET"] = [*[lambda _: False] * 7, pushed]
        assert put_looks
    done = put(host, tmp_path, MORE)
    assert (done.how, git.file(BRANCH, "train.py")) == ("left", b"mine\n")


def test_what_a_person_has_closed_is_not_proposed_again_but_other_values_are(host: CodeHost, tmp_path: Path) -> None:
    git = host.repository
    put(host, tmp_path)
    git.open[0].state = "closed"
    if host.kind == "github":
        del git.branches[BRANCH]
    before = writes(host)
    for _ in range(2):
        done = put(host, tmp_path, replace(WANTED, body=f"{WANTED.body}another night\n"))
        assert (done.how, "closed by a person" in done.why, git.open, writes(host)) == ("none", True, [], before)
    assert put(host, tmp_path, MORE).how == "opened"
    whole(git, MORE.content)
    git.proposals[0].state = "opened"
    git.proposals[1].state = "merged"
    assert put(host, tmp_path).how == "updated", "reopened by a person"


def test_it_is_closed_when_the_default_branch_has_the_values(host: CodeHost, tmp_path: Path) -> None:
    git = host.repository
    put(host, tmp_path)
    git.commit("main", {PATH: TUNED}, "by hand, the same")
    done = put(host, tmp_path)
    assert (done.how, git.open, git.proposals[0].state, BRANCH in git.branches) == ("closed", [], "closed", False)
    assert put(host, tmp_path).how == "none"
    git.commit("main", {PATH: COMMITTED}, "reverted")
    assert put(host, tmp_path).how == "opened", "JPO closed it itself: that is no person's no"


def test_after_a_merge_the_next_values_get_a_new_one(host: CodeHost, tmp_path: Path) -> None:
    git = host.repository
    put(host, tmp_path)
    git.commit("main", {PATH: TUNED}, "merged", git.branches["main"], git.branches[BRANCH])
    git.proposals[0].state = "merged"
    assert put(host, tmp_path).how == "none"
    assert put(host, tmp_path, MORE).how == "opened"
    whole(git, MORE.content)
    git.commit("main", {PATH: MORE.content}, "squashed")
    git.proposals[1].state = "merged"
    assert put(host, tmp_path, replace(MORE, content=TUNED)).how == "opened"


def test_another_workload_and_a_branch_of_a_fork_are_not_touched(host: CodeHost, tmp_path: Path) -> None:
    git = host.repository
    put(host, tmp_path, replace(WANTED, branch="jpo/other.0", values=OTHER_VALUES))
    made = git.opened(BRANCH, "main", "a fork's", "theirs")
    assert made
    made.project = FORK
    assert put(host, tmp_path).how == "opened"
    assert (made.title, made.body, len(git.open)) == ("a fork's", "theirs", 3)


def test_of_two_pipelines_at_once_the_second_finds_what_the_first_did(host: CodeHost, tmp_path: Path) -> None:
    git = host.repository

    def other(_: object) -> bool:
        host.faults.clear()
        put(host, tmp_path)
        return False

    host.faults["POST"] = [lambda _: False] * (0 if host.kind == "gitlab" else 3) + [other]  # type: ignore[operator]
    assert put(host, tmp_path).how in ("unchanged", "updated")
    assert len(git.open) == 1
    whole(git)


def test_and_so_it_does_with_the_merge_request(host: CodeHost, tmp_path: Path) -> None:
    def other(_: object) -> bool:
        host.faults.clear()
        put(host, tmp_path)
        return False

    host.faults["POST"] = [lambda _: False] * (1 if host.kind == "gitlab" else 4) + [other]  # type: ignore[operator]
    assert put(host, tmp_path).how in ("unchanged", "updated")
    assert len(host.repository.open) == 1


@pytest.mark.parametrize("call", range(5))
def test_a_write_that_arrived_though_nobody_said_so_is_not_made_twice(host: CodeHost, tmp_path: Path, call: int) -> None:
    host.faults["POST"] = [lambda _: False] * call + [does_it_and_hangs_up]  # type: ignore[operator]
    assert put(host, tmp_path).how in ("opened", "unchanged", "updated")
    assert len(host.repository.open) == 1
    whole(host.repository)


@pytest.mark.parametrize("fault", [refuses(502, html=True), refuses(429, Retry_After="0"), hangs_up], ids=["502", "429", "cut"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_trouble_that_passes_is_survived(host: CodeHost, tmp_path: Path, method: str, fault: Any) -> None:
    host.faults[method] = [fault]
    assert put(host, tmp_path).how == "opened"
    whole(host.repository)


REFUSED = {
    "401": (refuses(401), "JPO-E901", "does not accept the token (HTTP 401): no; "),
    "403": (refuses(403), "JPO-E902", "does not let this token do that (HTTP 403): no; "),
    "404": (
        refuses(404),
        "JPO-E903",
        "knows no such branch, file or merge request, or does not show it to this token (HTTP 404)",
    ),
    "409": (refuses(409), "JPO-E904", "refused the proposal (HTTP 409): no"),
    "422": (refuses(422, {"message": ["is\n::error::bad"]}), "JPO-E904", "refused the proposal (HTTP 422): is ::error::bad"),
    "an object": (refuses(201, {"sha": 3, "id": 3}), "JPO-E906", "answered with something else than was asked for"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("call", range(5))
def test_a_refusal_of_any_write_is_one_line_and_main_is_whole(host: CodeHost, tmp_path: Path, name: str, call: int) -> None:
    fault, code, words = REFUSED[name]
    last = 1 if host.kind == "gitlab" else 4
    if call > last or (name == "an object" and call < last and (host.kind == "gitlab" or call == 3)):
        pytest.skip("there are fewer calls, or nobody reads the answer")
    host.faults["POST"] = [lambda _: False] * call + [fault] * 2  # type: ignore[operator]
    with pytest.raises(CodeHostError) as caught:
        put(host, tmp_path)
    host.faults.clear()
    text = str(caught.value)
    assert (caught.value.code, caught.value.exit_code, host.repository.open) == (code, 4, [])
    assert words in text
    assert TOKEN not in text
    assert "\n" not in text
    assert put(host, tmp_path).how == "opened", "the next pipeline repairs it"
    whole(host.repository)


def test_a_protected_branch_is_said_to_be_one(host: CodeHost, tmp_path: Path) -> None:
    host.repository.protected.add(BRANCH)
    with pytest.raises(CodeHostError, match=r"not allowed to push|Protected branch") as caught:
        put(host, tmp_path)
    assert caught.value.code in ("JPO-E902", "JPO-E904")


def test_a_host_that_is_down_for_long_is_given_up_at_the_deadline(host: CodeHost, tmp_path: Path) -> None:
    host.faults["GET"] = [refuses(503)] * 1000
    with pytest.raises(CodeHostError) as caught:
        put(host, tmp_path, seconds=1.0)
    assert (caught.value.code, "the next pipeline tries again" in str(caught.value)) == ("JPO-E905", True)


def test_a_wrong_token_a_branch_that_is_gone_and_a_link(host: CodeHost, tmp_path: Path) -> None:
    git = host.repository
    with pytest.raises(CodeHostError, match=r"JPO_PERSIST_TOKEN|github\.token") as refused:
        persist(here(host, tmp_path, JPO_PERSIST_TOKEN="wrong"), WANTED, timeout_seconds=5)
    assert refused.value.code == "JPO-E901"
    if host.kind == "github":  # GitLab does not say what is a link; the pipeline has refused one before
        git.commits[git.branches["main"]].files[PATH] = ("120000", b"/etc/passwd")
        with pytest.raises(ConflictError, match="not a plain file"):
            put(host, tmp_path)
    commit = git.branches.pop("main")
    with pytest.raises(JpoError) as gone:
        put(host, tmp_path, commit=commit)
    assert gone.value.code == "JPO-E903"
