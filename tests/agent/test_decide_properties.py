"""What `decide` writes keeps what the rules say, over thousands of random problems: the bounds are written out here once more."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from jpo.agent.budget import Boldness, Leeway
from jpo.agent.comparison import Comparison
from jpo.agent.decide import BEST, decide
from jpo.agent.problem import Problem
from jpo.agent.safety.confidence import MOST
from jpo.agent.safety.exploration import RULES
from jpo.agent.safety.promise import promise_of
from jpo.records import Belief, Candidates, Preference

ROWS, PARTICLES, PROBLEMS = 12, 30, 2_000
LEAST, CONFIDENCE = 0.7, 0.9
FLOOR = 0.02


def a_random_problem(rng, explore="safe"):
    """A job of a few runs: most of its values differ little, some ran, a few failed, and a tenth may not stay as it is."""
    batches, gpus = np.meshgrid([16.0, 32, 64, 128], [1.0, 2, 4])
    values = np.stack([batches.ravel(), gpus.ravel()], axis=1)
    now = int(rng.integers(ROWS))
    admissible = rng.random(ROWS) < 0.9
    admissible[now] = rng.random() < 0.9
    candidates = Candidates(("batch_size", "gpus"), values, now, admissible, np.log(values[:, 1] / values[now, 1]))
    believed = a_random_belief(rng, now)
    limit = 0.9 * (believed.val_loss or 0.0)
    promise = promise_of(candidates, believed, now, limit) if believed.val_loss and rng.random() < 0.2 else None
    floor, preference = FLOOR if believed.val_loss else None, Preference(*rng.dirichlet([1, 1]), 0)
    comparison = Comparison(candidates, believed, preference, quality_floor=floor, promise=promise)
    earned, made = float(rng.choice([0.5, 2, 5.5])), int(rng.integers(3))
    leeway = Leeway(float(rng.choice([-0.5, 0.5, 2])), trials_earned=earned, trials_made=made)
    return Problem(comparison, Boldness(explore, CONFIDENCE, LEAST), leeway)


def a_random_belief(rng, now):
    middle = rng.normal(0, rng.choice([0.05, 0.2, 0.5]), ROWS)
    spread = rng.uniform(0.01, 0.4, ROWS)
    tails = rng.standard_t(1, (PARTICLES, ROWS)) if rng.random() < 0.5 else rng.normal(size=(PARTICLES, ROWS))
    time = np.clip(middle + spread * tails, -2, 2)
    loss = 0.02 * rng.normal(size=ROWS) + 0.02 * rng.normal(size=(PARTICLES, ROWS))
    time[:, now] = loss[:, now] = 0.0
    ran = rng.random(ROWS) < 0.25
    runs, failures = ran * rng.integers(1, 4, ROWS), (rng.random(ROWS) < 0.1) * rng.integers(1, 3, ROWS)
    runs[now] = rng.integers(1, 5) if rng.random() < 0.9 else 0
    weights = rng.dirichlet(np.ones(PARTICLES))
    fails = rng.random((PARTICLES, ROWS)) < rng.choice([0.0, 0.05, 0.3], ROWS)
    known = (runs, failures, np.zeros(ROWS, int), 0.05, 100.0, 0.5 if rng.random() < 0.5 else None, 0.5, False)
    return Belief(weights, time, time + 0.1, loss, np.zeros_like(time), fails, weights @ fails, *known)


def must_move(problem):
    """Whether today's values may not stay, or are left since they fail: then something is run, whatever it promises."""
    now = problem.candidates.current
    leaves = problem.comparison.leaves_today or problem.belief.only_failed[now]
    return bool(leaves or not problem.open_rows[now])


def more_resources(problem, row):
    gpus = problem.candidates.values[:, 1]
    return gpus[row] > max(gpus[problem.belief.tried].max(initial=0), gpus[problem.candidates.current])


def nothing_better(problem):
    """Chance that no other open row is better than today's by more than the noise of a run."""
    others = problem.open_rows & (np.arange(ROWS) != problem.candidates.current)
    better = (problem.comparison.against_today < -problem.belief.noise) & ~problem.belief.fails & others
    return 1 - problem.belief.weights @ better.any(axis=1)


def lowers(problem, row):
    """Whether a row lowers a loss that was promised."""
    promise = problem.comparison.promise
    return bool(promise and promise.lowering[row])


