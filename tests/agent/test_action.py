import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jpo.agent.action import Allowed, _best, _coordinated, _nearest, followed, propose_candidates
from jpo.records import Identity, Outcome, Run, RunStatus, Terms

NOW = {"batch_size": 48.0, "learning_rate": 0.03, "gpus": 2.0, "epochs": 10.0}


def run(parameters, seconds=10.0, status=RunStatus.SUCCEEDED):
    return Run("r", Identity("d", "m", "f"), parameters, status, None, 1.0, Outcome(duration_seconds=seconds), "observe")


def propose(current=NOW, runs=(), free=("batch_size", "learning_rate", "gpus"), admissible=lambda _: True, limit=200, **rules):
    return propose_candidates(
        current,
        runs,
        Allowed(free, lambda _today, proposed: admissible(proposed), **rules),
        log_rate=lambda c: math.log(c.get("gpus", 1.0) or 1.0),
        limit=limit,
    )


def column(candidates, name):
    return sorted(set(candidates.values[:, candidates.names.index(name)].tolist()))


def test_batch_sizes_are_powers_of_two_and_todays():
    assert column(propose(free=("batch_size",)), "batch_size") == [4, 8, 16, 32, 48, 64, 128, 256]


def test_learning_rates_are_quarter_decades_with_two_digits():
    rates = column(propose(free=("learning_rate",)), "learning_rate")
    assert rates == [0.003, 0.0053, 0.0095, 0.017, 0.03, 0.053, 0.095, 0.17, 0.3]


def test_today_is_the_first_row_and_prices_are_relative_to_it():
    candidates = propose(free=("gpus",))
    assert candidates.current == 0
    assert candidates.parameters(0) == NOW
    assert candidates.log_rate[candidates.values[:, candidates.names.index("gpus")] == 4] == pytest.approx([math.log(2)])


def test_held_parameters_stay():
    assert column(propose(), "epochs") == [10]


def test_the_users_choices_replace_the_ladder():
    assert column(propose(free=("gpus",), choices={"gpus": [1, 3]}), "gpus") == [1, 2, 3]


def test_the_learning_rate_can_follow_the_batch_size():
    candidates = propose({"batch_size": 32.0, "learning_rate": 0.1}, follow={"learning_rate": "batch_size:sqrt"})
    rates = {c["batch_size"]: c["learning_rate"] for c in map(candidates.parameters, range(len(candidates.values)))}
    assert rates[32] == 0.1
    assert rates[128] == 0.2
    assert rates[64] == 0.14
    assert len(rates) == len(candidates.values)


@pytest.mark.parametrize(("law", "rate"), [("linear", 0.4), ("sqrt", 0.2)])
def test_what_follows_is_multiplied_by_the_ratio_of_the_leader_or_its_root_and_stays_where_the_leader_is_0(law, rate):
    follow = {"learning_rate": f"batch_size:{law}"}
    now = {"batch_size": 32.0, "learning_rate": 0.1}
    assert followed({**now, "batch_size": 128.0}, now, follow)["learning_rate"] == rate
    none = {**now, "batch_size": 0.0}
    assert followed({**none, "batch_size": 8.0}, none, follow)["learning_rate"] == 0.1


def test_a_measured_row_that_breaks_a_rule_to_follow_is_not_proposed():
    rate = propose().names.index("learning_rate")
    candidates = propose(runs=[run({**NOW, "batch_size": NOW["batch_size"] * 4})], follow={"learning_rate": "batch_size:sqrt"})
    for values in candidates.values[candidates.admissible]:
        ratio = values[candidates.names.index("batch_size")] / NOW["batch_size"]
        assert values[rate] == pytest.approx(NOW["learning_rate"] * ratio**0.5, rel=0.06)


def test_a_scale_gives_another_ladder():
    batches = {scale: set(propose(scales={"batch_size": scale}).values[:, 0] / NOW["batch_size"]) for scale in ("linear", "log")}
    assert {0.5, 0.75, 1.0, 1.25, 1.5} <= batches["linear"]
    assert max(batches["log"]) > 4


def test_what_was_run_is_kept_but_not_admissible_if_the_limits_forbid_it():
    candidates = propose(runs=[run({**NOW, "batch_size": 4096.0})], admissible=lambda c: c["batch_size"] <= 64)
    known = candidates.values[:, 0] == 4096
    assert known.sum() == 1
    assert not candidates.admissible[known]
    assert candidates.values[candidates.admissible, 0].max() == 64


def test_a_held_parameter_stays_though_the_best_run_had_another_value_or_it_would_follow():
    best = run({**NOW, "epochs": 5.0, "batch_size": 64.0}, 1.0)
    candidates = propose(runs=[best], free=("batch_size", "gpus"), follow={"learning_rate": "batch_size:linear"}, limit=20)
    may = candidates.values[candidates.admissible]
    assert set(may[:, candidates.names.index("epochs")]) == {10.0}
    assert set(may[:, candidates.names.index("learning_rate")]) == {0.03}
    assert len(may) == len(candidates.values) - 1


