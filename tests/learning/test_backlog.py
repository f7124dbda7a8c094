"""Which runs the agent has not taken in, and whether anybody will: what a suggestion says where torch is missing."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from jpo.agent.sealed import seal
from jpo.history import Store
from jpo.learning.backlog import SOON_LEARNT, fingerprint, is_left_unlearnt, learnable, not_learnt
from jpo.learning.serving import AGENT
from jpo.records import Preference
from tests.asked import a_request, changed
from tests.learning.test_continual import JOB, OTHER, THEIRS, learnt, short_practice, store
from tests.learning.test_experience import NOW, REQUEST, RUNS, a_run

__all__ = ["short_practice", "store"]


def test_the_first_run_that_ended_well_is_the_reference() -> None:
    assert [run.run_id for run in learnable(RUNS)] == ["r1", "r2", "r3"]
    assert list(learnable(RUNS[:1])) == []


def test_the_fingerprint_distinguishes_histories_and_preferences() -> None:
    same, later = fingerprint(RUNS, REQUEST, 1), fingerprint([*RUNS, a_run(9, 1.0)], REQUEST, 1)
    assert same == later, "what comes after does not matter"
    assert same != fingerprint([RUNS[1], a_run(1, 60.0), *RUNS[2:]], REQUEST, 1)
    other = a_request(NOW, free=("batch_size", "cpus"), admissible=lambda _a, _b: True, preference=Preference(0.0, 1.0, 0.0))
    assert same != fingerprint(RUNS, other, 1)
    assert same != fingerprint(RUNS, changed(REQUEST, targets={"time_max": 60.0}), 1)


@pytest.mark.parametrize(("torch", "codes"), [(None, ("JPO-W650",)), (sys, ())])
def test_without_torch_a_suggestion_says_that_nobody_learns(
    store: Store, monkeypatch: pytest.MonkeyPatch, torch: object, codes: tuple[str, ...]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert not_learnt(store, JOB, RUNS) == codes
    assert not_learnt(store, JOB, RUNS[:2]) == (), "nothing to learn yet"


def test_nothing_is_said_while_a_scheduled_learning_elsewhere_keeps_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    learnt(store)
    monkeypatch.setitem(sys.modules, "torch", None)
    for more, codes in ((1, ()), (SOON_LEARNT - 1, ()), (SOON_LEARNT, ("JPO-W650",))):
        runs = [*RUNS, *(a_run(4 + number, 60.0) for number in range(more))]
        assert not_learnt(store, JOB, runs) == codes
    assert not_learnt(store, OTHER, THEIRS) == ("JPO-W650",)
    store.save_agent(AGENT, b"no agent", expected_version=1)
    assert not_learnt(store, JOB, RUNS) == ("JPO-W605",)


def test_who_learnt_from_the_runs_as_they_were_before_still_learns_here(store: Store) -> None:
    learnt(store)
    assert not is_left_unlearnt(store, JOB, [replace(run, run_id=f"again {run.run_id}") for run in RUNS])


def test_an_agent_of_another_version_is_a_warning_where_torch_is_missing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    store.save_agent(AGENT, seal({}, {"format": "of another version"}), expected_version=0)
    assert not_learnt(store, JOB, RUNS) == ("JPO-W605",)