def broken_bounds(problem, row):
    """The bounds of a trial that running a row would break, from the belief alone."""
    belief, comparison, leeway = problem.belief, problem.comparison, problem.leeway
    against, w = comparison.against_today[:, row], belief.weights
    expected = w @ against
    lowering = lowers(problem, row)
    far = (1 - belief.p_fail[row]) * (w @ (against > math.log(1.5)))
    bounds = {
        "never run": belief.tried[row],
        "5 % dearer": expected > math.log(1.05) + 1e-9,
        "even odds": comparison.p_safe[row] < 0.5,
        "far dearer": far > 1 - CONFIDENCE + 1e-9,
        "overspent": leeway.budget_left < 0,
        "trials left": leeway.trials_earned - leeway.trials_made < 1,
        "a tenth": more_resources(problem, row) and expected > math.log(0.9) + 1e-9,
        "settled": not lowering and nothing_better(problem) >= 0.8,
        "gains": not lowering and problem.acquisition.improvement[row] < 0.03,
    }
    return [name for name, broken in bounds.items() if broken]


def check_answer(problem, found):
    """That the answer is what it says, and says it with the chance of just that."""
    row, now, comparison = found.choice, problem.candidates.current, problem.comparison
    assert 0 <= found.confidence <= MOST
    assert (found.kind == "kept") == (row == now)
    if found.rules:
        assert found.rules[-1].left == 1
        assert all(before.left - rule.removed == rule.left for before, rule in zip(found.rules, found.rules[1:-1], strict=False))
        assert found.rules[-1].name in (BEST, "the trial with the largest possible gain", "today's values stay")
        assert row == now or problem.allowed[row]
    if found.kind == "return" and (problem.comparison.leaves_today or row == problem.exploration.step_back):
        return  # it claims to end well
    claims = {"improvement": comparison.p_better, "return": comparison.p_better, "trial": comparison.p_safe}
    if row != now:
        assert found.confidence == claims[found.kind][row]


def check_safe(problem, found):
    row, p_better = found.choice, problem.comparison.p_better
    if found.kind == "improvement":
        assert p_better[row] >= LEAST
        assert problem.acquisition.p_better[row] >= LEAST or lowers(problem, row)
        assert not problem.belief.runs[row]
    if found.kind == "return":
        assert problem.belief.runs[row] or row == problem.exploration.step_back
    if must_move(problem):
        return
    if found.kind == "return":
        assert p_better[row] >= 0.5
        assert p_better[row] >= LEAST or problem.belief.runs[row] >= problem.belief.runs[problem.candidates.current]
    if found.kind == "trial":
        assert broken_bounds(problem, row) == []
        assert min(p_better[row], problem.acquisition.p_better[row]) < LEAST
    assert [rule.name for rule in found.rules[1:-1]] == [rule.name for rule in RULES]
    assert found.rules[-2].left == problem.allowed.sum()


@pytest.mark.parametrize("seed", range(4))
def test_what_is_written_under_safe_keeps_every_bound(seed):
    rng, kinds = np.random.default_rng(seed), Counter()
    for _ in range(PROBLEMS // 4):
        problem = a_random_problem(rng)
        found = decide(problem, None, 5)
        check_answer(problem, found)
        check_safe(problem, found)
        kinds[found.kind] += not must_move(problem)
    assert min(kinds[kind] for kind in ("kept", "improvement", "trial", "return")) > PROBLEMS // 200, kinds


def test_under_off_nothing_runs_that_did_not_run_before():
    rng = np.random.default_rng(7)
    for _ in range(PROBLEMS // 4):
        problem = a_random_problem(rng, "off")
        found = decide(problem, None, 5)
        check_answer(problem, found)
        assert found.kind in ("kept", "return")
        assert found.kind == "kept" or problem.belief.runs[found.choice]


def test_a_trial_is_made_of_the_ones_that_are_left_and_of_none_where_none_is():
    rng = np.random.default_rng(8)
    for _ in range(PROBLEMS // 8):
        problem = a_random_problem(rng)
        if must_move(problem):
            continue
        spent = replace(problem, leeway=replace(problem.leeway, trials_earned=0.0))
        assert decide(spent, None, 5).kind != "trial"
