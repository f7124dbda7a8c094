from __future__ import annotations

import numpy as np
import pytest

from constraints import Facts, Limits, approves
from jpo.cost import check_sla
from jpo.errors import NothingAdmissible
from jpo.optimizer.request import Request
from jpo.optimizer.sla import trade_vetoes, within_sla
from jpo.records import Candidates, Currency, Forecast, Interval, Preference
from tests.asked import a_request, changed


def request(targets: dict[str, float]) -> Request:
    return a_request({}, free=(), admissible=lambda _today, _proposed: True, preference=Preference(), targets=targets)


class Foreseen:
    """An outlook in which these means are expected of three candidates; a quantity that is not named is unknown."""

    def __init__(self, **expected: list[float]) -> None:
        self.candidates = Candidates(("cpus",), np.array([[1.0], [2.0], [3.0]]), 0, np.array([True] * 3), np.zeros(3))
        self.means = {name: np.array(values) for name, values in expected.items()}

    def expected(self, quantity: str) -> np.ndarray | None:
        return self.means.get(quantity)


@pytest.mark.parametrize(
    ("target", "quantity", "means"),
    [
        ("time_max", "duration_seconds", [1.0, 2.0, 3.0]),
        ("throughput_min", "throughput_samples_per_second", [3.0, 2.0, 1.0]),
        ("memory_max_gib", "memory_gib", [2.0, 1.0, 2.1]),
        ("gpu_util_min", "gpu_utilisation", [3.0, np.nan, 1.0]),
        ("val_loss_max", "val_loss", [-1.0, 2.0, 2.5]),
    ],
)
def test_every_target_takes_out_what_is_expected_to_break_it_and_what_is_unknown_stays(target, quantity, means) -> None:
    left = within_sla(Foreseen(**{quantity: means}), request({target: 2.0, "cpu_util_min": 1.0}))
    assert left.admissible.tolist() == [True, True, False]


def test_one_target_that_nothing_keeps_is_named_with_what_comes_nearest() -> None:
    with pytest.raises(NothingAdmissible, match=r"\[sla\] throughput_min: .* keep 9; the nearest expects 4; relax it"):
        within_sla(Foreseen(throughput_samples_per_second=[1.0, 4.0, 2.0]), request({"throughput_min": 9.0}))


def test_targets_that_exclude_each_other_are_named_with_what_each_demands() -> None:
    surrogate = Foreseen(duration_seconds=[100.0, 50.0, 20.0], cost_usd=[1.0, 2.0, 5.0], val_loss=[0.1, 0.1, 0.1])
    with pytest.raises(NothingAdmissible) as caught:
        within_sla(surrogate, request({"val_loss_max": 0.2, "time_max": 30.0, "cost_max": 3.0}))
    assert str(caught.value) == (
        "[sla]: time_max (30s) and cost_max (3.00 USD) contradict each other: what keeps time_max costs at least 5.00 USD; "
        "what keeps cost_max takes at least 50s; relax one of them, or widen the limits in [parameters]"
    )


def test_three_targets_of_which_any_two_can_be_kept_are_named_together() -> None:
    surrogate = Foreseen(duration_seconds=[9.0, 1.0, 1.0], memory_gib=[1.0, 9.0, 1.0], val_loss=[1.0, 1.0, 9.0])
    with pytest.raises(NothingAdmissible, match="time_max, memory_max_gib, val_loss_max cannot be kept together, though any two"):
        within_sla(surrogate, request({"time_max": 2.0, "memory_max_gib": 2.0, "val_loss_max": 2.0}))


def test_where_only_digits_that_nobody_writes_are_missing_it_says_a_little() -> None:
    with pytest.raises(NothingAdmissible, match="keep 6h 00m; the nearest expects a little more"):
        within_sla(Foreseen(duration_seconds=[21_610.0, 22_000.0, 30_000.0]), request({"time_max": 21_600.0}))


def test_what_is_beyond_a_limit_by_rounding_alone_does_not_break_it() -> None:
    """A forecast is a mean of logs: of seven equal runs of 12.3 s it is this."""
    targets, expected = {"time_max": 12.3}, 12.300000000000058
    assert within_sla(Foreseen(duration_seconds=[expected, 12.4, 12.5]), request(targets)).admissible.tolist() == [
        True,
        False,
        False,
    ]
    (check,) = check_sla(targets, Forecast(duration_seconds=Interval(expected, 11.0, expected)))
    assert check.verdict == "ok"
    facts = Facts(next={"duration_seconds": expected})
    assert approves({"cpus": 1.0}, {"cpus": 2.0}, Limits(sla={"time_max": 12.3}), facts)


def test_amounts_are_named_in_the_users_currency() -> None:
    in_euros = changed(request({"cost_max": 2.0}), currency=Currency("EUR", 0.5))
    with pytest.raises(NothingAdmissible, match=r"keep 1\.00 EUR; the nearest expects 1\.50 EUR"):
        within_sla(Foreseen(cost_usd=[3.0, 4.0, 5.0]), in_euros)


def test_what_trades_time_and_money_at_a_price_that_is_not_acceptable_is_held() -> None:
    hours, usd = [4.0, 2.0, 6.0], [10.0, 30.0, 2.0]  # an hour saved costs 10; an hour longer saves 4
    seen = Foreseen(duration_seconds=[3600 * each for each in hours], cost_usd=usd)
    for worth, held in ((5.0, [False, True, True]), (3.0, [False, True, False]), (20.0, [False, False, True])):
        (hold,) = trade_vetoes(seen, changed(request({}), usd_per_saved_hour=worth))  # type: ignore[arg-type]
        assert (hold.rows.tolist(), hold.code, hold.lasting) == (held, "JPO-I641", False)
    assert not trade_vetoes(seen, request({}))  # type: ignore[arg-type]
    unpriced = Foreseen(duration_seconds=[3600.0] * 3)
    assert not trade_vetoes(unpriced, changed(request({}), usd_per_saved_hour=5.0))  # type: ignore[arg-type]
