"""The agent of a workload takes in its history: once, on record, and never at the cost of a suggestion."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from jpo.agent import sealed
from jpo.agent.policy import load_policy, save_policy
from jpo.agent.sealed import header_of
from jpo.errors import StoreError, UsageError
from jpo.history import Store, open_store
from jpo.learning import backlog
from jpo.learning.continual import Learnt, Round, catch_up, progress_of, untested
from jpo.learning.deadline import in_seconds
from jpo.learning.serving import AGENT, POLICY
from jpo.optimizer.request import Request
from jpo.records import Identity, Known, RunStatus
from tests.asked import changed
from tests.learning.test_experience import REQUEST, RUNS, a_run

JOB = Identity("d", "m", "f")
OTHER = Identity("d2", "m", "f")
THEIRS = [replace(run, identity=OTHER, run_id=f"other {run.run_id}") for run in RUNS]


@pytest.fixture(autouse=True)
def short_practice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Practice of short jobs: how much is learnt is asked elsewhere."""
    monkeypatch.setattr("jpo.learning.scenarios.RUNS", 4)
    monkeypatch.setattr("jpo.learning.forks.AHEAD", 1)


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store("sqlite://") as opened:
        yield opened


def learnt(store: Store, runs: list = RUNS, *, budget: float | None = 600.0, job: Identity = JOB) -> Learnt:
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    return catch_up(
        store, job, Known(tuple(runs)), REQUEST, Round(0, 1.0, seconds=budget or float("inf"), rebuild=budget is None)
    )


def waiting(store: Store, job: Identity, runs: list, request: Request) -> int:
    saved = store.load_agent(AGENT)
    return backlog.waiting(saved and header_of(saved[0]), job, runs, request)


def forgetful(store: Store) -> tuple[int, dict[str, int]]:
    """Transitions of real runs in the saved agent's replay, and how many runs of each workload it took in."""
    from jpo.agent.sac.checkpoint import load_checkpoint

    saved = store.load_agent(AGENT)
    assert saved is not None
    agent = load_checkpoint(saved[0])
    return agent.real.size, {name: progress.runs for name, progress in agent.progress.items()}


@pytest.mark.slow
def test_two_workloads_learn_into_one_agent(store: Store) -> None:
    assert learnt(store) == Learnt(runs=2, runs_in_all=2, updates=16, left=0, resets=0)
    assert waiting(store, OTHER, THEIRS, REQUEST) == 2
    assert learnt(store, THEIRS, job=OTHER) == Learnt(runs=2, runs_in_all=4, updates=32, left=0, resets=0)
    assert forgetful(store) == (4, {str(JOB): 2, str(OTHER): 2})
    assert waiting(store, JOB, RUNS, REQUEST) == waiting(store, OTHER, THEIRS, REQUEST) == 0


@pytest.mark.slow
def test_a_changed_history_forgets_the_transitions_of_its_workload_alone(store: Store) -> None:
    learnt(store)
    learnt(store, THEIRS, job=OTHER)
    late = [*RUNS[:2], a_run(9, 90.0, batch_size=32.0), *RUNS[2:]]
    assert learnt(store, late) == Learnt(runs=3, runs_in_all=5, updates=56, left=0, resets=0)
    assert forgetful(store) == (5, {str(JOB): 3, str(OTHER): 2})
    assert waiting(store, OTHER, THEIRS, REQUEST) == 0


@pytest.mark.slow
def test_learning_a_workload_in_two_rounds_is_learning_it_in_one(store: Store) -> None:
    learnt(store)
    whole = store.load_agent(AGENT)
    with open_store("sqlite://") as other:
        learnt(other, RUNS[:3])
        learnt(other)
        parts = other.load_agent(AGENT)
    assert whole is not None
    assert parts is not None
    assert whole[0] == parts[0]


def test_all_runs_after_the_reference_wait_until_they_are_taken_in(store: Store) -> None:
    assert waiting(store, JOB, RUNS[:1], REQUEST) == 0, "nothing ended well, so there is no reference"
    assert waiting(store, JOB, RUNS[:2], REQUEST) == 0, "the reference itself teaches nothing"
    assert waiting(store, JOB, RUNS, REQUEST) == 2
    learnt(store)
    assert waiting(store, JOB, RUNS, REQUEST) == 0
    assert waiting(store, JOB, [*RUNS, a_run(4, 60.0)], REQUEST) == 1


def test_an_agent_that_learnt_from_another_history_waits_for_all_of_it(store: Store) -> None:
    learnt(store)
    late = [*RUNS[:2], a_run(1, 90.0, batch_size=32.0), *RUNS[2:]]
    assert waiting(store, JOB, late, REQUEST) == 3
    assert waiting(store, JOB, RUNS, changed(REQUEST, targets={"time_max": 60.0})) == 2


