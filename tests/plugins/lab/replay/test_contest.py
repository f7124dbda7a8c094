"""The whole comparison: the same figures however the work is divided among processes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from contests import small_contest

from jpo.cli.workers import workers
from jpo.plugins.lab.replay.contest import Contest, Result, hold
from jpo.plugins.lab.replay.play import play
from jpo.plugins.lab.replay.policies import POLICIES
from jpo.records import in_turn, silently


@pytest.fixture
def contest() -> Contest:
    return small_contest()


@pytest.fixture
def result(contest: Contest) -> Result:
    return hold(contest, spread=in_turn, track=silently)


def test_the_figures_do_not_depend_on_who_computes_them(contest: Contest, result: Result) -> None:
    assert hold(contest, spread=partial(workers, 2, "local"), track=silently) == result


def test_a_seed_is_a_replay_of_its_own_wherever_the_count_begins(contest: Contest) -> None:
    contests = [replace(contest, seeds=range(seed, seed + 1)) for seed in (0, 0, 1)]
    results = [hold(each, spread=in_turn, track=silently) for each in contests]
    curves = [result["time"]["random"].overall.curve for result in results]
    assert [point.mean for point in curves[0]] == [point.mean for point in curves[1]]
    assert [point.mean for point in curves[0]] != [point.mean for point in curves[2]]


def test_the_score_is_that_of_each_seed_once(contest: Contest, result: Result) -> None:
    trace = contest.traces[0]
    charges = np.stack([play(trace, POLICIES["random"], "time", runs=4, seed=seed).charges for seed in range(7)])
    figures = result["time"]["random"].by_workload["one"].curve
    assert [point.mean for point in figures] == pytest.approx(charges.cumsum(axis=1).mean(axis=0) / [1, 2, 3, 4])
    assert figures[0].error == pytest.approx(charges[:, 0].std(ddof=1) / 7**0.5)


def test_progress_is_reported_once_per_piece(contest: Contest) -> None:
    seen: list[int] = []

    def track(numbers: Sequence[int], what: str) -> Iterable[int]:
        assert what == "replay"
        for number in numbers:
            seen.append(number)
            yield number

    hold(contest, spread=in_turn, track=track)
    assert seen == list(range(24))  # 2 workloads x 3 policies (never changing is always played) x 2 objectives x 2 pieces
