from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from jpo.plugins.phases.requests import caution
from jpo.plugins.phases.requests.caution import (
    CAREFUL,
    HELD,
    LADDER,
    Caution,
    Pair,
    StepTrial,
    little_known,
    step_at,
    untried,
)

STEPS = len(LADDER)
COSTS = np.stack([np.arange(STEPS) + 1.0, np.arange(STEPS) + 1.0], axis=1)


def trial(cpu: list[float], memory: list[float], samples: int = 1000) -> StepTrial:
    """Misses of each step by phases; what goes by the last minutes misses everything."""
    rest = [float(samples)] * (STEPS - CAREFUL - 1)
    missed = np.stack([np.array([*cpu, *rest]), np.array([*memory, *rest])], axis=1)
    either = np.minimum(missed.sum(1), samples)
    return StepTrial(missed, either, COSTS, samples, either)


def cheapest(steps: StepTrial) -> Pair | None:
    """Where what a step misses does not depend on the other one, and CPU and memory never miss the same sample."""

    def tried(pairs: Sequence[Pair]) -> StepTrial:
        missed, allocated = (
            np.array([[of_steps[cpu, 0], of_steps[memory, 1]] for cpu, memory in pairs])
            for of_steps in (steps.missed, steps.allocated)
        )
        lasting = steps.either.sum() / steps.spells.sum()
        return StepTrial(missed, missed.sum(1), allocated, steps.samples, missed.sum(1) / lasting)

    return caution.cheapest(tried)


def test_the_cheapest_pair_that_keeps_the_promise_is_taken() -> None:
    assert cheapest(trial([90, 60, 30, 20, 10, 0], [5, 4, 3, 2, 1, 0])) == (2, 0)


def test_misses_of_both_resources_share_the_promise() -> None:
    misses = [400.0, 300, 200, 100, 50, 0]
    cpu, memory = cheapest(trial(misses, misses, samples=10_000)) or (0, 0)
    assert misses[cpu] + misses[memory] <= 500
    assert cpu + memory == 4  # one step bolder for either would be too much


def test_a_bold_step_that_was_lucky_is_not_believed() -> None:
    assert cheapest(trial([0, 90, 0, 0, 0, 0], [0] * 6)) == (2, 0)


def test_few_samples_ask_for_more_caution() -> None:
    misses = [0.04, 0.03, 0.02, 0.01, 0.0, 0.0]
    bold, careful = (cheapest(trial([n * share for share in misses], [0.0] * 6, n)) for n in (100_000, 100))
    assert bold
    assert careful
    assert bold[0] < careful[0]


def test_misses_that_last_count_as_fewer() -> None:
    """Spells of 6 samples: the variance of their share is 2 * 6 - 1 times as large."""
    once = trial([90, 60, 30, 20, 10, 0], [0] * 6)
    lasting = replace(once, spells=once.either / 6)
    assert once.independent == 1000
    assert lasting.independent == pytest.approx(1000 / 11)
    assert cheapest(once) == (2, 0)
    assert cheapest(lasting) == (3, 0)


def test_where_nothing_keeps_the_promise_there_is_no_step() -> None:
    assert cheapest(trial([500] * 6, [500] * 6)) is None


def test_where_each_run_is_new_the_last_minutes_count() -> None:
    missed = np.array([[300.0, 0]] * (CAREFUL + 1) + [[90.0, 0], [20, 0], [10, 0], [5, 0]])
    cpu, memory = cheapest(StepTrial(missed, missed.sum(1), COSTS, 1000, missed.sum(1))) or (0, 0)
    assert (cpu, memory) == (CAREFUL + 2, 0)
    assert [LADDER[step].window for step in (cpu, memory)] == [True, False]


def test_a_pair_that_misses_more_than_its_steps_is_not_taken() -> None:
    """A step for memory is more careful where CPU misses, too; beside a careful one for CPU it stays bold."""
    pairs_tried: list[Pair] = []

    def tried(pairs: Sequence[Pair]) -> StepTrial:
        pairs_tried.extend(pairs)
        missed = np.array(
            [[60.0 if cpu < 4 else 4, 20.0 if cpu == memory else 15.0 * max(4 - memory, 0)] for cpu, memory in pairs]
        )
        return StepTrial(missed, missed.sum(1), COSTS[: len(pairs)] if pairs[0] != (0, 0) else COSTS, 1000, missed.sum(1))

    assert caution.cheapest(tried) == (4, 2)
    assert (4, 0) in pairs_tried


def test_no_miss_in_a_few_samples_proves_nothing() -> None:
    assert cheapest(trial([0.0] * 6, [0.0] * 6, 25)) is None
    assert cheapest(trial([0.0] * 6, [0.0] * 6, 60)) == (0, 0)


def test_a_run_climbs_its_own_ladder_to_its_end() -> None:
    assert step_at(0, 99) == LADDER[CAREFUL]
    assert step_at(CAREFUL + 1, 99) == LADDER[-1]


@pytest.mark.parametrize(
    ("executions", "samples", "step", "notes"),
    [(9, 59, HELD, 1), (1, 60, HELD, 1), (2, 60, CAREFUL, 1), (3, 60, CAREFUL, 0)],
)
def test_the_less_is_known_the_more_careful_is_a_step(executions: int, samples: int, step: int, notes: int) -> None:
    assert untried(executions, samples) == step
    assert step_at(step, 99).margin >= LADDER[CAREFUL].margin
    assert len(little_known(executions, samples, Caution((step, step)))) == notes


def test_a_run_climbs_one_step_at_a_time() -> None:
    assert step_at(1, 2) == LADDER[3]
    assert step_at(1, 0) == LADDER[1]
