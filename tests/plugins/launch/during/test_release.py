from dataclasses import replace

import pytest

from jpo.cost import Prices
from jpo.plugins.launch.during.adjustment import Adjustment, ReleasedShare
from jpo.plugins.launch.during.progress import ResourceUse, RunProgress
from jpo.plugins.launch.during.release import pace_after, releases, returns, seconds_lost
from jpo.records import Interval

PRICES = Prices(usd_per_gpu_hour=2.0, usd_per_cpu_hour=0.04, usd_per_gib_hour=0.005)
HALF = RunProgress(3600, Interval(7200, 7000, 7400), share_done=0.5)
PAID = {"gpus": 1.0, "cpus": 8.0, "memory_gib": 64.0}


def released(resource, given, peak, *, looks=20, epochs=5.0, progress=HALF, prices=PRICES):
    return [*releases([ResourceUse(resource, given, peak, looks, epochs)], progress, PAID, prices, now=1.0)]


def test_memory_keeps_its_peak_and_a_quarter_more():
    (found,) = released("memory_gib", 64, 10.1)
    assert found.release.kept == pytest.approx(12.75)
    assert found.expected.usd == pytest.approx((64 - 12.75) * 0.005)


def test_cpus_are_whole():
    (found,) = released("cpus", 8, 2.1)
    assert found.release.kept == 3
    assert found.release.saves_usd_per_hour == pytest.approx(5 * 0.04)


def test_one_cpu_is_always_left():
    assert released("cpus", 8, 0.0)[0].release.kept == 1


def test_gpus_that_were_never_busy_are_released():
    assert released("gpus", 4, 0)[0].release.kept == 0
    assert released("gpus", 4, 4) == []


@pytest.mark.parametrize(("given", "peak"), [(8, 6.0), (8, 8.0), (8, 12.0), (1, 0.1)])
def test_what_is_used_is_kept(given, peak):
    assert released("cpus", given, peak) == []


@pytest.mark.parametrize(("looks", "epochs"), [(4, 5.0), (20, 2.0), (20, None)])
def test_a_short_window_tells_nothing(looks, epochs):
    assert released("memory_gib", 64, 10, looks=looks, epochs=epochs) == []


def test_nothing_is_released_shortly_before_the_end():
    late = RunProgress(7000, Interval(7200, 7100, 7300), share_done=0.95)
    assert released("memory_gib", 64, 10, progress=late) == []


def test_without_a_price_or_an_end_what_it_saves_is_unknown():
    (unpriced,) = released("memory_gib", 64, 10, prices=Prices())
    (endless,) = released("memory_gib", 64, 10, progress=RunProgress(100))
    assert unpriced.expected.usd is None
    assert endless.expected.usd is None


BEFORE = [(float(n), 10.0 * n) for n in range(1, 6)]  # ten seconds each, until 50


def gave(at=50.0, **changes):
    return Adjustment(at, "why", ReleasedShare("cpus", 4, 2, 0.08), applied=True, **changes)


@pytest.mark.parametrize(("seconds", "pace"), [(10.5, 1.0), (15.0, 1.5), (8.0, 1.0)])
def test_whether_a_run_notices_a_release_is_seen_from_its_epochs(seconds, pace):
    times = BEFORE + [(5.0 + n, 50 + seconds * n) for n in range(1, 5)]
    assert pace_after(50.0, times) == pytest.approx(pace)


def test_of_few_epochs_nothing_is_known():
    assert pace_after(50.0, [*BEFORE, (6.0, 70.0), (7.0, 90.0)]) is None


def test_a_run_that_takes_longer_gets_its_cpus_back_once():
    times = BEFORE + [(5.0 + n, 50 + 15.0 * n) for n in range(1, 5)]
    (made,) = returns([gave()], times, now=110.0)
    assert (made.release.given, made.release.kept, made.release.saves_usd_per_hour) == (2, 4, -0.08)
    assert made.why == "an epoch takes 1.50 times as long without them"
    assert [*returns([gave(), replace(made, applied=True)], times, now=120.0)] == []
    assert [*returns([gave()], BEFORE, now=120.0)] == []


def test_what_a_release_cost_is_counted_until_its_return():
    slow = BEFORE + [(5.0 + n, 50 + 15.0 * n) for n in range(1, 5)]
    fast = slow + [(9.0 + n, 110 + 10.0 * n) for n in range(1, 5)]
    back = Adjustment(110.0, "why", ReleasedShare("cpus", 2, 4), applied=True)
    assert seconds_lost(0, [gave(), back], fast, end=150.0) == pytest.approx(20.0)
    assert seconds_lost(1, [gave(), back], fast, end=150.0) is None
    assert seconds_lost(0, [gave()], slow, end=110.0) == pytest.approx(20.0)
