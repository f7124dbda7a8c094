"""GitHub's workflows and actions, evaluated by GitHub's own language services: what runs at which event, and with what."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml

from jpo.plugins.ci.start.pipeline import pipeline_file

FOLDER = Path(__file__).parents[2] / "pipelines" / "github"
FILES = {str(path.relative_to(FOLDER)): path.read_text("utf-8") for path in sorted(FOLDER.rglob("*.yml"))}
TRAIN, LEARN = FILES["example-workflow.yml"], FILES["example-learn.yml"]
SECOND = pipeline_file("github", "b/config.ini", beside_others=True).text
THIRD = pipeline_file("github", "b/c/job.ini", "b", beside_others=True).text
FILES |= {"init of a second": SECOND, "init of a third": THIRD}
EVERYTHING = {"suggest", "guard", "train", "record"}
PERSIST = {"JPO_PERSIST": "merge-request"}
JOBS = {text: yaml.safe_load(text)["jobs"] for text in FILES.values() if "\njobs:\n" in text}

Document = dict[str, Any]
Read = Callable[..., Document]


@pytest.fixture(scope="module")
def read(github_language: str) -> Iterator[Read]:
    """Reads a file; its `errors`, or the `document` with every expression replaced by what it is in the contexts given."""
    command = ["node", str(Path(__file__).with_name("github_language.mjs")), github_language]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as node:

        def answer(
            text: str, contexts: Mapping[str, Any] | None = None, *, succeeded: bool = True, cancelled: bool = False
        ) -> Document:
            assert node.stdin
            assert node.stdout
            names = ("github", "needs", "vars", "secrets", "inputs", "steps", "runner")
            status = {"success": succeeded and not cancelled, "failure": not succeeded, "cancelled": cancelled, "always": True}
            kind = "action" if "\nruns:\n" in text else "workflow"
            given = {**{name: {} for name in names}, **(contexts or {})}
            node.stdin.write(json.dumps({"kind": kind, "text": text, "contexts": given, "status": status}) + "\n")
            node.stdin.flush()
            told: Document = json.loads(node.stdout.readline())
            return told

        yield answer


def happens(event: str, *, run: int = 1, attempt: int = 1, branch: str = "main", head: str = "", fork: bool = False) -> Document:
    """The context `github` of an event; of a pull request from the branch `head`."""
    of_branch = {"ref": f"refs/heads/{branch}", "ref_name": branch, "head_ref": "", "event": {}}
    request = {"number": 5, "head": {"ref": head, "repo": {"fork": fork}}}
    of_request = {"ref": "refs/pull/5/merge", "ref_name": "5/merge", "head_ref": head, "event": {"pull_request": request}}
    either = of_request if event == "pull_request" else of_branch
    return {**either, "event_name": event, "run_id": str(run), "run_attempt": str(attempt), "token": "of-the-job"}


PUSH = happens("push")
BRANCH, FORK = happens("pull_request", head="lab"), happens("pull_request", head="lab", fork=True)
OURS = happens("pull_request", head="jpo/shop")


def played(
    read: Read,
    text: str,
    github: Document,
    *,
    cancelled: bool = False,
    ends: Mapping[str, str] = MappingProxyType({}),
    **contexts: Any,
) -> Document:
    """The jobs that run, by name; `ends`: those that do not end in success; `cancelled`: the whole, while its first job ran."""
    results: dict[str, Document] = {}
    jobs: Document = {}
    for name, job in JOBS[text].items():
        needs = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
        known = {"github": github, "needs": {one: results[one] for one in needs}, **contexts}
        succeeded = all(results[one]["result"] == "success" for one in needs)
        stopped = cancelled and bool(needs)
        told = read(text, known, succeeded=succeeded, cancelled=stopped)
        assert told["errors"] == []
        assert github["event_name"] in told["document"]["on"]
        given = told["document"]["jobs"][name]
        runs = given.get("if", succeeded and not stopped)
        results[name] = {"result": ends.get(name, "success") if runs else "skipped"}
        jobs |= {name: given} if runs else {}
    return jobs


def used(read: Read, step: Document) -> dict[str, Document]:
    """The steps of an action of ours, by name, with what a job gives it."""
    place = step["uses"].partition("@")[0].partition("pipelines/github")[2].strip("/")
    text = FILES[str(Path(place) / "action.yml")]
    inputs = {name: one.get("default") for name, one in yaml.safe_load(text)["inputs"].items()} | step["with"]
    steps = {
        "python": {"outputs": {"python-path": "/python"}},
        "install": {"outputs": {"wheels": "jpo-torch-1"}},
        "report": {"outputs": {"report": "/r"}},
    }
    told = read(text, {"inputs": inputs, "steps": steps, "runner": {"os": "Linux", "arch": "X64", "temp": "/t"}})
    assert told["errors"] == []
    return {one["name"]: one for one in told["document"]["runs"]["steps"]}


def of_jpo(job: Document, **more: str) -> Document:
    """The step of a job that uses an action of ours, with further inputs."""
    (step,) = [step for step in job["steps"] if "jpo/pipelines/github" in step.get("uses", "")]
    return {**step, "with": step["with"] | more}


def cache(job: Document) -> tuple[str, list[str]]:
    """The key under which a job saves the history, and the beginnings of those that it restores, the first that fits."""
    (given,) = [step["with"] for step in job["steps"] if step.get("uses", "").startswith("actions/cache@")]
    return given["key"], given["restore-keys"].split()


@pytest.mark.parametrize("name", FILES)
def test_github_has_nothing_to_say_about_a_file(read: Read, name: str) -> None:
    assert read(FILES[name])["errors"] == []


@pytest.mark.parametrize(
    ("file", "right", "wrong", "error"),
    [
        (
            "example-workflow.yml",
            "vars.PROMETHEUS_URL == ''",
            "secrets.PROMETHEUS_TOKEN == ''",
            "Unrecognized named-value: 'secrets'",
        ),
        (
            "example-workflow.yml",
            "startsWith(github.head_ref, 'jpo/')",
            "startsWith(github.head_ref)",
            "Too few parameters supplied",
        ),
        ("example-workflow.yml", "needs: [suggest, guard]", "needs: [suggest, gaurd]", "gaurd"),
        ("example-learn.yml", "17 3 * * *", "17 25 * * *", "cron"),
        ("action.yml", "inputs.learn == 'true'", 'inputs.learn == "true"', "Unexpected symbol"),
        ("action.yml", "${{ runner.temp }}", "${{ secrets.TEMP }}", "Unrecognized named-value: 'secrets'"),
    ],
)
def test_it_would_say_it(read: Read, file: str, right: str, wrong: str, error: str) -> None:
    assert right in FILES[file]
    assert error in "".join(read(FILES[file].replace(right, wrong))["errors"])


@pytest.mark.parametrize(
    ("given", "runs"),
    [
        ({"github": PUSH}, EVERYTHING),
        ({"github": PUSH, "vars": PERSIST}, EVERYTHING | {"persist"}),
        ({"github": PUSH, "vars": {"JPO_PERSIST": "none"}}, EVERYTHING),
        ({"github": PUSH, "vars": {"PROMETHEUS_URL": "http://p:9090"}}, EVERYTHING - {"record"}),
        ({"github": BRANCH, "vars": PERSIST}, EVERYTHING),
        ({"github": FORK, "vars": PERSIST}, EVERYTHING),
        ({"github": OURS, "vars": PERSIST}, set()),
        ({"github": PUSH, "vars": PERSIST, "ends": {"suggest": "failure"}}, {"suggest"}),
        ({"github": PUSH, "vars": PERSIST, "ends": {"guard": "failure"}}, {"suggest", "guard"}),
        ({"github": PUSH, "ends": {"train": "failure"}}, EVERYTHING),
        ({"github": PUSH, "vars": PERSIST, "cancelled": True}, {"suggest"}),
    ],
)
@pytest.mark.parametrize("text", [TRAIN, THIRD], ids=["example", "init"])
def test_an_event_starts_the_jobs_that_the_pipeline_means(read: Read, text: str, given: Document, runs: set[str]) -> None:
    jobs = played(read, text, **given)
    assert set(jobs) == runs
    if "train" in jobs:
        assert jobs["train"]["steps"][-1]["if"] is True, "the log of a training that failed is kept, too"


def test_a_pull_request_from_a_fork_asks_nobody_and_writes_nothing(read: Read) -> None:
    jobs = played(read, TRAIN, FORK, vars=PERSIST | {"PROMETHEUS_URL": ""}, secrets={"GITHUB_TOKEN": "of-the-job"})
    assert [name for name, job in jobs.items() if "permissions" in job] == [], "all of them may read, and nothing else"
    assert "of-the-job" not in json.dumps(jobs)
    steps = used(read, of_jpo(jobs["suggest"], **{"comment-token": "of-the-job"}))
    assert steps["Comment"]["if"] is False
    environment = steps["Suggest"]["env"]
    assert environment["JPO_INPUT_OFFLINE"] == "true"
    assert {environment[f"JPO_INPUT_{name}"] for name in ("PROMETHEUS_TOKEN", "STORE_URL")} == {""}
    assert not cache(jobs["record"])[0].startswith(cache(played(read, TRAIN, PUSH)["suggest"])[1][0])


@pytest.mark.parametrize("event", [PUSH, BRANCH])
def test_with_secrets_prometheus_and_the_store_are_asked(read: Read, event: Document) -> None:
    secrets = {"PROMETHEUS_TOKEN": "s3cret", "JPO_STORE_URL": "postgresql://db/jpo"}
    jobs = played(read, TRAIN, event, vars={"PROMETHEUS_URL": "http://p:9090"}, secrets=secrets)
    steps = used(read, of_jpo(jobs["suggest"], **{"comment-token": "t"}))
    environment = steps["Suggest"]["env"]
    given = {name: environment[f"JPO_INPUT_{name}"] for name in ("OFFLINE", "PROMETHEUS_URL", "PROMETHEUS_TOKEN", "STORE_URL")}
    assert list(given.values()) == ["false", "http://p:9090", "s3cret", "postgresql://db/jpo"]
    assert (steps["Comment"]["if"], steps["Cached PyTorch"]["with"]["key"]) == (True, "jpo-torch-1-Linux-X64")
    assert used(read, of_jpo(jobs["suggest"]))["Comment"]["if"] is False, "no token, no note"
    assert used(read, of_jpo(jobs["suggest"], learn="false"))["Install PyTorch"]["if"] is False
    assert used(read, of_jpo(jobs["suggest"], python="python3"))["Python"]["if"] is False


def test_the_pull_request_with_the_values_is_written_with_the_jobs_own_token(read: Read) -> None:
    step = of_jpo(played(read, TRAIN, PUSH, vars=PERSIST)["persist"])
    steps = used(read, step)
    assert (steps["Persist"]["if"], steps["Persist"]["env"]["JPO_PERSIST_TOKEN"]) == (True, "of-the-job")
    assert {one["if"] for one in used(read, {**step, "with": {}}).values()} == {False}, "off, unless it is asked for"


def test_each_job_goes_on_from_the_history_that_the_one_before_has_saved(read: Read) -> None:
    first = played(read, TRAIN, happens("push", run=1))
    night = played(read, LEARN, happens("schedule", run=2))
    again = played(read, LEARN, happens("workflow_dispatch", run=2, attempt=2))
    later = played(read, TRAIN, happens("push", run=3))
    new = played(read, TRAIN, happens("pull_request", head="lab"))
    row = [cache(job) for job in (first["suggest"], first["record"], night["learn"], again["learn"], later["suggest"])]
    saved = [key for key, _ in row]
    assert len(set(saved)) == len(saved), "what has a key already is not saved"
    assert [before.startswith(restored[0]) for before, (_, restored) in zip(saved, row[1:], strict=False)] == [True] * 4
    start = cache(new["suggest"])[1][-1]
    assert [key for key in saved if not key.startswith(start)] == [], "a branch starts from the newest history"


def test_two_workloads_of_a_repository_have_a_history_each(read: Read) -> None:
    """Both have .jpo next to the one jpo.toml: with one key the history would be that of the job that ends last."""
    texts = (TRAIN, SECOND, THIRD)
    keys = [[cache(jobs[name]) for name in ("suggest", "record")] for jobs in (played(read, text, PUSH) for text in texts)]
    for mine in keys:
        for other in keys:
            taken = any(key.startswith(one) for key, _ in other for _, restored in mine for one in restored)
            assert taken == (mine is other)
