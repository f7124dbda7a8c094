from __future__ import annotations

import numpy as np
import pytest
from weighted_latents import weighted

from jpo.records import Candidates
from jpo.simulate.knobs import POWER_LIMIT, Knobs, knobs_of
from jpo.simulate.latents import Latents
from jpo.simulate.power import log_power, under_limit

BUSY = np.log([[1.0, 0.5, 0.01]])


def test_full_load_draws_full_power_and_less_load_less() -> None:
    share = np.exp(log_power(BUSY, Latents(500, 1)))
    assert share[:, 0] == pytest.approx(np.ones(500))
    assert (np.diff(share, axis=1) < 0).all()


def test_nearly_idle_still_draws_a_fifth_to_two_thirds() -> None:
    share = np.exp(log_power(np.full((1, 1), -np.inf), Latents(2000, 1)))[:, 0]
    assert (share.min(), share.max()) == pytest.approx((0.2, 0.7), abs=0.01)


def test_power_rises_at_least_in_proportion_to_the_busy_share() -> None:
    share = np.exp(log_power(BUSY, Latents(500, 2)))
    linear = share[:, 2] + (share[:, 0] - share[:, 2]) * (0.5 - 0.01) / (1 - 0.01)
    assert (share[:, 1] >= linear - 1e-9).all()


def test_the_formula_by_hand() -> None:
    latents = Latents(1, 7)
    idle, bend = float(latents.uniform("idle power", 0.2, 0.7)[0, 0]), float(latents.uniform("power bend", 0.3, 1.0)[0, 0])
    assert np.exp(log_power(np.log([[0.25]]), latents))[0, 0] == pytest.approx(idle + (1 - idle) * 0.25**bend)


def test_power_rises_with_the_busy_share_in_every_job_and_less_where_idle_power_is_high() -> None:
    cheap, dear = (weighted(500, 3, {"idle power": weights}) for weights in ((1.0, 1e-12), (1e-12, 1.0)))
    rise = [(log_power(BUSY, latents)[:, 0] - log_power(BUSY, latents)[:, 1]) for latents in (cheap, dear)]
    assert (rise[0] > rise[1]).mean() > 0.95
    assert rise[1].min() > 0


def limits(*watts: float) -> Knobs:
    rows = np.array([[limit] for limit in watts])
    return knobs_of(Candidates((POWER_LIMIT,), rows, 0, np.ones(len(rows), dtype=np.bool_), np.zeros(len(rows))))


def test_a_power_limit_by_hand() -> None:
    latents = Latents(20, 0)
    slowed, drawn = under_limit(limits(300, 150), latents)
    share = np.array([1.0, 0.5])
    needed, static = latents.uniform("power needed", 0.5, 1.2), latents.uniform("static power", 0.1, 0.35)
    power, elsewhere = latents.uniform("clock power", 0.2, 0.4), latents.uniform("not bound by the clock", 0.0, 0.4)
    x = np.minimum(share / needed, 1)
    clock = np.maximum((x - static) / (1 - static), 0.02) ** power
    assert slowed == pytest.approx(np.log(elsewhere + (1 - elsewhere) / clock))
    assert drawn == pytest.approx(np.log(x))


def test_a_lower_limit_is_slower_and_draws_less_and_mostly_saves_energy() -> None:
    slowed, drawn = under_limit(limits(300, 200, 100), Latents(1000, 0))
    assert (np.diff(slowed) >= 0).all()
    assert (np.diff(drawn) <= 0).all()
    assert ((slowed + drawn)[:, 1] <= (slowed + drawn)[:, 0] + 1e-12).mean() > 0.8


def test_without_power_limits_nothing_is_slowed_by_a_difference() -> None:
    slowed, drawn = under_limit(limits(250, 250), Latents(50, 0))
    assert slowed[:, 0] == pytest.approx(slowed[:, 1])
    assert drawn[:, 0] == pytest.approx(drawn[:, 1])
