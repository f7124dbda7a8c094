"""Figures of many runs, by hand: only runs that ended well say what a job takes, and support is counted."""

from __future__ import annotations

from jpo.history.figures import Spread, figures, spread
from jpo.records import Identity, Outcome, Quality, Run, RunStatus

A, B = Identity("a", "m", "f"), Identity("b", "m", "f")


def run(number: int, batch_size: float | None, seconds: float, *, identity: Identity = A, status: str = "succeeded", **outcome):
    parameters = {} if batch_size is None else {"batch_size": batch_size, "epochs": 3.0}
    measured = Outcome(duration_seconds=seconds, **outcome)
    return Run(f"run-{number}", identity, parameters, RunStatus(status), None, 1000.0 + number, measured, "csv")


def in_cents(one: Run) -> float | None:
    return None if one.outcome.duration_seconds is None else one.outcome.duration_seconds / 100


def test_a_spread_by_hand() -> None:
    assert spread([4.0, 1.0, 2.0, 3.0, 10.0]) == Spread(5, mean=4.0, median=3.0, low=2.0, high=4.0, least=1.0)
    assert spread([7.0]) == Spread(1, mean=7.0, median=7.0, least=7.0)
    assert spread([]) == Spread(0)


def test_what_is_no_measurement_does_not_overflow() -> None:
    (one,) = figures([run(1, 8, 1e308), run(2, 8, 1e308), run(3, 8, 2.0)], in_cents)
    assert one.spreads["duration_seconds"] == Spread(1, mean=2.0, median=2.0, least=2.0)


def test_workloads_stand_apart_in_the_order_of_their_names() -> None:
    found = figures([run(1, 8, 1.0, identity=B), run(2, 8, 2.0), run(3, 8, 3.0, identity=B)], in_cents)
    assert [(one.identity, one.runs) for one in found] == [(A, 1), (B, 2)]
    assert figures([], in_cents) == ()


def test_runs_that_did_not_end_well_are_counted_and_say_nothing_else() -> None:
    runs = [
        run(1, 8, 10.0),
        run(2, 8, 1.0, status="oom_killed"),
        run(3, 8, 2.0, converged=False),
        run(4, 8, 3.0, status="stopped"),
    ]
    (one,) = figures(runs, in_cents)
    assert one.by_status == {"succeeded": 1, "oom_killed": 1, "target missed": 1, "stopped": 1}
    assert one.spreads["duration_seconds"] == Spread(1, mean=10.0, median=10.0, least=10.0)
    best = one.best["time"]
    assert best is not None
    assert (best.runs, best.failed) == (1, 3)


def test_the_best_has_the_least_median_not_the_one_lucky_run() -> None:
    runs = [run(1, 8, 10.0), run(2, 8, 50.0), run(3, 8, 52.0), run(4, 16, 30.0), run(5, 16, 31.0)]
    (one,) = figures(runs, in_cents)
    best = one.best["time"]
    assert best is not None
    assert (best.parameters["batch_size"], best.runs, best.medians["duration_seconds"]) == (16, 2, 30.5)
    assert one.varied == ("batch_size",)


def test_each_goal_has_its_own_best_and_unknown_stays_unknown() -> None:
    (one,) = figures([run(1, 8, 10.0, val_loss=0.5), run(2, 16, 5.0, val_loss=0.9), run(3, 32, 1.0)], lambda _: None)
    best = {goal: None if found is None else found.parameters["batch_size"] for goal, found in one.best.items()}
    assert best == {"time": 32, "cost": None, "loss": 8, "accuracy": None}
    assert one.spreads["cost_usd"] == Spread(0)


def test_of_equal_configurations_that_with_more_runs_is_best() -> None:
    (one,) = figures([run(1, 8, 10.0), run(2, 16, 10.0), run(3, 16, 10.0)], in_cents)
    assert one.best["time"] is not None
    assert one.best["time"].parameters["batch_size"] == 16


def test_a_value_that_went_through_a_text_is_the_same_configuration() -> None:
    (one,) = figures([run(1, 0.1 + 0.2, 10.0), run(2, 0.3, 20.0)], in_cents)
    assert (one.best["time"], one.varied) == (one.best["cost"], ())
    assert one.best["time"] is not None
    assert one.best["time"].runs == 2


def test_runs_without_known_parameters_are_no_configuration() -> None:
    (one,) = figures([run(1, None, 10.0)], in_cents)
    assert one.best == {"time": None, "cost": None, "loss": None, "accuracy": None}
    assert one.spreads["duration_seconds"].runs == 1


def test_of_an_accuracy_more_is_better() -> None:
    (one,) = figures([run(1, 8, 10.0, val_accuracy=0.93), run(2, 16, 5.0, val_accuracy=0.9)], lambda _: None)
    assert one.best["accuracy"] is not None
    assert one.best["accuracy"].parameters["batch_size"] == 8


def test_a_metric_of_the_users_own_has_a_best_where_its_direction_is_known() -> None:
    runs = [run(1, 8, 10.0, metrics={"f1": 0.8, "wer": 0.2, "seen": 1.0}), run(2, 16, 5.0, metrics={"f1": 0.9, "wer": 0.3})]
    (one,) = figures([*runs, run(3, 32, 1.0)], lambda _: None, {"f1": Quality("f1", True), "wer": Quality("wer")})
    best = {goal: None if found is None else found.parameters["batch_size"] for goal, found in one.best.items()}
    assert best == {"time": 32, "cost": None, "loss": None, "accuracy": None, "f1": 16, "wer": 8}
    assert one.best["f1"] is not None
    assert one.best["f1"].medians["wer"] == 0.3
