from __future__ import annotations

from made import a_run, a_suggestion, altered

from jpo.history import RecordedRun
from jpo.history.following.labelled_pods import counted_once, with_values_in_force, without_doubles
from jpo.records import KUBERNETES, Run


def a_pod(run_id: str = "pod", ended_at: float = 1000.0, **changes: object) -> Run:
    return a_run(run_id, ended_at, started_at=ended_at - 200, source=KUBERNETES, **changes)


MADE = a_suggestion("s1", 500.0, current={"batch_size": 32.0, "cpus": 8.0}, suggested={"batch_size": 64.0, "cpus": 4.0})


def test_what_a_pod_does_not_say_is_taken_from_the_suggestion_then_in_force() -> None:
    later = altered(MADE, suggestion_id="s2", created_at=900.0, suggested={"batch_size": 128.0, "cpus": 2.0})
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
