from __future__ import annotations

import math

import numpy as np
import pytest

from jpo.forecast.discrepancy import Discrepancy, adjusted, student_t
from jpo.forecast.measurements import NO_MEASUREMENTS, Measurements
from jpo.records import Candidates

LN2 = math.log(2)
MISFIT = Discrepancy(tau=0.12, noise=0.06)


def rows(name: str, *values: float) -> Candidates:
    grid = np.array([[value] for value in values])
    return Candidates((name,), grid, 0, np.ones(len(values), dtype=np.bool_), np.zeros(len(values)))


def seen(*rows_and_logs: tuple[int, float], count: float = 1.0) -> Measurements:
    at, logs = zip(*rows_and_logs, strict=True)
    return Measurements(np.array(at), np.array(logs, dtype=np.float64), np.full(len(at), count))


def test_student_t_by_hand() -> None:
    by_hand = -2.5 * (math.log(1 + 0.04 / (4 * 0.01)) + math.log(1 + 0.01 / (4 * 0.02)))
    assert student_t(np.array([[0.2, -0.1]]), np.array([0.01, 0.02])) == pytest.approx([by_hand])


def test_an_isolated_row_moves_by_the_share_of_the_discrepancy() -> None:
    """Candidate 1 took twice as long as simulated: level 1/2 ln 2 above, of which tau^2 / (tau^2 + noise^2) = .8 moves both."""
    result = adjusted(np.zeros((1, 2)), seen((0, 0.0), (1, LN2)), NO_MEASUREMENTS, MISFIT, rows("batch_size", 32, 4096))
    assert result.log[0] == pytest.approx([0, 0.8 * LN2], rel=1e-3)
    assert result.level == pytest.approx([LN2 / 2 - 0.8 * LN2 / 2], rel=1e-3)


def test_a_neighbour_goes_along_by_how_alike_it_is() -> None:
    """One doubling away: exp(-1/2) of the movement; three doublings: exp(-9/2)."""
    result = adjusted(
        np.zeros((1, 4)), seen((0, 0.0), (1, LN2)), NO_MEASUREMENTS, MISFIT, rows("batch_size", 2**5, 2.0**20, 2.0**21, 2.0**23)
    )
    step = result.log[0, 1] / 2  # of each of the two, away from the level
    assert result.log[0, 2] == pytest.approx(step * (1 + math.exp(-0.5)), rel=1e-3)
    assert result.log[0, 3] == pytest.approx(step * (1 + math.exp(-4.5)), rel=1e-3)


def test_memory_and_cpus_reach_further_than_batch_size() -> None:
    moves = []
    for name in ("batch_size", "cpus", "memory_gib"):
        candidates = rows(name, 1, 2.0**20, 2.0**22)
        moves.append(adjusted(np.zeros((1, 3)), seen((0, 0.0), (1, LN2)), NO_MEASUREMENTS, MISFIT, candidates).log[0, 2])
    assert moves == sorted(moves)
    assert moves[0] < 0.95 * moves[1] < 0.95**2 * moves[2]


def test_twins_are_one_place_and_do_not_break_the_equations() -> None:
    result = adjusted(
        np.zeros((1, 3)), seen((0, 0.0), (1, LN2), (2, LN2)), NO_MEASUREMENTS, MISFIT, rows("batch_size", 1, 1024, 1024)
    )
    assert result.log[0, 1] == pytest.approx(result.log[0, 2])
    assert 0.8 * LN2 < result.log[0, 1] < LN2


def test_more_runs_are_trusted_more() -> None:
    once, often = (
        adjusted(np.zeros((1, 2)), seen((0, 0.0), (1, LN2), count=n), NO_MEASUREMENTS, MISFIT, rows("batch_size", 32, 4096))
        for n in (1, 9)
    )
    assert often.log[0, 1] == pytest.approx(LN2 * 0.12**2 / (0.12**2 + 0.06**2 / 9), rel=1e-3)
    assert often.log_likelihood[0] < once.log_likelihood[0]


def test_a_row_seen_often_fixes_the_level() -> None:
    both = Measurements(np.array([0, 1]), np.array([0.0, LN2]), np.array([1e6, 1e-6]))
    result = adjusted(np.zeros((1, 2)), both, NO_MEASUREMENTS, MISFIT, rows("batch_size", 32, 4096))
    assert result.level == pytest.approx([0], abs=0.01)
    assert result.log[0] == pytest.approx([0, 0], abs=0.01)


def test_the_least_moves_only_the_particles_below() -> None:
    simulated = np.array([[0.0, 0.0], [0.0, 2 * LN2]])
    result = adjusted(simulated, seen((0, 0.0)), seen((1, LN2)), MISFIT, rows("batch_size", 32, 4096))
    weight = 1 / (1 + math.exp(-result.log_likelihood[0]))  # of the first; the other one's likelihood is 1
    differ = weight * (1 - weight) * (2 * LN2) ** 2
    assert result.log[:, 1] == pytest.approx([(differ + 0.12**2) / (differ + 0.018) * LN2, 2 * LN2], rel=1e-3)
    assert result.log_likelihood == pytest.approx([-2.5 * math.log1p(LN2**2 / (4 * 0.018)), 0])


def test_todays_column_stays_zero_when_today_was_not_run() -> None:
    result = adjusted(np.array([[0.0, 0.5]]), seen((1, 3.0)), NO_MEASUREMENTS, MISFIT, rows("batch_size", 32, 64))
    assert result.log[0] == pytest.approx([0, 0.5])
    assert result.level == pytest.approx([2.5])


def test_what_goes_along_in_the_particles_is_moved_along() -> None:
    """Jobs differ in how they scale, and two far rows show it: what is seen of one is believed of the other."""
    slopes = np.linspace(-1, 1, 41)
    simulated = np.stack([0 * slopes, slopes, 2 * slopes, 0 * slopes], axis=1)  # (J, K)
    little, candidates = Discrepancy(0.01, 0.005), rows("batch_size", 1, 2.0**10, 2.0**20, 2.0**30)
    flat = adjusted(simulated, seen((0, 0.0), (1, 0.6)), NO_MEASUREMENTS, little, candidates).log[20]
    assert flat == pytest.approx([0, 0.6, 1.2, 0], abs=0.02)