def test_new_runs_are_taken_in_once_and_put_on_record(store: Store) -> None:
    assert learnt(store) == Learnt(runs=2, runs_in_all=2, updates=16, left=0, resets=0)
    assert learnt(store) == Learnt(runs=0, runs_in_all=2, updates=16, left=0, resets=0)
    more = [*RUNS, a_run(4, 60.0, RunStatus.SUCCEEDED, batch_size=32.0)]
    assert learnt(store, more) == Learnt(runs=1, runs_in_all=3, updates=24, left=0, resets=0)
    assert [record.data["runs"] for record in store.audit_records() if record.kind == "learnt"] == [2, 1]


@pytest.mark.slow
def test_a_rebuilt_agent_is_the_same_agent(store: Store) -> None:
    learnt(store)
    saved = store.load_agent(AGENT)
    assert learnt(store, budget=None).runs == 2
    rebuilt = store.load_agent(AGENT)
    assert saved is not None
    assert rebuilt is not None
    assert (rebuilt[0], rebuilt[1]) == (saved[0], saved[1] + 1)


@pytest.mark.slow
def test_a_rebuilt_agent_keeps_what_other_workloads_taught(store: Store) -> None:
    learnt(store)
    learnt(store, THEIRS, job=OTHER)
    rebuilt = learnt(store, budget=None)
    assert rebuilt == Learnt(runs=2, runs_in_all=4, updates=32, left=0, resets=0, others=2)
    assert forgetful(store) == (4, {str(JOB): 2, str(OTHER): 2})
    assert waiting(store, OTHER, THEIRS, REQUEST) == 0, "the other workload need not learn anew"
    assert learnt(store, budget=None) == rebuilt


@pytest.mark.slow
def test_an_agent_rebuilt_because_it_was_damaged_says_that_the_others_must_learn_anew(store: Store) -> None:
    learnt(store)
    learnt(store, THEIRS, job=OTHER)
    store.save_agent(AGENT, b"no agent", expected_version=2)
    assert learnt(store, budget=None) == Learnt(runs=2, runs_in_all=2, updates=16, left=0, resets=0, unread=True)
    assert waiting(store, OTHER, THEIRS, REQUEST) == 2


def test_learning_reads_and_unseals_the_agent_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    learnt(store)
    read: list[str] = []
    load, unseal = store.load_agent, sealed.unseal
    monkeypatch.setattr(store, "load_agent", lambda name: read.append(f"load {name}") or load(name))
    monkeypatch.setattr(sealed, "unseal", lambda *at: read.append("unseal") or unseal(*at))
    more = [*RUNS, a_run(4, 60.0)]
    assert learnt(store, more).runs == 1
    assert read == [f"load {AGENT}", "unseal"]
    read.clear()
    assert learnt(store, more).runs == 0
    assert read == [f"load {AGENT}", "unseal"]


def test_without_torch_learning_names_the_remedy(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UsageError, match=r"pip install \"jpo\[learn\]\""):
        catch_up(store, JOB, Known(tuple(RUNS)), REQUEST, Round(0, 1.0, seconds=600.0))


@pytest.mark.slow
def test_a_rebuilding_that_has_too_little_time_changes_nothing(store: Store) -> None:
    learnt(store)
    learnt(store, THEIRS, job=OTHER)
    before = store.load_agent(AGENT)
    with pytest.raises(UsageError, match="nothing was changed") as caught:
        catch_up(store, JOB, Known(tuple(RUNS)), REQUEST, Round(0, 1.0, in_seconds(0.0), rebuild=True))
    assert (caught.value.code, store.load_agent(AGENT)) == ("JPO-E606", before)


def test_a_saved_agent_that_cannot_be_read_is_an_error_unless_it_is_made_anew(store: Store) -> None:
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    store.save_agent(AGENT, b"no agent", expected_version=0)
    with pytest.raises(StoreError) as caught:
        learnt(store)
    assert caught.value.code == "JPO-E601"
    assert learnt(store, budget=None).runs == 2, "beginning anew needs no saved agent"


@pytest.mark.slow
def test_what_was_learnt_since_the_release_test_is_untested(store: Store) -> None:
    assert not untested(store)
    learnt(store)
    assert untested(store)
    saved = store.load_agent(AGENT)
    assert saved is not None
    assert progress_of(header_of(saved[0])) == [2, 0, 16]
    card = {"learnt": [2, 0, 16]}
    store.save_agent(POLICY, save_policy(*load_policy().members, released=(), card=card), expected_version=0)
    assert not untested(store)
    learnt(store, THEIRS, job=OTHER)
    assert untested(store), "one agent of all workloads: what it learnt of another one counts"
