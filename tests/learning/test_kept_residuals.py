"""Residuals in the store: worked out once per change, never at the cost of a suggestion, never of the workload itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from jpo.history import Store, open_store
from jpo.learning import kept_residuals
from jpo.learning.kept_residuals import MOST_NEW, RESIDUALS, residuals_here
from jpo.records import Finished, Identity, Outcome, Run, RunStatus

MINE = Identity("mine", "m", "f")


def job(name: str, runs: int = 3, *, seconds: float = 100.0) -> list[Run]:
    """A reference, and runs with 2, 4, ... times the batch, the last one of which failed."""
    status = [RunStatus.SUCCEEDED] * (runs - 1) + [RunStatus.FAILED] if runs > 1 else [RunStatus.SUCCEEDED]
    return [
        Run(
            f"{name} {at}",
            Identity(name, "m", "f"),
            {"batch_size": 32.0 * 2**at},
            status[at],
            None,
            float(at),
            Outcome(seconds),
            "o",
        )
        for at in range(runs)
    ]


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store("sqlite://") as opened:
        yield opened


@pytest.fixture
def worked_out(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The workloads whose residuals are worked out, in turn."""
    names: list[str] = []
    real = kept_residuals.residuals_of_runs

    def noted(runs: list[Run]) -> object:
        names.append(runs[0].identity.dataset)
        return real(runs)

    monkeypatch.setattr(kept_residuals, "residuals_of_runs", noted)
    return names


def test_they_are_worked_out_once_and_kept(store: Store, worked_out: list[str]) -> None:
    runs = [*job("a"), *job("b")]
    first = residuals_here(store, MINE, runs, learn=True)
    assert first is not None
    assert sorted(first.workloads) == ["a/m/f", "b/m/f"]
    assert first.failed.tolist() == [0, 1, 0, 1]
    again = residuals_here(store, MINE, runs, learn=True)
    assert again is not None
    assert again.points.tolist() == first.points.tolist()
    assert worked_out == ["a", "b"]


def test_changed_runs_are_worked_out_anew_and_the_others_are_not(store: Store, worked_out: list[str]) -> None:
    residuals_here(store, MINE, [*job("a"), *job("b")], learn=True)
    told = residuals_here(store, MINE, [*job("a", 4), *job("b")], learn=True)
    assert worked_out == ["a", "b", "a"]
    assert told is not None
    assert sorted(told.workloads[at] for at in told.job) == ["a/m/f"] * 3 + ["b/m/f"] * 2


def test_the_own_workload_is_left_out_and_counts_for_the_others(store: Store) -> None:
    runs = [*job("mine"), *job("a")]
    told = residuals_here(store, MINE, runs, learn=True)
    assert told is not None
    assert {told.workloads[at] for at in told.job} == {"a/m/f"}
    theirs = residuals_here(store, Identity("a", "m", "f"), runs, learn=True)
    assert theirs is not None
    assert {theirs.workloads[at] for at in theirs.job} == {"mine/m/f"}
    assert residuals_here(store, MINE, job("mine"), learn=False) is not None, "from the store"


def test_alone_there_are_none(store: Store) -> None:
    assert residuals_here(store, MINE, job("mine"), learn=True) is None
    assert residuals_here(store, MINE, [], learn=True) is None


def test_without_learning_nothing_is_worked_out_and_nothing_saved(store: Store, worked_out: list[str]) -> None:
    assert residuals_here(store, MINE, job("a"), learn=False) is None
    assert store.load_agent(RESIDUALS) is None
    residuals_here(store, MINE, job("a"), learn=True)
    saved = store.load_agent(RESIDUALS)
    told = residuals_here(store, MINE, [*job("a", 5), *job("b")], learn=False)
    assert told is not None
    assert set(told.workloads) == {"a/m/f"}, "what is known already is used"
    assert store.load_agent(RESIDUALS) == saved
    assert worked_out == ["a"]


@pytest.mark.parametrize("change", ["damaged", "foreign", "another version"])
def test_a_cache_that_cannot_be_used_is_worked_out_anew(store: Store, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = residuals_here(store, MINE, job("a"), learn=True)
    saved = store.load_agent(RESIDUALS)
    assert told is not None
    assert saved is not None
    if change == "another version":
        monkeypatch.setattr(kept_residuals, "FORMAT", "jpo residuals 0")
    else:
        store.save_agent(RESIDUALS, saved[0][:-1] if change == "damaged" else b"nothing", expected_version=saved[1])
    assert residuals_here(store, MINE, job("a"), learn=False) is None
    again = residuals_here(store, MINE, job("a"), learn=True)
    assert again is not None
    assert again.points.tolist() == told.points.tolist()
    assert residuals_here(store, MINE, job("a"), learn=False) is not None


def test_jobs_that_say_nothing_are_worked_out_once_and_do_not_keep_the_others_waiting(
    store: Store, worked_out: list[str]
) -> None:
    silent = [run for number in range(MOST_NEW) for run in job(f"silent {number}", 1)]
    runs = [*silent, *job("a")]
    assert residuals_here(store, MINE, runs, learn=True) is None, "so many at once"
    told = residuals_here(store, MINE, runs, learn=True)
    assert told is not None
    assert told.workloads == ("a/m/f",)
    residuals_here(store, MINE, runs, learn=True)
    assert len(worked_out) == MOST_NEW + 1


def test_another_process_that_saved_meanwhile_does_not_keep_a_suggestion_from_being_made(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save_agent(RESIDUALS, b"theirs", expected_version=0)
    real, before = store.load_agent, iter([None])
    monkeypatch.setattr(store, "load_agent", lambda name: next(before, real(name)))
    assert residuals_here(store, MINE, job("a"), learn=True) is not None
    assert real(RESIDUALS) == (b"theirs", 1)


def test_a_long_history_of_which_only_the_newest_runs_are_read_is_worked_out_whole_and_once(
    store: Store, worked_out: list[str]
) -> None:
    whole = job("a", 5)
    store.record(Finished(tuple(whole)), now=9.0)
    from_all = residuals_here(store, MINE, whole, learn=True)
    assert residuals_here(store, MINE, whole[2:], learn=True) is not None
    assert worked_out == ["a"], "its older runs have only moved out of sight"
    with open_store("sqlite://") as other:
        other.record(Finished(tuple(whole)), now=9.0)
        from_newest = residuals_here(other, MINE, whole[2:], learn=True)
    assert from_all is not None
    assert from_newest is not None
    assert from_newest.points.tolist() == from_all.points.tolist(), "its reference is its first run, read or not"
