from dataclasses import replace

import pytest
from made import DIGITS, a_run

from jpo.forecast.trials import Trial
from jpo.optimizer.expectations import Basis, disagree, expectations
from jpo.optimizer.surrogate import surrogate_of
from jpo.records import FirstRun, Forecast, Identity, Interval, Known, Outcome, Preference
from tests.asked import a_request

TODAY = {"batch_size": 64.0, "learning_rate": 0.1, "epochs": 40.0, "cpus": 1.0}


def a_trial(epoch_seconds=10.0, **more):
    return Trial("t1", TODAY, 1.0, epoch_seconds, 0.02, 5.0, around_seconds=1.0, **more)


def basis(runs=(), trials=(), others=(), identity=DIGITS, estimate=lambda _: FirstRun()):
    request = a_request(TODAY, free=("batch_size",), admissible=lambda _today, _proposed: True, preference=Preference())
    return Basis(identity, surrogate_of(request, Known(tuple(runs)), seed=0), trials, others, estimate, 0)


def runs_of(seconds, count=3, **outcome):
    return [
        a_run(f"r{i}", 200.0 + i, parameters=TODAY, outcome=Outcome(duration_seconds=seconds + i, **outcome))
        for i in range(count)
    ]


@pytest.mark.parametrize(
    ("known", "kind"),
    [
        (basis(runs=runs_of(400.0)), "history"),
        (basis(trials=[a_trial()]), "trials"),
        (basis(others=[a_run(identity=Identity("digits2", "cnn", "pytorch"))]), "unknown"),
        (basis(), "unknown"),
        (basis(estimate=lambda _: FirstRun(Forecast(Interval(5.0, 2.0, 9.0)), "arithmetic")), "heuristic"),
    ],
)
def test_an_answer_says_what_it_rests_on(known, kind):
    ((first, *_),) = expectations([TODAY], known)
    assert first.kind == kind
    assert (first.forecast.duration_seconds is None) == (kind == "unknown")


def test_the_narrower_of_history_and_trials_counts_and_what_trials_do_not_tell_is_said_to_be_the_historys():
    wild = [replace(run, outcome=Outcome(duration_seconds=400.0 * 4**i, val_loss=0.4)) for i, run in enumerate(runs_of(1.0))]
    ((first, second),) = expectations([TODAY], basis(runs=wild, trials=[a_trial()]))
    assert (first.kind, second.kind) == ("trials", "history")
    assert first.forecast.val_loss == second.forecast.val_loss
    assert second.words in first.words


def test_all_rows_rest_on_what_counts_for_todays_values():
    others = [replace(run, parameters={**TODAY, "batch_size": 8.0}) for run in runs_of(400.0)]
    here, there = expectations([TODAY, {**TODAY, "batch_size": 8.0}], basis(runs=others, trials=[a_trial()]))
    assert [one.kind for one in here] == [one.kind for one in there] == ["trials", "history"]
    assert expectations([{**TODAY, "batch_size": 8.0}], basis(runs=others, trials=[a_trial()])) == [there]


def test_a_job_that_stops_at_a_target_is_known_by_its_history():
    runs = runs_of(100.0, converged=True, val_loss=0.4)
    ((first, second),) = expectations([TODAY], basis(runs=runs, trials=[a_trial()]))
    assert (first.kind, second.kind) == ("history", "trials")
    assert disagree([first, second])
    assert second.forecast.val_loss is None  # it rests on the trial alone


def test_a_target_counts_even_where_trials_are_narrower():
    wild = [replace(run, outcome=Outcome(duration_seconds=400.0 * 4**i, converged=True)) for i, run in enumerate(runs_of(1.0))]
    ((first, second),) = expectations([TODAY], basis(runs=wild, trials=[a_trial()]))
    assert (first.kind, second.kind) == ("history", "trials")


def test_what_a_log_does_not_name_had_todays_value_in_any_order_of_questions():
    silent = replace(a_trial(samples=1000.0), parameters={})
    other = {**TODAY, "batch_size": 8.0}
    (now, *_), _ = expectations([TODAY, other], basis(trials=[silent]))
    _, (again, *_) = expectations([other, TODAY], basis(trials=[silent]))
    assert again.forecast.duration_seconds.mean == pytest.approx(now.forecast.duration_seconds.mean, rel=0.02)


def test_a_trial_on_a_part_of_the_data_gives_no_memory_and_no_loss():
    losses = tuple((float(e), 0.2 + 1 / e) for e in range(1, 21))
    part = replace(a_trial(losses=losses, memory_gib=2.0), fraction=0.1)
    ((found,),) = expectations([TODAY], basis(trials=[part]))
    assert found.forecast.memory_gib is found.forecast.val_loss is None


def test_losses_and_memory_come_from_trials_of_this_very_configuration_alone():
    losses = tuple((float(e), 0.2 + 1 / e) for e in range(1, 21))
    known = basis(trials=[a_trial(losses=losses, memory_gib=2.0, samples=1000.0)])
    ((here,), (there,)) = expectations([TODAY, {**TODAY, "batch_size": 128.0}], known)
    assert here.forecast.memory_gib is not None
    assert here.forecast.memory_gib.mean == 2.0
    assert here.forecast.val_loss is not None
    assert there.forecast.memory_gib is there.forecast.val_loss is None
    assert here.forecast.throughput_samples_per_second.mean == pytest.approx(100, rel=0.05)


def test_what_no_similar_workload_tells_is_the_arithmetics():
    need = Interval(40.0, 30.0, 50.0)
    told = FirstRun(Forecast(Interval(5.0, 2.0, 9.0), metrics={"gpu_memory_gib": need, "energy_joules": need}), "arithmetic")
    other = a_run(identity=Identity("digits", "cnn", "jax"), parameters=TODAY, outcome=Outcome(duration_seconds=300.0))
    ((found,),) = expectations([TODAY], basis(others=[other], estimate=lambda _: told))
    assert (found.kind, found.forecast.duration_seconds.mean) == ("similar workloads", pytest.approx(300))
    assert found.forecast.metrics == {"gpu_memory_gib": need}
    assert "arithmetic" in found.words
