from __future__ import annotations

from jpo import Outcome, Range
from jpo.advisor.candidates import LARGEST, MOST_OUTSIDE, candidates_among
from jpo.advisor.space import numbered_space
from jpo.records import Identity, Run, RunStatus

LARGE = {name: Range(0, 1) for name in "abcd"}
"""More combinations than are weighed."""
NOW = dict.fromkeys(LARGE, 0.5)


def a_run(number: int, seconds: float = 9.0, **parameters: float) -> Run:
    outcome = Outcome(duration_seconds=seconds)
    return Run(str(number), Identity("d", "m", "f"), parameters, RunStatus.SUCCEEDED, None, float(number), outcome, "told")


def test_a_small_space_is_weighed_whole_and_today_outside_of_it_may_not_be_proposed() -> None:
    candidates = candidates_among(numbered_space({"batch_size": [32, 64], "gpus": [1, 2]}), {"batch_size": 16.0, "gpus": 1.0}, [])
    assert candidates.values.tolist() == [[32, 1], [32, 2], [64, 1], [64, 2], [16, 1]]
    assert (candidates.current, candidates.admissible.tolist()) == (4, [True] * 4 + [False])
    assert candidates.log_rate[4] == 0
    assert not candidates.priced


def test_of_configurations_outside_the_newest_are_weighed() -> None:
    runs = [a_run(i, batch_size=1000.0 + i) for i in range(300)]
    candidates = candidates_among(numbered_space({"batch_size": [32, 64]}), {"batch_size": 32.0}, runs)
    assert len(candidates.values) == 2 + MOST_OUTSIDE
    assert {32, 64, 1299, 1300 - MOST_OUTSIDE} <= set(candidates.values[:, 0])
    assert list(candidates.admissible[:3]) == [True, True, False]


def test_in_a_large_space_moves_from_what_is_known_are_weighed_and_none_leads_out_of_it() -> None:
    space = numbered_space(LARGE)
    candidates = candidates_among(space, NOW, [a_run(1, **{**NOW, "a": 0.123})])
    assert len(candidates.values) < LARGEST
    outside = [row for row in range(len(candidates.values)) if candidates.parameters(row)["a"] == 0.123]
    assert len(outside) == 1
    assert not candidates.admissible[outside].any()
    assert all(value in space.ladders["a"] for value in candidates.values[candidates.admissible, 0])


def test_of_ten_thousand_configurations_in_a_large_space_the_newest_and_the_fastest_are_weighed() -> None:
    runs = [a_run(i, 1.0 if i == 7 else 100.0, **{**NOW, "a": i / 10_000}) for i in range(10_000)]
    weighed = set(candidates_among(numbered_space(LARGE), NOW, runs).values[:, 0])
    assert {7 / 10_000, 0.9999, 1 - MOST_OUTSIDE / 10_000} <= weighed
    assert 0.9 not in weighed
