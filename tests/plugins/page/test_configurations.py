from __future__ import annotations

from made import a_run

from jpo.cost import Prices
from jpo.plugins.page.configurations import effects_of, measured_front
from jpo.records import Outcome, Quality, Run, RunStatus

PRICES = Prices(usd_per_gpu_hour=3600.0)


def run(gpus: float, seconds: float, status: RunStatus = RunStatus.SUCCEEDED, **measured: float) -> Run:
    outcome = Outcome(duration_seconds=seconds, **measured)
    return a_run(f"{gpus} {seconds}", parameters={"gpus": gpus}, outcome=outcome, status=status)


def test_a_front_is_what_no_other_configuration_beats_in_time_and_cost() -> None:
    runs = [run(1, 100), run(2, 60), run(2, 40), run(4, 60), run(8, 9, RunStatus.FAILED)]
    front = measured_front(runs, PRICES)
    assert front.quantities == ("duration_seconds", "cost_usd")
    assert [(p.parameters["gpus"], p.runs, p.failed, p.on_front) for p in front.points] == [
        *((2.0, 2, 0, True), (4.0, 1, 0, False), (1.0, 1, 0, False), (8.0, 0, 1, False)),
    ]
    assert front.points[0].values == {"duration_seconds": 50.0, "cost_usd": 100.0}


def test_without_prices_it_is_one_of_time_and_the_model() -> None:
    front = measured_front([run(1, 100, val_loss=0.1), run(2, 50, val_loss=0.2), run(4, 50, val_loss=0.3)], Prices())
    assert front.quantities == ("duration_seconds", "val_loss")
    assert [(p.parameters["gpus"], p.on_front) for p in front.points] == [(2.0, True), (1.0, True), (4.0, False)]


def test_more_of_an_accuracy_is_better() -> None:
    front = measured_front([run(1, 100, val_accuracy=0.9), run(2, 50, val_accuracy=0.9), run(4, 60, val_accuracy=0.8)], Prices())
    assert front.maximised
    assert [p.parameters["gpus"] for p in front.points if p.on_front] == [2.0]


def test_the_users_own_metric_comes_before_the_loss() -> None:
    scored = [
        a_run("a", parameters={"gpus": 1.0}, outcome=Outcome(duration_seconds=1.0, val_loss=0.1, metrics={"f1": 0.5})),
        a_run("b", parameters={"gpus": 2.0}, outcome=Outcome(duration_seconds=2.0, val_loss=0.1, metrics={"f1": 0.7})),
    ]
    front = measured_front(scored, Prices(), Quality("f1", True, 1.0))
    assert (front.quantities[1], [p.on_front for p in front.points]) == ("f1", [True, True])


def test_time_alone_is_no_front() -> None:
    assert measured_front([run(1, 100)], Prices()).points == ()
    assert measured_front([], Prices()).points == ()


def test_the_newest_value_of_a_parameter_is_held_against_one_that_differs_in_nothing_else() -> None:
    often = [run(gpus, seconds + n) for gpus, seconds in ((1, 100), (2, 60), (4, 30)) for n in range(3)]
    both = a_run("both", parameters={"gpus": 8.0, "batch_size": 64.0}, outcome=Outcome(duration_seconds=9.0))
    ((name, (old, new, compared)),) = effects_of([*often, run(8, 9), both]).items()
    assert (name, old, new) == ("gpus", 2.0, 4.0)
    assert (compared.runs_before, compared.runs_after, compared.word) == (3, 3, "better")
    assert effects_of(often[:4]) == {}, "of too few runs"
