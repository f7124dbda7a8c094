"""A search as a library: nothing twice, the best in the end, and the other goal as it was."""

from __future__ import annotations

import math

import pytest

from jpo import Advisor, Outcome, Range
from jpo.errors import UsageError

SPACE = {"dropout": Range(0.0, 0.5), "optimizer": ["adam", "sgd"]}
START = {"dropout": 0.0, "optimizer": "sgd"}


def loss(dropout: float, optimizer: str) -> float:
    return math.exp(20 * (dropout - 0.3) ** 2 + 0.3 * (optimizer == "sgd"))


def searched(advisor: Advisor, runs: int) -> list[tuple[object, ...]]:
    asked = []
    for _ in range(runs):
        values = advisor.ask().parameters
        asked.append(tuple(values.values()))
        advisor.tell(values, Outcome(duration_seconds=60.0, val_loss=loss(**values)))  # type: ignore[arg-type]
    return asked


def test_no_configuration_is_asked_for_twice_and_the_best_is_answered_in_the_end() -> None:
    advisor = Advisor(SPACE, START, {"loss": 1.0}, goal="search", horizon_runs=16)
    asked = searched(advisor, 16)
    assert len(set(asked)) == 16
    last = advisor.ask()
    assert last.parameters == advisor.incumbent
    assert last.codes[0] == "JPO-I674"
    assert loss(**last.parameters) < 1.05  # type: ignore[arg-type]


def test_a_large_space_is_searched_near_the_best_and_anywhere() -> None:
    advisor = Advisor(
        {**SPACE, **{f"x{i}": Range(0.0, 1.0) for i in range(4)}}, {**START, **{f"x{i}": 0.5 for i in range(4)}}, {"loss": 1}
    )
    asked = []
    for _ in range(8):
        values = advisor.ask().parameters
        asked.append(tuple(values.values()))
        advisor.tell(values, Outcome(duration_seconds=60.0, val_loss=math.exp(float(values["x0"]))))  # type: ignore[arg-type]
    assert len(set(asked)) == 8
    assert float(advisor.incumbent["x0"]) < 0.2  # type: ignore[arg-type]


def test_everything_tried_something_runs_again() -> None:
    advisor = Advisor({"optimizer": ["adam", "sgd"]}, {"optimizer": "sgd"}, {"loss": 1.0})
    for values in ({"optimizer": "sgd"}, {"optimizer": "adam"}):
        advisor.tell(values, Outcome(duration_seconds=60.0, val_loss=loss(0.3, **values)))
    assert advisor.ask().parameters["optimizer"] in ("adam", "sgd")
    assert advisor.incumbent == {"optimizer": "adam"}


@pytest.mark.parametrize(
    ("arguments", "is_search"),
    [
        ({"preference": {"loss": 1.0}}, True),
        ({"preference": {"loss": 1.0}, "goal": "recurring"}, False),
        ({"preference": "balanced", "explore": "on", "horizon_runs": 5}, True),
        ({"preference": "balanced", "explore": "on"}, False),
        ({"preference": "efficiency"}, False),
        ({"preference": "time", "goal": "search"}, True),
    ],
)
def test_what_is_meant_is_said_first(arguments: dict[str, object], *, is_search: bool) -> None:
    advisor = Advisor(SPACE, START, **arguments)  # type: ignore[arg-type]
    advisor.tell(START, Outcome(duration_seconds=60.0, val_loss=2.0, gpu_utilisation=0.5))
    assert (advisor.ask().codes[0] == "JPO-I674") is is_search


def test_an_unknown_goal_is_refused() -> None:
    with pytest.raises(UsageError, match="write recurring or search"):
        Advisor(SPACE, START, goal="best")  # type: ignore[arg-type]


@pytest.mark.parametrize("extra", [0, 4])
def test_where_today_lies_between_two_steps_of_a_range_and_is_the_best_it_is_answered(extra: int) -> None:
    """Once the search ended with a model that was worse than the one it began with."""
    more = {f"x{i}": Range(0.0, 1.0) for i in range(extra)}
    best = {"dropout": 0.3, **dict.fromkeys(more, 0.5)}
    advisor = Advisor({"dropout": Range(0.0, 0.5), **more}, best, {"loss": 1.0}, goal="search", horizon_runs=4)
    for _ in range(4):
        values = advisor.ask().parameters
        off = sum(20 * (float(values[name]) - at) ** 2 for name, at in best.items())  # type: ignore[arg-type]
        advisor.tell(values, Outcome(duration_seconds=60.0, val_loss=math.exp(off)))
    assert advisor.ask().parameters == advisor.incumbent == best
    assert "JPO-W609" not in advisor.ask().codes


@pytest.mark.parametrize("goal", ["search", "recurring"])
def test_where_today_is_no_choice_no_sla_is_blamed(goal: str) -> None:
    advisor = Advisor({"optimizer": ["adam", "sgd"]}, {"optimizer": "lion"}, {"loss": 1.0}, goal=goal)  # type: ignore[arg-type]
    for optimizer in ("lion", "adam"):
        advisor.tell({"optimizer": optimizer}, Outcome(duration_seconds=60.0, val_loss=2.0))
    assert "today's values are outside the space" in advisor.ask().reasons
