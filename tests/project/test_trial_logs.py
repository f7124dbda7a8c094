from pathlib import Path

import pytest
from made import DIGITS

from jpo.errors import TelemetryError, UsageError
from jpo.project.trial_logs import read_trials

NOW = 1_795_305_600.0


def log(folder, rows=4, name="t1", seconds=10, **head):
    facts = {"run_id": "t1", "dataset": "digits", "model": "cnn", "framework": "pytorch", "batch_size": 64, "start": 0, **head}
    path = Path(folder) / f"{name}.csv"
    ends = "".join(f"{seconds * i},{i},{100 * i},0.5,0.4\n" for i in range(1, rows + 1))
    path.write_text("".join(f"# {k}={v}\n" for k, v in facts.items()) + "time,epoch,samples,train_loss,val_loss\n" + ends)
    return path


def test_a_log_is_read_with_the_share_it_names_before_the_one_given(tmp_path):
    (trial,) = read_trials([log(tmp_path, data_fraction=0.1)], DIGITS, 0.5, now=NOW)
    assert (trial.fraction, trial.epoch_seconds, trial.parameters) == (0.1, 10.0, {"batch_size": 64.0})
    (trial,) = read_trials([log(tmp_path)], DIGITS, 0.5, now=NOW)
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
        ({"batch_size": 1e300}, 4, "JPO-E823"),
        ({"data_fraction": 0}, 4, "JPO-E823"),
    ],
)
def test_a_trial_that_cannot_be_used_is_refused_with_its_reason(tmp_path, head, rows, code):
    with pytest.raises(UsageError) as refused:
        read_trials([log(tmp_path, rows, **head)], DIGITS, None, now=NOW)
    assert refused.value.code == code


def test_a_trial_of_another_workload_is_refused_by_both_names(tmp_path):
    with pytest.raises(UsageError, match=r"cifar/cnn/pytorch.*digits/cnn/pytorch"):
        read_trials([log(tmp_path, dataset="cifar")], DIGITS, None, now=NOW)


def test_a_trial_that_failed_still_shows_its_speed(tmp_path):
    (trial,) = read_trials([log(tmp_path, end=40, status="failed")], DIGITS, None, now=NOW)
    assert trial.epoch_seconds == 10.0


def test_an_empty_log_is_no_trial(tmp_path):
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    with pytest.raises(TelemetryError, match="empty"):
        read_trials([empty], DIGITS, None, now=NOW)


def test_absurd_numbers_next_to_the_rows_are_not_measured(tmp_path):
    (trial,) = read_trials([log(tmp_path, end="inf", memory_bytes="nan")], DIGITS, None, now=NOW)
    assert (trial.around_seconds, trial.memory_gib) == (0.0, None)


def test_a_trial_named_twice_is_one(tmp_path):
    path = log(tmp_path)
    assert len(read_trials([path, path], DIGITS, None, now=NOW)) == 1


def test_two_trials_of_one_name_are_two(tmp_path):
    logs = [log(tmp_path), log(tmp_path, name="t2", seconds=20)]
    assert [one.epoch_seconds for one in read_trials(logs, DIGITS, None, now=NOW)] == [10.0, 20.0]


def test_milliseconds_are_refused(tmp_path):
    with pytest.raises(UsageError, match="not milliseconds"):
        read_trials([log(tmp_path, seconds=NOW * 500)], DIGITS, None, now=NOW)