def test_many_knobs_stay_within_the_limit_and_move_together():
    current = {**NOW, "num_layers": 3.0, "cpus": 4.0, "memory_gib": 16.0}
    candidates = propose(current, free=tuple(current), limit=150)
    assert len(candidates.values) == 150
    changed = (candidates.values != candidates.values[0]).sum(axis=1)
    assert {1, 2, 3} <= set(changed.tolist())
    assert (propose(current, free=tuple(current), limit=150).values == candidates.values).all()


def test_moves_also_start_from_the_best_run():
    current = {**NOW, "cpus": 4.0, "memory_gib": 16.0}
    best = {**current, "batch_size": 1024.0, "learning_rate": 0.7}
    candidates = propose(current, runs=[run(best, 1.0), run(current, 50.0)], free=tuple(current))
    near = [c for c in map(candidates.parameters, range(len(candidates.values))) if c["batch_size"] == 1024]
    assert len(near) > 3


@pytest.mark.parametrize("per_device", [False, True])
def test_gpus_batch_and_learning_rate_grow_together_the_rate_with_the_batch_or_its_root(per_device):
    base = {"batch_size": 16.0 if per_device else 64.0, "gpus": 4.0, "learning_rate": 0.04}
    rungs = tuple(sorted((*(2.0**i for i in range(-4, 12)), 12.0, 20.0, 48.0, 80.0, 192.0, 320.0)))
    ladders = {"batch_size": rungs, "gpus": rungs, "learning_rate": (0.01, 0.02, 0.028, 0.04, 0.057, 0.08, 0.16)}
    moves = list(_coordinated([base], ladders, batch_per_device=per_device))
    rates = {0.25: (0.04, 0.02, 0.01), 0.5: (0.04, 0.028, 0.02), 2.0: (0.04, 0.057, 0.08), 4.0: (0.04, 0.08, 0.16)}
    wanted = {(64 * by, gpus, rate) for by in rates for gpus in (4.0, 4 * by) for rate in rates[by]}
    of_all = {(m["batch_size"] * (m["gpus"] if per_device else 1), m["gpus"], m["learning_rate"]) for m in moves}
    assert of_all == wanted


def test_a_search_scatters_rows_around_the_best_in_place_of_moves_where_not_all_combinations_fit():
    best = {"batch_size": 6.0, "gpus": 8.0, "learning_rate": 0.3}
    some, all_of_them = (
        propose_candidates(NOW, [], Allowed(best.keys()), log_rate=lambda c: 0.0, limit=limit, around=[best])
        for limit in (50, 8 * 9 * 4)
    )
    changed = (some.values[1:] != some.values[0]).sum(axis=1)
    assert (changed == 3).mean() > 0.4  # of moves it is one of eight
    assert (len(some.values), len(all_of_them.values)) == (50, 8 * 9 * 4)


def test_the_nearest_rung_is_that_of_the_smallest_factor_or_difference_where_there_are_negative_ones():
    assert [_nearest((1.0, 2.0, 10.0), value) for value in (0.0, 4.0, 5.0, 99.0)] == [1, 2, 10, 10]
    assert [_nearest((0.0, 1e-6), value) for value in (0.0, 1e-7)] == [0, 1e-6]
    assert [_nearest((-1.0, 2.0, 10.0), value) for value in (0.0, 5.0)] == [-1, 2]


def test_the_best_run_ended_well_with_the_least_time_and_half_as_much_weight_on_its_price():
    ran = [run({"gpus": gpus}, seconds) for gpus, seconds in ((1.0, 10.0), (4.0, 6.0), (16.0, 2.6))]
    failed = [run({"gpus": 1.0}, 0.1, RunStatus.FAILED), run({"gpus": 1.0}, None)]
    measured = [((one.parameters["gpus"],), one) for one in (*failed, *ran)]
    assert _best(measured, ("gpus",), lambda c: math.log(c["gpus"])) == {"gpus": 1.0}
    assert _best(measured[:-3], ("gpus",), lambda c: 0.0) is None
    assert _best(measured, ("gpus",), lambda c: 0.9 * math.log(c["gpus"])) == {"gpus": 16.0}


@given(
    st.floats(1, 1e5).map(round).map(float),
    st.floats(1e-4, 0.1),
    st.integers(0, 64).map(float),
    st.integers(1, 300),
    st.integers(1, 40),
)
def test_everything_proposed_is_distinct_admissible_and_within_the_limit(batch, rate, gpus, epochs, limit):
    current = {"batch_size": batch, "learning_rate": rate, "gpus": gpus, "epochs": float(epochs)}
    candidates = propose(current, free=tuple(current), admissible=lambda c: 1e-4 <= c["learning_rate"] <= 0.1, limit=limit)
    assert len(np.unique(candidates.values, axis=0)) == len(candidates.values) <= limit
    assert candidates.admissible.all()
    assert (candidates.values[:, 0] >= 1).all()
    assert (candidates.values[:, [0, 2, 3]] % 1 == 0).all()


