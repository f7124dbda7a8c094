import math

import pytest
from prediction_rows import UNKNOWN, a_row

from jpo.agent.safety.queue_waits import QueueWaits
from jpo.optimizer.what_if import Bounds


def test_bounds_are_kept_by_the_expected_value_and_say_how_likely():
    assert Bounds(3600.0, None).kept(a_row())
    assert not Bounds(3599.0, None).kept(a_row())
    assert Bounds(3600.0, None).probability(a_row()) == pytest.approx(0.5)
    assert Bounds(7200.0, None).probability(a_row()) == pytest.approx(0.95)
    assert not Bounds(None, 1.0).kept(a_row(usd=None))


def test_a_deadline_wants_the_cheapest_and_a_budget_the_fastest():
    cheap, fast = a_row(3600.0, 1.0), a_row(1800.0, 3.0)
    assert min((fast, cheap), key=Bounds(7200.0, None).order) is cheap
    assert min((fast, cheap), key=Bounds(None, 9.0).order) is fast
    assert min((fast, cheap), key=Bounds(7200.0, 9.0).order) is cheap


def test_unknown_and_free_are_distinguished():
    assert Bounds(60.0, None).miss(UNKNOWN) == math.inf
    assert "is unknown" in Bounds(60.0, None).words(UNKNOWN, met=False)
    assert "The fastest" in Bounds(None, 1.0).words(a_row(usd=0.0), met=True)
    assert "Prices are unknown" in Bounds(7200.0, None).words(a_row(usd=None), met=True)


def test_against_a_deadline_waiting_in_the_queue_counts_as_running_does():
    """An hour of running after an hour in the queue for one GPU is two hours, of which the run's own hour varies."""
    row = a_row(3600.0, 1.0)
    resource = next(iter(row.parameters))
    queue = QueueWaits(resource, {row.parameters[resource]: 3600.0})
    assert Bounds(7200.0, None, queue=queue).kept(row)
    assert not Bounds(7100.0, None, queue=queue).kept(row)
    assert Bounds(7200.0, None, queue=queue).probability(row) == pytest.approx(0.5)
    assert Bounds(3000.0, None, queue=queue).probability(row) == 0
    assert "today, 1h 00m (30m 00s to 2h 00m) after 1h 00m in the queue, 1.00 USD" in Bounds(7200.0, None, queue=queue).words(
        row, met=True
    )
    assert Bounds(None, 1.0, queue=queue).order(row) == (3600.0, 1.0)  # who asks for the fastest has no moment


def test_of_an_amount_that_was_not_told_a_run_waits_as_long_as_with_less_and_of_too_much_for_ever():
    row = a_row(3600.0, 1.0)
    resource, amount = next(iter(row.parameters.items()))

    def kept_with(**told):
        return Bounds(3700.0, None, queue=QueueWaits(resource, **told)).kept(row)

    assert kept_with(waits={2 * amount: 3600.0})
    assert not kept_with(waits={amount / 2: 3600.0})
    assert not kept_with(waits={}, most=amount / 2)
