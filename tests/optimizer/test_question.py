from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.optimizer.question import Question, asked_for, can_be_scaled, possible, several
from jpo.records import Identity, Parameter, Workload
from tests.optimizer.test_advise import request

NOW = {"batch_size": 32.0, "learning_rate": 0.1, "gpus": 1.0}


def workload(**more: float) -> Workload:
    parameters = (Parameter(name, f"s.{name}", value, str(value), 1) for name, value in {**NOW, **more}.items())
    return Workload(Identity("d", "m", "f"), tuple(parameters), Path("config.ini"), b"")


def asked(**options: object) -> list[dict[str, float]]:
    following = request(current=NOW, free=tuple(NOW), follow={"learning_rate": "batch_size:linear"})
    return [dict(row) for row in asked_for(Question(**options), workload(), following)]  # type: ignore[arg-type]


def test_without_a_question_todays_configuration_is_asked_for() -> None:
    assert asked() == [dict(sorted(NOW.items()))]


def test_each_combination_is_a_row_after_today_and_what_follows_moves_along() -> None:
    rows = asked(chosen={"gpus": 2.0}, varied={"batch_size": "32,64"})
    assert rows == [
        {"batch_size": 32.0, "gpus": 1.0, "learning_rate": 0.1},
        {"batch_size": 32.0, "gpus": 2.0, "learning_rate": 0.1},
        {"batch_size": 64.0, "gpus": 2.0, "learning_rate": 0.2},
    ]


def test_a_configuration_that_is_named_twice_is_one_row() -> None:
    assert len(asked(varied={"batch_size": "32,32,64"})) == 2
    assert several("gpus", "4,1,4", workload()) == [4.0, 1.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chosen": {"gpus": 2.0}, "varied": {"gpus": "1,2"}}, "gpus is set by --set, too"),
        ({"varied": {"batch_size": ",".join(map(str, range(1, 202)))}}, "makes 201 rows, more than 200"),
        ({"varied": {"gpus": "1,many"}}, "'1,many' is not a list of numbers"),
        ({"fraction": 0.0, "trials": (Path("t"),)}, "0 is not a share of the data"),
        ({"fraction": 0.1}, "is a share of trials, and none is named"),
    ],
)
def test_what_cannot_be_asked_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        asked(**options)
    assert caught.value.code == "JPO-E823"


def test_no_gpus_are_possible_and_no_batch_is_not() -> None:
    assert possible("--set", "gpus", 0.0, workload()) == 0
    for name, value in (("batch_size", 0.0), ("batch_size", 1.5), ("learning_rate", 1e13), ("cpus", 1.0)):
        with pytest.raises(UsageError):
            possible("--set", name, value, workload())


def test_trials_are_carried_over_only_to_a_job_whose_length_is_known() -> None:
    can_be_scaled(workload(epochs=3.0))
    for job in (workload(), workload(epochs=0.5)):
        with pytest.raises(UsageError):
            can_be_scaled(job)
