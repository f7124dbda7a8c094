"""The whole comparison: the same figures however the work is cut and whoever does it; tables, JSON and picture."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jpo.errors import UsageError
from jpo.replay import POLICIES, Contest, Execution, Result, Trace, hold, play
from jpo.replay.contest import Backend
from jpo.replay.extras import is_installed
from jpo.report import replay_json, replay_text
from jpo.report.plots import replay

Ladder = Callable[..., Trace]


def silently(numbers: Sequence[int], _what: str) -> Iterable[int]:
    return numbers


def noisy(name: str, *seconds: float) -> Trace:
    several = tuple(tuple(Execution(s * f, s * f, True) for f in (0.9, 1.0, 1.1)) for s in seconds)
    return Trace(name, tuple({"batch_size": 2.0**i} for i in range(len(seconds))), several, 0, "USD")


@pytest.fixture
def contest() -> Contest:
    factories = {name: POLICIES[name] for name in ("random", "hillclimb")}
    return Contest((noisy("one", 9.0, 6.0, 3.0), noisy("two", 4.0, 5.0)), factories, ("time", "balanced"), (2, 4), seeds=7)


@pytest.fixture
def result(contest: Contest) -> Result:
    return hold(contest, jobs=1, backend="loky", track=silently)


@pytest.mark.parametrize(("backend", "jobs"), [("threading", 2), ("loky", 2)])
def test_the_figures_do_not_depend_on_who_computes_them(contest: Contest, result: Result, backend: Backend, jobs: int) -> None:
    assert hold(contest, jobs=jobs, backend=backend, track=silently) == result


def test_ray_takes_over_unchanged(contest: Contest, result: Result) -> None:
    if not is_installed("ray"):
        with pytest.raises(UsageError, match="--backend ray needs ray, which is not installed; pip install ray"):
            hold(contest, jobs=2, backend="ray", track=silently)
    else:
        assert hold(contest, jobs=2, backend="ray", track=silently) == result


def test_a_seed_is_a_replay_of_its_own_wherever_the_count_begins(contest: Contest) -> None:
    curves = [
        hold(replace(contest, seeds=1, first_seed=seed), jobs=1, backend="loky", track=silently)["time"]["random"].overall.curve
        for seed in (0, 0, 1)
    ]
    assert [point.mean for point in curves[0]] == [point.mean for point in curves[1]]
    assert [point.mean for point in curves[0]] != [point.mean for point in curves[2]]


def test_the_score_is_that_of_each_seed_once(contest: Contest, result: Result) -> None:
    trace = contest.traces[0]
    charges = np.stack([play(trace, POLICIES["random"], "time", runs=4, seed=seed).charges for seed in range(7)])
    figures = result["time"]["random"].by_workload["one"].curve
    assert [point.mean for point in figures] == pytest.approx(charges.cumsum(axis=1).mean(axis=0) / [1, 2, 3, 4])
    assert figures[0].error == pytest.approx(charges[:, 0].std(ddof=1) / 7**0.5)


def test_progress_is_told_once_per_batch(contest: Contest) -> None:
    seen: list[int] = []

    def track(numbers: Sequence[int], what: str) -> Iterable[int]:
        assert what == "replay"
        for number in numbers:
            seen.append(number)
            yield number

    hold(contest, jobs=1, backend="loky", track=track)
    assert seen == list(range(0, 24, 4))  # 2 workloads x 3 policies (never changing is always played) x 2 objectives x 2 pieces


def test_the_table_shows_policies_and_horizons_with_errors_and_marks_the_best(contest: Contest, result: Result) -> None:
    text = replay_text.render(contest, result, ["a note"], width=120, colour=True)
    assert "N = 2" in text
    assert "2 recorded workloads, 7 replays of 4 runs for each policy" in text
    assert "Note: a note" in text
    best = min(result["time"].values(), key=lambda point: point.overall.curve[3].mean).overall.curve[3]
    assert f"\x1b[1m{best.mean:.2f} ± {best.error:.2f}\x1b[0m" in text
    assert "time, one" not in text
    assert "time, one" in replay_text.render(contest, result, [], width=120, colour=False, workloads=True)


def test_a_narrow_terminal_cuts_nothing_off(contest: Contest, result: Result) -> None:
    wide, narrow = (replay_text.render(contest, result, [], width=width, colour=False) for width in (120, 60))
    assert "…" not in narrow
    assert max(map(len, narrow.split("\n"))) <= 60
    assert sorted(re.findall(r"\d+\.\d\d", narrow)) == sorted(re.findall(r"\d+\.\d\d", wide))


def test_the_json_has_every_figure_also_per_workload(contest: Contest, result: Result) -> None:
    document = json.loads(replay_json.render(contest, result, []))
    figures = document["objectives"]["time"]["hillclimb"]
    assert figures["normalised_cumulative_cost"]["4"]["mean"] == result["time"]["hillclimb"].overall.curve[3].mean
    assert set(figures["workloads"]) == {"one", "two"}
    assert document["workloads"][0]["oracle"]["time"] == {"batch_size": 4.0}


def test_what_cannot_be_told_is_null_and_none(ladder: Ladder) -> None:
    contest = Contest((ladder(-1.0, 5.0),), {"default": POLICIES["default"]}, ("time",), (1,), seeds=1)
    result = hold(contest, jobs=1, backend="loky", track=silently)
    figures = json.loads(replay_json.render(contest, result, []))["objectives"]["time"]["default"]["cost_per_delivered_model"]
    assert figures == {"mean": None, "standard_error": None}
    assert " none " in replay_text.render(contest, result, [], width=100, colour=False)


@pytest.mark.parametrize(("name", "start"), [("out.png", b"\x89PNG"), ("out.svg", b"<?xml")])
def test_the_picture_is_drawn_and_the_same_figures_give_the_same_bytes(
    tmp_path: Path, contest: Contest, result: Result, name: str, start: bytes
) -> None:
    contents = []
    for _ in range(2):
        replay.plot(tmp_path / name, contest, result)
        contents.append((tmp_path / name).read_bytes())
    assert contents[0].startswith(start)
    assert contents[0] == contents[1]


def test_a_picture_that_cannot_be_written_is_an_error(tmp_path: Path, contest: Contest, result: Result) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        replay.plot(tmp_path / "none" / "out.png", contest, result)
