from __future__ import annotations

from dataclasses import replace

from made import DIGITS, a_run, a_suggestion

from jpo.agent.budget import reference_values
from jpo.history import RecordedRun, open_store
from jpo.history.followed import counted_once, followed_up, with_values_in_force, without_doubles
from jpo.records import KUBERNETES, Finished, Run


def test_what_a_rollback_put_back_before_anything_was_run_is_no_step_of_the_agents() -> None:
    """Else a change that was taken back at once, and never run, would pass for what the agent found."""
    found, tried = {"batch_size": 32.0, "learning_rate": 0.1}, {"batch_size": 64.0, "learning_rate": 0.1}
    with open_store("sqlite://") as store:
        store.append(a_suggestion("s1", 100.0, current=found, suggested=tried), config="config.ini", source_digest="ab")
        back = a_suggestion("s2", 200.0, current=tried, suggested=found, undoes="s1", decided_by="rollback")
        store.append(back, config="config.ini", source_digest="ab")
        store.record(Finished((a_run("r1", 900.0, started_at=300.0, parameters=found),)), now=900.0)
        (recorded,) = store.recorded_runs(DIGITS)
        assert recorded.suggestion_id == "s2"
        assert reference_values(followed_up(store, [recorded]), found) == found


def a_pod(run_id: str = "pod", ended_at: float = 1000.0, **changes: object) -> Run:
    return a_run(run_id, ended_at, started_at=ended_at - 200, source=KUBERNETES, **changes)


MADE = a_suggestion("s1", 500.0, current={"batch_size": 32.0, "cpus": 8.0}, suggested={"batch_size": 64.0, "cpus": 4.0})


def test_what_a_pod_does_not_say_is_taken_from_the_suggestion_then_in_force() -> None:
    later = replace(MADE, suggestion_id="s2", created_at=900.0, suggested={"batch_size": 128.0, "cpus": 2.0})
    (run,) = with_values_in_force([a_pod(parameters={"cpus": 4.0})], [MADE, later])
    assert (run.parameters, run.assumed) == ({"cpus": 4.0, "batch_size": 64.0}, ("batch_size",))


def test_a_pod_that_still_ran_with_the_old_values_is_taken_at_its_word() -> None:
    (run,) = with_values_in_force([a_pod(parameters={"cpus": 8.0})], [MADE])
    assert (run.parameters["batch_size"], run.assumed) == (32.0, ("batch_size",))


def test_nothing_is_assumed_of_what_somebody_else_set_nor_before_the_first_suggestion_nor_of_runs_that_report() -> None:
    others = [a_pod(parameters={"cpus": 16.0}), a_pod(parameters={}, ended_at=600.0), a_run("r", 1000.0, parameters={})]
    assert [(run.parameters, run.assumed) for run in with_values_in_force(others, [MADE])] == [
        ({"cpus": 16.0}, ()),
        ({}, ()),
        ({}, ()),
    ]


def test_a_pod_that_another_source_reports_is_one_run() -> None:
    logged = a_run("own", 990.0, started_at=830.0)
    both, next_night = a_pod("pod"), a_pod("next", ended_at=5000.0)
    assert without_doubles([both, next_night], [logged]) == (next_night,)
    assert without_doubles([logged, both], []) == (logged,)


def test_two_pods_at_once_of_which_one_keeps_a_log_are_two_runs() -> None:
    first, second = a_pod("first", ended_at=1001.0), a_pod("second", ended_at=1000.0)
    assert without_doubles([first, second], [a_run("own", 1000.0, started_at=805.0)]) == (second,)


def test_a_log_of_minutes_of_a_pod_of_hours_is_another_run() -> None:
    pod = a_pod("pod", ended_at=1000.0)
    assert without_doubles([pod], [a_run("own", 1000.0, started_at=950.0)]) == (pod,)


def test_a_log_that_comes_after_its_pod_was_recorded_counts_in_its_place() -> None:
    pod, log, night = (
        RecordedRun(run, None, 0.0) for run in (a_pod(), a_run("own", 990.0, started_at=830.0), a_pod("n", 5000.0))
    )
    assert counted_once([pod, log, night]) == (log, night)
    assert counted_once([log]) == (log,)
