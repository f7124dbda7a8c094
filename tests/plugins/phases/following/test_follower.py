from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from phase_traces import LEVELS

from jpo.errors import UsageError
from jpo.plugins.phases.features import Scaler
from jpo.plugins.phases.following.follower import HEADROOM, RequestFollower, UsageSample
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.traces import GPU, Traces


class Given:
    """A run of which only the numbers matter."""

    name, least = "run-1", (0.0, 0.0)

    def __init__(self, first: tuple[float, float] = (4.0, 4e9), least: tuple[float, float] = (0.0, 0.0)) -> None:
        self.first, self.least = first, least

    def samples(self) -> None: ...

    def held(self) -> tuple[float, float]:
        return self.first

    def give(self, request: tuple[float, float]) -> None: ...


def samples_of(traces: Traces, at: int = 0) -> list[UsageSample]:
    one = traces.executions[at]
    return [UsageSample(t, *used) for t, used in zip(one.times.tolist(), one.values.tolist(), strict=True)]


def followed(follower: RequestFollower, samples: list[UsageSample]) -> list[tuple[float, ...]]:
    """The requests after each sample."""
    return [tuple(state.request.tolist()) for each in samples if (state := follower.see(each))]


def test_the_request_follows_the_phases(model: PhaseModel, traces: Traces) -> None:
    samples = samples_of(traces)
    requests = followed(RequestFollower(model, Given()), samples)
    assert len({*requests}) > 5
    assert min(cores for cores, _ in requests) < 0.5
    assert max(cores for cores, _ in requests) > 2.5
    used = [sample[1:] for sample in samples[1:]]
    met = np.mean([(np.array(had) >= need).all() for had, need in zip(requests, used, strict=False)])
    assert met > 0.9


def test_no_hour_has_more_than_thirty_resizes(model: PhaseModel) -> None:
    rng, follower = np.random.default_rng(0), RequestFollower(model, Given())
    levels = [*LEVELS.values()]
    samples = [UsageSample(10.0 * at, *levels[rng.integers(5)]) for at in range(1200)]
    requests = followed(follower, samples)
    changed = np.array([samples[at].t for at in range(1, len(requests)) if requests[at] != requests[at - 1]])
    assert len(changed) > 20
    assert max(((changed > t - 3600) & (changed <= t)).sum() for t in changed) <= 30


def test_a_request_is_never_below_what_is_in_use_nor_above_the_first(model: PhaseModel, traces: Traces) -> None:
    follower = RequestFollower(model, Given((3.0, 2.5e9)))
    before: tuple[float, ...] = (3.0, 2.5e9)
    for sample in samples_of(traces):
        state = follower.see(sample)
        assert state
        request = tuple(state.request.tolist())
        assert request <= (3.0, 2.5e9)
        for now, had, used, most in zip(request, before, sample[1:], (3.0, 2.5e9), strict=True):
            assert now == had or now >= min(most, used * (1 + HEADROOM) * 0.999)
        before = request


def test_a_run_keeps_what_it_may_not_give(model: PhaseModel, traces: Traces) -> None:
    requests = followed(RequestFollower(model, Given(least=(0.0, 4e9))), samples_of(traces))
    assert {size for _, size in requests} == {4e9}
    assert len({cores for cores, _ in requests}) > 3


def test_a_request_that_is_used_up_goes_back_to_the_first_or_grows(model: PhaseModel) -> None:
    follower = RequestFollower(model, Given())
    for at in range(5):
        state = follower.see(UsageSample(10.0 * at, 0.1, 5e7))
    assert state
    low = state.request
    assert (low < (0.6, 5e8)).all()
    state = follower.see(UsageSample(50.0, float(low[0]), 5e7))
    assert state
    assert state.request[0] == 4.0
    assert state.request[1] == low[1]


def test_a_run_unlike_any_has_its_first_request(model: PhaseModel) -> None:
    follower = RequestFollower(model, Given((64.0, 1e12)))
    for at in range(20):
        state = follower.see(UsageSample(10.0 * at, 40.0, 5e11))
    assert state
    assert state.request.tolist() == [64.0, 1e12]
    assert "unlike" in state.doubt


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        (UsageSample(10.0, 0.1, 5e7), "time goes back"),
        (UsageSample(99.0, -1.0, 5e7), "cannot be measured"),
        (UsageSample(99.0, inf, 5e7), "cannot be measured"),
        (UsageSample(99.0, 0.1, float("nan")), "cannot be measured"),
    ],
)
def test_what_cannot_be_is_a_doubt(model: PhaseModel, sample: UsageSample, said: str) -> None:
    follower = RequestFollower(model, Given())
    for at in range(4):
        follower.see(UsageSample(10.0 * at, 0.1, 5e7))
    state = follower.see(sample)
    assert state
    assert said in state.doubt
    assert state.request.tolist() == [4.0, 4e9]
    state = follower.see(UsageSample(100.0, 0.1, 5e7))
    assert state
    assert not state.doubt


def test_before_the_first_sample_nothing_is_known(model: PhaseModel) -> None:
    assert RequestFollower(model, Given()).see(UsageSample(0.0, -1.0, 0.0)) is None


def test_what_comes_next_is_said(model: PhaseModel, traces: Traces) -> None:
    follower = RequestFollower(model, Given())
    standings = [follower.see(sample) for sample in samples_of(traces)]
    assert len({each.coming.phase for each in standings if each}) == 5
    first = standings[0]
    assert first
    assert first.coming.left_seconds is not None
    assert first.coming.next_phase is not None


def test_a_model_without_needs_or_of_other_columns_is_refused(model: PhaseModel) -> None:
    with pytest.raises(UsageError, match="fitted without") as caught:
        RequestFollower(replace(model, needs=None), Given())
    assert caught.value.code == "JPO-E736"
    other = replace(model.scaler, names=(*model.scaler.names[:1], GPU))
    assert isinstance(other, Scaler)
    with pytest.raises(UsageError, match=GPU) as caught:
        RequestFollower(replace(model, scaler=other), Given())
    assert caught.value.code == "JPO-E731"
