from __future__ import annotations

from dataclasses import replace

import numpy as np
from phase_traces import made_traces

from jpo.plugins.phases.model import HORIZON_SECONDS, PhaseModel
from jpo.plugins.phases.requests.demand import MOST_POSITIONS, Past
from jpo.plugins.phases.requests.watch import RECENT_SECONDS, OwnPast, Recent, futures


def test_the_most_of_the_last_minutes_is_that_of_their_samples() -> None:
    rng = np.random.default_rng(0)
    times, needs = np.cumsum(rng.choice([1.0, 30.0, 400.0], 500)), rng.random((500, 2))
    recent = Recent()
    for at, (time, need) in enumerate(zip(times, needs, strict=True)):
        recent.add(float(time), need.tolist())
        inside = needs[: at + 1][times[: at + 1] >= time - RECENT_SECONDS]
        assert recent.most.tolist() == inside.max(0).tolist()


def test_at_a_sample_each_second_not_all_of_them_are_kept() -> None:
    recent = Recent()
    for at in range(MOST_POSITIONS + 2):
        recent.add(0.1 * at, [float(at == 0), 1.0])
    assert recent.most.tolist() == [0.0, 1.0]


def test_futures_that_grow_are_those_of_training_and_of_the_past_so_far(model: PhaseModel) -> None:
    assert model.needs is not None
    execution = made_traces(runs=1, seed=9)[0].executions[0]
    rng = np.random.default_rng(1)
    own, past = OwnPast(model), Past(HORIZON_SECONDS, MOST_POSITIONS)
    for at in range(2 * MOST_POSITIONS + 50):  # beyond what is kept
        need, phase = execution.values[at % len(execution.times)] * rng.uniform(0.9, 1.1), int(at // 7 % model.chain.phases)
        own.add(20.0 * at, need, phase)
        past.add(20.0 * at, need, phase)
        if at % 3:
            continue  # nobody asks
        whole = futures(model, model.needs, phase)
        whole.add(
            past.samples.at(slice(0, len(past) - 1)), np.flatnonzero(past.samples.at(slice(0, len(past) - 1)).phase == phase)
        )
        said, expected = own.likely(), whole.at(*past.here[1:])
        assert (said is None) == (expected is None)
        if said is not None and expected is not None:
            for resource, level in enumerate((0.3, 0.95)):
                assert [one.quantile(resource, level) for one in said] == [one.quantile(resource, level) for one in expected]


def test_a_model_of_other_needs_says_nothing_of_phases_it_never_had(model: PhaseModel) -> None:
    assert model.needs is not None
    none = replace(model, needs=model.needs.at(slice(0, 0)))
    own = OwnPast(none)
    own.add(0.0, np.ones(2), 0)
    assert own.likely() is None
