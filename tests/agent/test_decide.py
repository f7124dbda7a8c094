import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from jpo.agent.decide import decide
from jpo.agent.policy import SHAPES, Policy
from jpo.records import Belief, Candidates, Preference

TIME = Preference(1, 0, 0)
HALF, DOUBLE = math.log(0.5), math.log(2)


def ask(candidates, believed, preference=TIME, *, explore="safe", confidence=0.9, policy=None, runs_finished=1, recent=()):
    return decide(
        candidates,
        believed,
        preference,
        explore=explore,
        confidence=confidence,
        policy=policy,
        runs_finished=runs_finished,
        recent=recent,
    )


def random_policy(released, seed=0):
    released = ("safe", "on") if released else ()
    rng = np.random.default_rng(seed)
    return Policy({name: rng.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()}, released, {})


def test_without_a_finished_run_it_keeps_and_asks_for_one(grid, belief):
    found = ask(grid(current=1), belief([[0, -3, -3]], duration=None), runs_finished=0)
    assert (found.choice, found.confidence, found.decided_by, found.codes) == (1, None, "no evidence", ("JPO-I601",))
    assert "one run with today's values is needed" in found.reasons[0]


def test_a_measured_better_candidate_is_taken_and_told_with_numbers(grid, belief):
    found = ask(grid(), belief([[0, math.log(0.79), 0.5]], runs=(2, 3, 0)))
    assert found.choice == 1
    assert found.reasons[0] == "batch_size 64 was run 3 times and is expected to take 21 % less time and cost 21 % less"
    assert found.decided_by == "belief"
    assert found.confidence == 1.0


def test_the_best_on_average_is_not_taken_if_it_is_not_admissible(grid, belief):
    believed = belief([[0, HALF, 3 * HALF]])
    assert ask(grid(), believed).choice == 2
    assert ask(grid(admissible=[True, True, False]), believed).choice == 1
    assert ask(grid(admissible=[True, False, False]), believed).choice == 0


def test_off_uses_only_what_was_measured(grid, belief):
    believed = belief([[0, 0.2, -2.0]], runs=(1, 1, 0))
    assert ask(grid(), believed, explore="off").choice == 0
    assert ask(grid(), believed, explore="safe").choice == 2


def test_off_needs_more_than_the_noise(grid, belief):
    assert ask(grid(), belief([[0, -0.06, 0]], runs=(1, 1, 0), noise=0.05), explore="off").choice == 0
    assert ask(grid(), belief([[0, -0.08, 0]], runs=(1, 1, 0), noise=0.05), explore="off").choice == 1


RISKY = [[0, -0.1, 3 * HALF], [0, -0.1, 3 * HALF], [0, -0.1, DOUBLE], [0, -0.1, DOUBLE * 2]]


def test_safe_leaves_what_may_well_be_worse_and_says_so(grid, belief):
    found = ask(grid(), belief(RISKY))
    assert found.choice == 1
    assert "batch_size 128 looks promising but may be more than 10 % worse than today (chance 50 %)" in found.reasons
    assert "JPO-I608" in found.codes


def test_on_tries_it_and_says_what_for(grid, belief):
    found = ask(grid(), belief(RISKY), explore="on")
    assert found.choice == 2
    assert found.confidence == pytest.approx(0.5)
    assert "not run yet" in found.reasons[0]
    assert "JPO-I605" in found.codes


def test_an_exhausted_budget_stops_exploring(grid, belief):
    found = ask(grid(), belief(RISKY), explore="on", recent=[1.2, 1.9])
    assert found.choice == 0
    assert "JPO-W606" in found.codes
    assert ask(grid(), belief(RISKY), explore="on", recent=[9.0] + [1.0] * 20).choice == 2


def test_only_a_released_policy_decides(grid, belief):
    assert ask(grid(), belief(RISKY), policy=random_policy(False)).decided_by == "belief"
    assert ask(grid(), belief(RISKY), policy=replace(random_policy(True), released=("on",))).decided_by == "belief"
    assert ask(grid(), belief(RISKY), policy=random_policy(True)).decided_by == "sac"
    assert ask(grid(), belief(RISKY), policy=random_policy(True), explore="off").decided_by == "belief"


def test_the_policy_ranks_only_what_is_safe(grid, belief):
    chosen = {ask(grid(), belief(RISKY), policy=random_policy(True, seed)).choice for seed in range(40)}
    assert chosen == {0, 1}
    assert 2 in {ask(grid(), belief(RISKY), policy=random_policy(True, seed), explore="on").choice for seed in range(40)}


logs = arrays(np.float64, (5, 4), elements=st.floats(-5, 5))
counts = arrays(np.int64, 4, elements=st.integers(0, 3))
masks = arrays(np.bool_, 4)


@given(logs, counts, counts, masks, st.sampled_from(["off", "safe", "on"]), st.booleans(), st.integers(0, 3), st.floats(0, 1))
def test_the_choice_is_admissible_and_the_same_each_time(time, runs, failures, admissible, explore, sac, now, p):
    assume(admissible.any())
    candidates = Candidates(("batch_size",), np.array([[8.0], [16.0], [32.0], [64.0]]), now, admissible, np.zeros(4))
    flat = np.zeros((5, 4))
    believed = Belief(
        np.full(5, 0.2), time, time / 2, flat, flat, np.full(4, p), runs, failures, 0.1, 60.0, None, 0.3, knows_utilisation=False
    )
    policy = random_policy(True) if sac else None
    found = ask(candidates, believed, Preference(0.5, 0.5, 0), explore=explore, policy=policy)
    assert admissible[found.choice] or (explore == "off" and found.choice == now)
    assert 0 <= found.confidence <= 1
    assert found.reasons
    assert len(found.reasons) == len(found.codes)
    assert found == ask(candidates, believed, Preference(0.5, 0.5, 0), explore=explore, policy=policy)
    if explore == "off":
        assert found.choice == now or runs[found.choice] > 0
