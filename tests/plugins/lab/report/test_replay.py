from __future__ import annotations

import re
from typing import Any

import pytest
from contests import small_contest

from jpo.cli.output import rendered
from jpo.plugins.lab.replay.contest import Contest, Result, hold
from jpo.plugins.lab.replay.policies import POLICIES
from jpo.plugins.lab.replay.traces import Execution, Trace
from jpo.plugins.lab.report import replay as subject
from jpo.plugins.lab.report.replay import Played
from jpo.records import in_turn, silently
from jpo.wording import numbers


def text(played: Played, width: int = 120, *, colour: bool = False) -> str:
    return rendered(subject, played, "text", columns=width, colour=colour)


def as_json(played: Played) -> dict[str, Any]:
    return dict(subject.as_json(played))


@pytest.fixture
def contest() -> Contest:
    return small_contest()


@pytest.fixture
def result(contest: Contest) -> Result:
    return hold(contest, spread=in_turn, track=silently)


def test_the_table_shows_policies_and_horizons_with_errors_and_marks_the_best(contest: Contest, result: Result) -> None:
    out = text(Played(contest, result, ("a note",)), colour=True)
    assert "N = 2" in out
    assert "2 recorded workloads, 7 replays of 4 runs for each policy" in out
    assert "Note: a note" in out
    best = min(result["time"].values(), key=lambda one: one.overall.curve[3].mean).overall.curve[3]
    assert f"\x1b[1m{numbers.plain(best.mean)}\x1b[0m \x1b[2m± {best.error:.2g}\x1b[0m" in out
    assert "time, one" not in out
    assert "time, one" in text(Played(contest, result, each_workload=True))


def test_a_narrow_terminal_cuts_nothing_off(contest: Contest, result: Result) -> None:
    wide, narrow = (text(Played(contest, result), width) for width in (120, 60))
    assert "…" not in narrow
    tables = narrow.partition("N = ...")[0].partition("\n\n")[2]
    assert max(map(len, tables.split("\n"))) <= 60
    assert sorted(re.findall(r"\d+\.\d\d", narrow)) == sorted(re.findall(r"\d+\.\d\d", wide))


def test_markdown_and_html_show_the_tables(contest: Contest, result: Result) -> None:
    played = Played(contest, result, ("<script>",))
    assert "| policy | N = 2 | N = 4 | per model | stopped | harm |" in rendered(subject, played, "markdown")
    page = rendered(subject, played, "html")
    assert "time, 2 workloads" in page
    assert "<script>" not in page


def test_the_json_has_every_figure_also_per_workload(contest: Contest, result: Result) -> None:
    document = as_json(Played(contest, result))
    hillclimb = document["objectives"]["time"]["hillclimb"]
    assert hillclimb["normalised_cumulative_cost"]["4"]["mean"] == result["time"]["hillclimb"].overall.curve[3].mean
    assert set(hillclimb["workloads"]) == {"one", "two"}
    assert document["workloads"][0]["oracle"]["time"] == {"batch_size": 4.0}


def test_what_cannot_be_said_is_null_and_none() -> None:
    never = (Execution(1.0, 1.0, False),), (Execution(5.0, 5.0, True),)
    trace = Trace("never", ({"batch_size": 1.0}, {"batch_size": 2.0}), never, 0, "USD")
    contest = Contest((trace,), {"default": POLICIES["default"]}, ("time",), (1,), seeds=range(1))
    played = Played(contest, hold(contest, spread=in_turn, track=silently))
    cost = as_json(played)["objectives"]["time"]["default"]["cost_per_delivered_model"]
    assert cost == {"mean": None, "standard_error": None}
    assert " none " in text(played, 100)
