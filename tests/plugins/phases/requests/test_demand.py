from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from jpo.plugins.phases.requests.demand import Futures, Likely, Past, Positions, join, positions_of, thinned
from jpo.plugins.phases.traces import CPU, MEMORY, ExecutionTrace, Traces

TIMES = np.array([0.0, 10, 50, 90, 400, 410])
NEEDS = np.array([[1.0, 10], [2, 10], [1, 30], [5, 20], [1, 20], [2, 21]])
PHASES = np.array([0, 0, 0, 1, 1, 1])
TRACES = Traces((CPU, MEMORY), (ExecutionTrace("a", TIMES, NEEDS), ExecutionTrace("b", TIMES[:3], NEEDS[3:])))


def test_positions_know_what_came_next_and_within_the_horizon() -> None:
    found = positions_of(TRACES, np.r_[PHASES, PHASES[3:]], 60.0)
    assert found.dwell_seconds[:6].tolist() == [0, 10, 50, 0, 310, 320]
    assert found.level[:6].tolist() == [[1, 10], [2, 10], [2, 30], [5, 20], [5, 20], [5, 21]]
    assert found.next_need[:6].tolist() == [[2, 10], [1, 30], [5, 20], [1, 20], [2, 21], [0, 0]]
    assert found.next_stays[:6].tolist() == [True, True, False, True, True, True]
    assert found.soon_need[:6].tolist() == [[2, 30], [1, 30], [5, 20], [1, 20], [2, 21], [0, 0]]
    assert found.soon_stays[:6].tolist() == [True, True, False, True, True, True]


def test_an_execution_that_goes_on_knows_the_same_of_its_past() -> None:
    past = Past(60.0)
    for time, need, phase in zip(TIMES, NEEDS, PHASES, strict=True):
        past.add(float(time), need, int(phase))
    at_once = positions_of(TRACES, np.r_[PHASES, PHASES[3:]], 60.0)
    for field in fields(Positions):
        assert (getattr(past.samples.at(slice(0, len(past) - 1)), field.name) == getattr(at_once, field.name)[:5]).all()
    assert past.here[:2] == (1, 320)


def test_a_long_past_is_forgotten() -> None:
    past = Past(60.0, most=5)
    for time in range(40):
        past.add(float(time), np.ones(2), 0)
    assert 5 <= len(past.samples.at(slice(0, len(past) - 1))) <= 10
    assert past.here[1] == 39


def made(needs: list[float], *, stays: bool, level: float) -> Positions:
    n = len(needs)
    both = np.repeat(np.array(needs)[:, None], 2, axis=1)
    flags = np.full(n, stays)
    return Positions(np.zeros(n, dtype=np.int64), np.zeros(n), np.full((n, 2), level), both, flags, both, flags)


def expected(positions: Positions, phase: int = 0, dwell: float = 0.0) -> tuple[Likely, Likely] | None:
    return Futures(positions, phase, 10.0, np.ones(2)).at(dwell, np.array([4.0, 4.0]))


def test_needs_within_a_phase_are_carried_to_the_level_of_the_run() -> None:
    likely = expected(made([3.0], stays=True, level=2.0))
    assert likely is not None
    assert [likely[1].quantile(resource, 0.5) for resource in (0, 1)] == pytest.approx(
        [5.0, 6.0]
    )  # one core more; half as much again


def test_needs_of_another_phase_count_as_they_were() -> None:
    likely = expected(made([3.0], stays=False, level=2.0))
    assert likely is not None
    assert [likely[1].quantile(resource, 0.5) for resource in (0, 1)] == [3.0, 3.0]


def test_nothing_is_expected_where_nothing_is_alike() -> None:
    assert expected(made([3.0], stays=False, level=2.0), phase=3) is None
    assert expected(made([3.0], stays=False, level=2.0), dwell=1e9) is None


def test_thousands_of_positions_are_thinned_evenly() -> None:
    many = join([made([float(at) for at in range(1000)], stays=True, level=1.0)])
    few = thinned(many)
    assert 300 <= len(few) <= 400
    assert few.next_need.mean() == pytest.approx(many.next_need.mean(), rel=0.01)


def test_futures_grow_and_those_for_now_make_room() -> None:
    now, later = made([3.0, 5.0], stays=False, level=2.0), made([7.0], stays=False, level=2.0)
    futures = Futures(now, 0, 10.0, np.ones(2))
    futures.add(later, np.array([0]), last=1)
    for at in range(100):
        futures.add(made([float(at)], stays=False, level=2.0), np.array([0]), last=1)
    assert len(futures) == 3
    likely = futures.at(0.0, np.ones(2))
    assert likely is not None
    assert [likely[1].quantile(0, level) for level in (0.1, 0.5, 1.0)] == [3.0, 5.0, 99.0]
    futures.forget(1)
    assert len(futures) == 1


@pytest.mark.parametrize("level", [0.05, 0.5, 0.95])
def test_whether_a_quantile_is_within_is_known_without_it(level: float) -> None:
    rng = np.random.default_rng(0)
    needs, weights = rng.integers(0, 9, (2, 50)).astype(float), rng.random(50)
    for need in range(10):
        likely = Likely(needs, weights, float(weights.sum()))
        asked = likely.is_within(0, level, need)
        assert asked == (likely.quantile(0, level) <= need) == likely.is_within(0, level, need)
