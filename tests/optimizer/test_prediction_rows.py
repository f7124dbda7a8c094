from __future__ import annotations

from made import DIGITS, a_run

from constraints import Limits
from jpo.cost import Prices
from jpo.optimizer.expectations import Basis
from jpo.optimizer.prediction_rows import RowBasis, further_rows, rows_of, warnings
from jpo.optimizer.surrogate import surrogate_of
from jpo.records import FirstRun, Known, Note, Outcome, Preference, Run
from tests.asked import a_request

TODAY = {"batch_size": 16.0, "cpus": 2.0}


def run(batch_size: float, seconds: float, number: int) -> Run:
    parameters = {**TODAY, "batch_size": batch_size}
    return a_run(f"r{number}", 200.0 + number, parameters=parameters, outcome=Outcome(duration_seconds=seconds))


RUNS = (run(16, 100, 1), run(16, 90, 2), run(32, 60, 3))


def basis(*runs: Run) -> RowBasis:
    runs = runs or RUNS
    prices = Prices(usd_per_cpu_hour=0.5, spot_share=0.5)
    request = a_request(TODAY, ["batch_size"], lambda _today, proposed: proposed["batch_size"] <= 64, Preference(), prices)
    evidence = Basis(DIGITS, surrogate_of(request, Known(tuple(runs)), seed=0), (), (), lambda _: FirstRun(), 0)
    return RowBasis(request, Limits(), evidence, runs, 1_795_300_000.0)


def test_a_row_says_what_differs_and_how_often_it_was_run() -> None:
    today, other = rows_of([TODAY, {**TODAY, "batch_size": 32.0}], basis(), spot=False)
    assert (today.differs, today.runs, today.spot) == ({}, 2, None)
    assert (other.differs, other.runs) == ({"batch_size": 32.0}, 1)


def test_spot_prices_are_a_second_row() -> None:
    demand, spot = rows_of([TODAY], basis(), spot=True)
    assert (demand.spot, spot.spot) == (False, True)
    costs = [row.expected.forecast.cost_usd for row in (demand, spot)]
    assert costs[0] is not None
    assert costs[1] is not None
    assert costs[1].mean == costs[0].mean / 2


def test_further_rows_are_those_that_the_limits_allow_and_that_are_not_shown() -> None:
    shown = rows_of([TODAY], basis(), spot=False)
    sizes = {row.parameters["batch_size"] for row in further_rows(shown, basis(), spot=False)}
    assert 32.0 in sizes
    assert 16.0 not in sizes
    assert max(sizes) <= 64


def test_what_no_run_has_varied_is_called_simulated() -> None:
    once = basis(run(16, 100, 1), run(16, 90, 2))
    sentence = "batch_size was 16 whenever it ran: what another value does is known from simulated jobs alone"
    varied = rows_of([{**TODAY, "batch_size": 32.0}], once, spot=False)
    assert list(warnings(list(varied), once)) == [Note("JPO-W824", sentence)]
    assert list(warnings(list(rows_of([TODAY], once, spot=False)), once)) == []
