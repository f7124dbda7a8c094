from dataclasses import replace
from pathlib import Path

import pytest
from made import DIGITS, a_run

from jpo.ahead import Grounds, disagree, expectations, read_trials
from jpo.errors import TelemetryError, UsageError
from jpo.forecast.trials import Trial
from jpo.outlook import Wishes, look_ahead
from jpo.records import Identity, Outcome, Preference

TODAY = {"batch_size": 64.0, "learning_rate": 0.1, "epochs": 40.0, "cpus": 1.0}


def a_trial(epoch_seconds=10.0, **more):
    return Trial("t1", TODAY, 1.0, epoch_seconds, 0.02, 5.0, around_seconds=1.0, **more)


def grounds(runs=(), trials=(), others=(), identity=DIGITS):
    wishes = Wishes(free=("batch_size",), admissible=lambda _today, _proposed: True, preference=Preference())
    return Grounds(identity, look_ahead(TODAY, runs, wishes, seed=0), trials, others, None, 0)


def runs_of(seconds, count=3, **outcome):
    return [
        a_run(f"r{i}", 200.0 + i, parameters=TODAY, outcome=Outcome(duration_seconds=seconds + i, **outcome))
        for i in range(count)
    ]


def log(folder, rows=4, **head):
    facts = {"run_id": "t1", "dataset": "digits", "model": "cnn", "framework": "pytorch", "batch_size": 64, "start": 0, **head}
    path = Path(folder) / "t1.csv"
    ends = "".join(f"{10 * i},{i},{100 * i},0.5,0.4\n" for i in range(1, rows + 1))
    path.write_text("".join(f"# {k}={v}\n" for k, v in facts.items()) + "time,epoch,samples,train_loss,val_loss\n" + ends)
    return path


@pytest.mark.parametrize(
    ("known", "kind"),
    [
        (grounds(runs=runs_of(400.0)), "history"),
        (grounds(trials=[a_trial()]), "trials"),
        (grounds(others=[a_run(identity=Identity("digits2", "cnn", "pytorch"))]), "unknown"),
        (grounds(), "unknown"),
        (grounds(identity=Identity("cifar10", "resnet18", "pytorch")), "heuristic"),
    ],
)
def test_an_answer_says_what_it_rests_on(known, kind):
    ((first, *_),) = expectations([TODAY], known)
    assert first.kind == kind
    assert (first.forecast.duration_seconds is None) == (kind == "unknown")


def test_the_narrower_of_history_and_trials_counts():
    wild = [replace(run, outcome=Outcome(duration_seconds=400.0 * 4**i)) for i, run in enumerate(runs_of(1.0))]
    ((first, second),) = expectations([TODAY], grounds(runs=wild, trials=[a_trial()]))
    assert (first.kind, second.kind) == ("trials", "history")


def test_a_job_that_stops_at_a_target_is_known_by_its_history():
    runs = runs_of(100.0, converged=True, val_loss=0.4)
    ((first, second),) = expectations([TODAY], grounds(runs=runs, trials=[a_trial()]))
    assert (first.kind, second.kind) == ("history", "trials")
    assert disagree([first, second])
    assert second.forecast.val_loss == first.forecast.val_loss  # what the trial does not tell


def test_a_target_counts_even_where_trials_are_narrower():
    wild = [replace(run, outcome=Outcome(duration_seconds=400.0 * 4**i, converged=True)) for i, run in enumerate(runs_of(1.0))]
    ((first, second),) = expectations([TODAY], grounds(runs=wild, trials=[a_trial()]))
    assert (first.kind, second.kind) == ("history", "trials")


def test_what_a_log_does_not_name_had_todays_value_whatever_is_asked_first():
    silent = replace(a_trial(samples=1000.0), parameters={})
    other = {**TODAY, "batch_size": 8.0}
    (now, *_), _ = expectations([TODAY, other], grounds(trials=[silent]))
    _, (again, *_) = expectations([other, TODAY], grounds(trials=[silent]))
    assert again.forecast.duration_seconds.mean == pytest.approx(now.forecast.duration_seconds.mean, rel=0.02)


def test_a_trial_on_a_part_of_the_data_tells_no_memory_and_no_loss():
    losses = tuple((float(e), 0.2 + 1 / e) for e in range(1, 21))
    part = replace(a_trial(losses=losses, memory_gib=2.0), fraction=0.1)
    ((found,),) = expectations([TODAY], grounds(trials=[part]))
    assert found.forecast.memory_gib is found.forecast.val_loss is None


def test_losses_and_memory_come_from_trials_of_this_very_configuration_alone():
    losses = tuple((float(e), 0.2 + 1 / e) for e in range(1, 21))
    known = grounds(trials=[a_trial(losses=losses, memory_gib=2.0, samples=1000.0)])
    ((here,), (there,)) = expectations([TODAY, {**TODAY, "batch_size": 128.0}], known)
    assert here.forecast.memory_gib is not None
    assert here.forecast.memory_gib.mean == 2.0
    assert here.forecast.val_loss is not None
    assert there.forecast.memory_gib is there.forecast.val_loss is None
    assert here.forecast.throughput_samples_per_second.mean == pytest.approx(100, rel=0.05)


def test_a_log_is_read_with_the_share_it_names_before_the_one_given(tmp_path):
    (trial,) = read_trials([log(tmp_path, data_fraction=0.1)], DIGITS, 0.5)
    assert (trial.fraction, trial.epoch_seconds, trial.parameters) == (0.1, 10.0, {"batch_size": 64.0})
    (trial,) = read_trials([log(tmp_path)], DIGITS, 0.5)
    assert trial.fraction == 0.5


@pytest.mark.parametrize(
    ("head", "rows", "code"),
    [
        ({"dataset": "cifar"}, 4, "JPO-E821"),
        ({}, 1, "JPO-E822"),
        ({}, 0, "JPO-E822"),
        ({"data_fraction": 1.5}, 4, "JPO-E823"),
        ({"data_fraction": "nan"}, 4, "JPO-E823"),
        ({"data_fraction": -0.1}, 4, "JPO-E823"),
        ({"data_fraction": 1e-300}, 4, "JPO-E823"),
        ({"batch_size": -4}, 4, "JPO-E823"),
    ],
)
def test_a_trial_that_cannot_be_used_is_refused_with_its_reason(tmp_path, head, rows, code):
    with pytest.raises(UsageError) as refused:
        read_trials([log(tmp_path, rows, **head)], DIGITS, None)
    assert refused.value.code == code


def test_a_trial_of_another_workload_is_refused_by_both_names(tmp_path):
    with pytest.raises(UsageError, match=r"cifar/cnn/pytorch.*digits/cnn/pytorch"):
        read_trials([log(tmp_path, dataset="cifar")], DIGITS, None)


def test_a_trial_that_failed_still_tells_its_speed(tmp_path):
    (trial,) = read_trials([log(tmp_path, end=40, status="failed")], DIGITS, None)
    assert trial.epoch_seconds == 10.0


def test_an_empty_log_is_no_trial(tmp_path):
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    with pytest.raises(TelemetryError, match="empty"):
        read_trials([empty], DIGITS, None)


def test_absurd_numbers_beside_the_rows_are_not_measured(tmp_path):
    (trial,) = read_trials([log(tmp_path, end="inf", memory_bytes="nan")], DIGITS, None)
    assert (trial.around_seconds, trial.memory_gib) == (0.0, None)


def test_a_trial_named_twice_is_one(tmp_path):
    path = log(tmp_path)
    assert len(read_trials([path, path], DIGITS, None)) == 1
