"""`jpo learn`: new runs once, the same agent when it is rebuilt; and the training of the agent that comes with JPO."""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from jpo.agent.alternatives.steering import SHAPES as ACTOR
from jpo.agent.policy import SCORE, SHAPES, load_policy, save_policy
from jpo.commands.learn import pretrain
from jpo.errors import StoreError
from jpo.history import open_store
from jpo.history.following.contradictions import contradictions
from jpo.learning import pretraining
from jpo.learning.kept_residuals import RESIDUALS
from jpo.learning.release import play_on
from jpo.learning.serving import AGENT, POLICY
from jpo.records import silently
from jpo.records.contradictions import Contradictions

if TYPE_CHECKING:
    from user_project import Project


@pytest.fixture
def tiny(short_practice: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A training that ends within seconds."""
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    for name, value in (("STAGES", 4), ("UPDATES_PER_TEN_JOBS", 10), ("TRANSITIONS", 64), ("FORKS", 8), ("RELEASE_JOBS", 12)):
        monkeypatch.setattr(pretraining, name, value)


def stopped_in_the_middle(numbers: Sequence[int], _what: str) -> Iterator[int]:
    """Ctrl-C in the middle of practice."""
    for number in numbers:
        if number == 2:
            raise KeyboardInterrupt
        yield number


@pytest.mark.slow
@pytest.mark.usefixtures("tiny")
def test_an_interrupted_training_goes_on_where_it_stopped_and_leaves_one_file(tmp_path: Path) -> None:
    path = tmp_path / "p.safetensors"
    with pytest.raises(KeyboardInterrupt):
        pretrain(path, policy="sac", jobs=2, seed=0, track=stopped_in_the_middle)
    assert [file.name for file in tmp_path.iterdir()] == ["p.safetensors.part"]
    seen: list[int] = []

    def noted(numbers: Sequence[int], what: str) -> Iterable[int]:
        seen.extend(numbers if what == "practice" else ())
        return silently(numbers, what)

    told = pretrain(path, policy="sac", jobs=2, seed=0, track=noted)
    assert seen == [2, 3]
    assert told[0].startswith("continuing from ")
    assert "; on 12 simulated jobs; ratio " in "\n".join(told)
    assert "harm " in "\n".join(told)
    assert any(line.startswith("  installation host-memory: ratio ") for line in told)
    assert [file.name for file in tmp_path.iterdir()] == ["p.safetensors"]
    assert load_policy(path).card["command"] == "jpo learn --pretrain policy.safetensors --jobs 2 --seed 0"


def updates(project: Project) -> list[int]:
    """Updates of the agent after each round of learning, by the audit log."""
    events = [json.loads(line) for line in project.jpo("audit", "show", "-o", "json").out.splitlines()]
    return [event["data"]["updates"] for event in events if event["kind"] == "learnt"]


@pytest.mark.usefixtures("short_practice")
def test_learn_takes_in_new_runs_once_and_rebuilding_gives_the_same_agent(project: Project) -> None:
    project.jpo("observe")
    learnt, tested = project.jpo("learn", "config.ini", "--budget", "10m").out.splitlines()
    assert learnt == "learnt from 6 new runs of digits/cnn/pytorch (6 of all workloads so far)"
    assert re.fullmatch(
        r"release test: (not )?passed; on 12 simulated jobs a run costs \d+\.\d% (more|less) than by the belief rule, "
        r"± \d+\.\d%; what (was learnt here|came with JPO) decides",
        tested,
    ), tested
    again = project.jpo("learn", "config.ini").out.splitlines()
    assert again[0] == "nothing new to learn of digits/cnn/pytorch (6 of all workloads so far)"
    assert again[1].startswith("release test: nothing new to test; what ")
    rebuilt = project.jpo("learn", "config.ini", "--rebuild").out
    assert "learnt from 6 runs of digits/cnn/pytorch (6 of all workloads so far)\n" in rebuilt
    assert updates(project) == [48, 48]
    kinds = [json.loads(line)["kind"] for line in project.jpo("audit", "show", "-o", "json").out.splitlines()]
    assert kinds.count("learnt") == 2, "learnt, and learnt anew; in between there was nothing to learn"
    assert kinds.count("tested") == 1, "the rebuilt agent is the one that was tested"


@pytest.mark.usefixtures("learning", "short_practice")
def test_learn_knows_what_suggest_has_learnt_also_where_a_run_cannot_be_believed(project: Project) -> None:
    absurd = project.log(1, 32, 0.01, start=1_700_000_500, name="absurd")
    project.jpo("observe")
    project.jpo("observe", "--csv", str(absurd))
    suggested = json.loads(project.jpo("suggest", "config.ini", "--dry-run", "-o", "json").out)
    assert suggested["evidence"]["runs_skipped"], "the run is doubted"
    first = project.jpo("learn", "config.ini", "--budget", "10m").out
    assert "learnt from 7 new runs of digits/cnn/pytorch (7 of all workloads so far)" in first
    assert updates(project) == [48], "what is absurd about a run teaches nothing"
    project.jpo("suggest", "config.ini")
    kinds = [json.loads(line)["kind"] for line in project.jpo("audit", "show", "-o", "json").out.splitlines()]
    assert kinds.count("learnt") == 1, "there was nothing to learn anew"


@pytest.mark.usefixtures("learning", "short_practice")
def test_the_release_test_goes_on_after_each_suggestion_until_it_ends(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five jobs each time: twelve take three suggestions, and nobody ran `jpo learn`."""
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

    def five(*given: Any) -> bool:
        left = iter([False] * 5)
        return play_on(*given[:4], lambda: next(left, True))

    monkeypatch.setattr("jpo.learning.release.play_on", five)
    ended = []
    for _ in range(4):
        assert project.jpo("suggest", "config.ini").code == 0
        kinds = [json.loads(line)["kind"] for line in project.jpo("audit", "show", "-o", "json").out.splitlines()]
        ended.append(kinds.count("tested"))
    assert ended == [0, 0, 1, 1], "and then there is nothing new to test"


def test_learn_without_a_run_says_where_runs_come_from(empty: Project) -> None:
    assert "`jpo observe` puts them there" in empty.jpo("learn", "config.ini").out


@pytest.mark.usefixtures("short_practice")
def test_learn_begins_anew_when_a_run_is_reported_late(project: Project) -> None:
    project.jpo("observe")
    project.jpo("learn", "config.ini", "--budget", "10m")
    late = project.log(1, 32, 71.0, start=1_700_000_500, name="late")
    project.jpo("observe", "--csv", str(late))
    assert "learnt from 7 new runs of digits/cnn/pytorch (7 of " in project.jpo("learn", "config.ini", "--budget", "10m").out
    assert updates(project) == [48, 104]


def test_an_alternative_is_trained_by_its_name_and_says_that_it_decides_only_there(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    path = tmp_path / "s.safetensors"
    (line,) = pretrain(path, policy="steering", jobs=2, seed=0, track=silently)
    assert '[agent] policy = "steering"' in line
    assert load_policy(path, ACTOR).released == ()


def decides(project: Project, slope: float) -> None:
    """Release a policy that expects `slope` runs more per unit of the rule's score: -1 is the rule, 1 its contrary."""
    weights = {name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}
    weights["critics.w0"][:, SCORE, 0] = weights["critics.w1"][:, 0, 0] = 1.0
    weights["critics.b0"][:, 0, 0], weights["critics.w2"][:, 0, 0] = 5.0, slope
    with open_store(f"sqlite:///{project.folder}/.jpo/jpo.db") as store:
        saved = store.load_agent(POLICY)
        file = save_policy(weights, released=("safe", "on"), card={})
        store.save_agent(POLICY, file, expected_version=saved[1] if saved else 0)


@pytest.mark.parametrize(
    ("explore", "slope", "code", "sentence"),
    [
        ("safe", -1.0, "JPO-I630", "SAC: as the rule"),
        ("safe", 1.0, "JPO-I631", "SAC departs"),
        ("on", 9.0, "JPO-I604", '"decided_by": "belief"'),  # nothing else may be run now
    ],
)
def test_a_released_policy_decides_and_says_what_it_did(
    project: Project, explore: str, slope: float, code: str, sentence: str
) -> None:
    toml = project.folder / "jpo.toml"
    toml.write_text(f"{toml.read_text()}\n[agent]\ntrials = 0\n")  # trials are held against the rest by what they may gain
    project.jpo("observe")
    decides(project, slope)
    ask = ("suggest", "config.ini", "--explore", explore, "--prefer", "cost=1", "--no-learn", "--dry-run", "-o", "json")
    answer = project.jpo(*ask)
    assert answer.code == 0, answer.err
    assert code in answer.out
    assert sentence in answer.out


def saved(project: Project) -> list[bool]:
    """Whether the agent, and the residuals of the jobs here, are in the store."""
    with open_store(f"sqlite:///{project.folder}/.jpo/jpo.db") as store:
        return [store.load_agent(name) is not None for name in (AGENT, RESIDUALS)]


@pytest.mark.usefixtures("learning", "short_practice")
def test_a_suggestion_learns_and_keeps_what_the_jobs_here_showed_unless_told_not_to(project: Project) -> None:
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    for option in ("--no-learn", "--dry-run"):
        assert project.jpo("suggest", "config.ini", option).code == 0
        assert saved(project) == [False, False]
    assert project.jpo("suggest", "config.ini").code == 0
    assert saved(project) == [True, True]


@pytest.mark.usefixtures("learning")
def test_the_answer_is_there_before_it_is_learnt_from_it_and_stands_whatever_comes_of_that(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    before = project.config.read_text()
    on_disk = []

    def fails(*_: object) -> None:
        on_disk.append(project.config.read_text())
        raise StoreError("the store", "is gone", code="JPO-E501")

    monkeypatch.setattr("jpo.commands.learn.catch_up", fails)
    answer = project.jpo("suggest", "config.ini")
    assert on_disk == [project.config.read_text()] != [before]
    assert (answer.code, answer.err) == (0, "jpo: the agent did not learn: the store: is gone [JPO-E501]\n")


@pytest.mark.usefixtures("learning")
def test_an_agent_that_cannot_be_read_is_no_reason_to_withhold_a_suggestion(project: Project) -> None:
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    assert project.jpo("suggest", "config.ini", "--no-learn").code == 0
    with open_store(f"sqlite:///{project.folder}/.jpo/jpo.db") as store:
        store.save_agent(AGENT, b"no agent", expected_version=0)
    answer = project.jpo("suggest", "config.ini")
    assert (answer.code, "[JPO-W605]" in answer.err) == (0, True)


@pytest.mark.usefixtures("learning")
def test_a_torch_that_cannot_be_imported_costs_no_suggestion(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    imports = builtins.__import__

    def without_cuda(name: str, *more: Any) -> Any:
        if name == "torch":
            raise OSError("libcudart.so.12: cannot open shared object file")
        return imports(name, *more)

    monkeypatch.setattr(builtins, "__import__", without_cuda)
    answer = project.jpo("suggest", "config.ini")
    assert (answer.code, "[JPO-E604]" in answer.err, "value" in answer.out) == (0, True, True)


@pytest.mark.usefixtures("learning")
@pytest.mark.parametrize("words", [("--prefer", "cost"), ("--deadline", "1s")])
def test_what_holds_for_this_once_is_not_learnt_from_and_a_refused_night_learns(
    project: Project, monkeypatch: pytest.MonkeyPatch, words: tuple[str, str]
) -> None:
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    learnt_from = []
    monkeypatch.setattr("jpo.commands.learn.catch_up", lambda _s, _i, _k, request, _w: learnt_from.append(request.wanted))
    assert project.jpo("suggest", "config.ini").code == 0
    assert project.jpo("suggest", "config.ini", *words).code == (3 if "--deadline" in words else 0)
    assert len(learnt_from) == 2
    assert learnt_from[0].preference == learnt_from[1].preference
    assert learnt_from[0].targets == learnt_from[1].targets


@pytest.mark.usefixtures("learning")
@pytest.mark.parametrize("aliases", ["", '[workload]\naliases = { framework = ["torch"] }\n'])
def test_the_agent_learns_by_the_reaches_by_which_it_was_decided(
    project: Project, monkeypatch: pytest.MonkeyPatch, aliases: str
) -> None:
    """Under several names the runs of all of them say how far a value really goes."""
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    toml = project.folder / "jpo.toml"
    toml.write_text(aliases + (toml.read_text() if toml.exists() else ""))
    asked: list[Any] = []
    for place in ("project.collect", "commands.learn"):

        def spied(_store: object, _identity: object, _current: object, recorded: Any = None) -> Contradictions:
            asked.append(recorded and [entry.run.run_id for entry in recorded])
            return contradictions(_store, _identity, _current, recorded)

        monkeypatch.setattr(f"jpo.{place}.contradictions", spied)
    monkeypatch.setattr("jpo.commands.learn.catch_up", lambda *_: None)
    assert project.jpo("suggest", "config.ini").code == 0
    assert len(asked) == 2
    assert asked[0] == asked[1]
    assert bool(asked[0]) == bool(aliases)
