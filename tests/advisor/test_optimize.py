"""A whole search in one call, and how its parts show themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import jpo
from jpo import Advisor, Outcome, Range
from jpo.errors import UsageError

SPACE: Mapping[str, Sequence[object] | Range] = {"learning_rate": Range(1e-4, 1e-1, log=True), "layers": [2, 3, 4]}


def loss(parameters: dict[str, Any]) -> float:
    away = math.log10(parameters["learning_rate"] / 0.01)
    return 0.1 + 0.1 * away**2 + 0.02 * float(abs(parameters["layers"] - 3))


def test_the_best_configuration_is_found_and_all_runs_are_kept() -> None:
    found = jpo.optimize(loss, SPACE, 12)
    assert loss(found.parameters) < 0.12
    assert len(found.advisor.runs) == 12
    assert found.parameters in [parameters for parameters, _ in found.advisor.runs]


def test_it_begins_where_it_is_told_to_and_else_in_the_middle() -> None:
    begun: list[object] = []

    def noted(parameters: dict[str, Any]) -> float:
        begun.append(parameters["layers"])
        return loss(parameters)

    jpo.optimize(noted, SPACE, 1)
    jpo.optimize(noted, SPACE, 1, start={"learning_rate": 0.001, "layers": 4})
    assert begun == [2, 4]


def test_a_run_without_a_finite_loss_is_a_failed_one_and_never_the_best() -> None:
    found = jpo.optimize(lambda p: math.nan if p["layers"] == 4 else loss(p), SPACE, 8)
    assert found.parameters["layers"] != 4
    failed = [outcome.converged for parameters, outcome in found.advisor.runs if parameters["layers"] == 4]
    assert all(converged is False for converged in failed)


def test_an_outcome_of_the_functions_own_is_taken_as_it_is() -> None:
    found = jpo.optimize(lambda p: Outcome(duration_seconds=60, val_loss=loss(p)), SPACE, 3)
    assert [outcome.duration_seconds for _, outcome in found.advisor.runs] == [60] * 3


@pytest.mark.parametrize("answer", [0.0, -1.0, None, "good"])
def test_a_loss_that_has_no_ratio_is_refused_with_what_to_return(answer: object) -> None:
    with pytest.raises(UsageError, match="return a loss above 0"):
        jpo.optimize(lambda _: answer, SPACE, 3)  # type: ignore[arg-type, return-value]


def test_no_run_is_no_search() -> None:
    with pytest.raises(UsageError, match="whole number of at least 1"):
        jpo.optimize(loss, SPACE, 0)


def test_runs_are_a_table_and_a_history() -> None:
    advisor = Advisor(SPACE, {"learning_rate": 0.001, "layers": 2})
    advisor.tell({"learning_rate": 0.001, "layers": 2}, Outcome(duration_seconds=60, val_loss=0.5, metrics={"f1": 0.8}))
    advisor.tell({"learning_rate": 0.01, "layers": 3}, Outcome(duration_seconds=30, stopped=True))
    table = advisor.to_dataframe()
    assert set(table.columns) == {"learning_rate", "layers", "duration_seconds", "val_loss", "f1", "stopped"}
    assert table["duration_seconds"].tolist() == [60, 30]
    assert Advisor(SPACE, {"learning_rate": 0.001, "layers": 2}, history=advisor.runs).runs == advisor.runs


def test_what_the_library_offers_is_listed_and_says_what_it_is() -> None:
    assert dir(jpo) == jpo.__all__
    advisor = Advisor(SPACE, {"learning_rate": 0.001, "layers": 2})
    assert repr(advisor) == (
        "<Advisor of learning_rate, layers: recurring, 0 runs told, current={'learning_rate': 0.001, 'layers': 2}>"
    )
    assert repr(advisor.ask()).startswith("NextConfiguration(parameters={'learning_rate': 0.001, 'layers': 2}, forecast={}, ")