def test_a_batch_per_device_stays_while_gpus_change_and_has_a_ladder_of_its_own():
    terms = Terms(batch_per_device=True, accumulation_steps=2.0)
    now = {"batch_size": 96.0, "gpus": 3.0}  # 16 on each of 3, twice
    rows = propose(now, free=("gpus",), terms=terms)
    assert {(row["gpus"], row["batch_size"]) for row in map(rows.parameters, range(len(rows.values)))} == {
        *((1, 32), (2, 64), (3, 96), (4, 128), (8, 256)),
    }
    alone = propose(now, free=("batch_size",), terms=terms)
    assert column(alone, "batch_size") == [6 * each for each in (2, 4, 8, 16, 32, 64, 128)]
    assert column(propose(now, free=("batch_size",), terms=terms, choices={"batch_size": [48, 96]}), "batch_size") == [48, 96]


def test_a_run_on_other_gpus_keeps_to_a_held_batch_per_device():
    terms = Terms(batch_per_device=True)
    ran = [run({"batch_size": 64.0, "gpus": 4.0}), run({"batch_size": 32.0, "gpus": 4.0})]
    rows = propose({"batch_size": 32.0, "gpus": 2.0}, ran, free=("gpus",), terms=terms)
    assert rows.admissible[[rows.values.tolist().index(row) for row in ([64.0, 4.0], [32.0, 4.0])]].tolist() == [True, False]


def test_what_was_rounded_on_its_way_through_a_log_is_the_same_configuration():
    """Else two rows of one configuration are tried in turn, night after night."""
    now = {"cpus": 8.0, "memory_gib": 32e9 / 2**30}
    logged = [run({"cpus": 8.0, "memory_gib": 29.8023}), run({"cpus": 4.0, "memory_gib": 29.8023})]
    candidates = propose(now, logged, free=("cpus",))
    assert column(candidates, "memory_gib") == [now["memory_gib"]]
    assert len({tuple(row) for row in candidates.values.round(3).tolist()}) == len(candidates.values)
    assert candidates.admissible.all()


def test_steps_of_a_ladder_are_what_the_file_can_say():
    gigabytes = lambda _, gib: round(gib * 2**30 / 1e9) * 1e9 / 2**30  # noqa: E731
    now = {"memory_gib": 32e9 / 2**30}
    steps = column(propose(now, free=("memory_gib",), as_written=gigabytes), "memory_gib")
    assert [round(gib * 2**30 / 1e9, 6) for gib in steps] == [16, 24, 32, 40, 48, 64]
    assert 32.0 in column(propose(now, free=("memory_gib",), choices={"memory_gib": [32.0]}, as_written=gigabytes), "memory_gib")


@pytest.mark.parametrize(
    ("name", "now", "ladder"),
    [
        ("epochs", 100.0, [50, 75, 100, 125, 150, 200]),
        ("cpus", 8.0, [2, 4, 6, 8, 12, 16, 32]),
        ("memory_gib", 16.0, [8, 12, 16, 20, 24, 32]),
        ("memory_gib", 1.0, [0.5, 0.75, 1, 2]),  # whole GiB from one on
        ("batch_size", 2.0, [1, 2, 4, 8, 16]),
        ("num_layers", 4.0, [2, 3, 4, 5, 6]),
        ("num_layers", 2.0, [1, 2, 3, 4]),
        ("gpus", 4.0, [1, 2, 4, 8, 16]),
        ("gpus", 0.0, [0]),
    ],
)
def test_the_ladder_of_a_parameter_is_relative_to_todays_value(name, now, ladder):
    assert column(propose({**NOW, name: now}, free=(name,)), name) == ladder


@pytest.mark.parametrize(("limit", "nearest"), [(9, range(18, 23)), (200, range(1, 41))])
def test_where_not_all_is_proposed_the_nearest_come_first_and_one_change_may_go_any_way(limit, nearest):
    ladder = {"batch_size": [float(size) for size in range(1, 41)]}
    found = propose({**NOW, "batch_size": 20.0}, free=("batch_size", "epochs"), choices=ladder, limit=limit)
    assert {*nearest} <= {*column(found, "batch_size")}
    assert len(found.values) <= limit


def test_two_changes_at_once_keep_within_some_steps_of_each_ladder():
    ladder = {"batch_size": [float(size) for size in range(1, 41)]}
    found = propose({**NOW, "batch_size": 1.0}, free=("batch_size", "epochs"), choices=ladder, limit=239)
    both = [row for row in map(found.parameters, range(len(found.values))) if row["batch_size"] != 1 and row["epochs"] != 10]
    assert max(row["batch_size"] for row in both) == 17  # 16 steps away
