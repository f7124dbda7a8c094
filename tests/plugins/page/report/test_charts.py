from __future__ import annotations

from dataclasses import replace

from plugins.page.report.sample import REVIEW, WORKLOAD

from jpo.forecast.before_after import compare
from jpo.plugins.page.report.charts import over_time, parameters, saved_over_time, trade_off


def test_runs_over_time_are_told_apart_by_what_they_followed_and_how_they_ended() -> None:
    drawn = over_time(WORKLOAD)
    assert {marks.name: marks.points for marks in drawn.marks} == {
        "followed no suggestion": (),
        "followed a suggestion": ((200.0, 50.0),),
        "stopped": (),
        "failed": ((300.0, 9.0),),
    }
    assert [at for at, _ in drawn.moments] == [100.0]
    assert drawn.moments[0][1].startswith("trial: batch ")
    assert drawn.description == "2 runs by their end and duration; JPO wrote other values once."
    assert drawn.key == "A dashed line marks each of these times: its label says what changed; point at one without."


def test_a_change_that_was_not_written_is_no_line() -> None:
    (made,) = WORKLOAD.decisions
    assert over_time(replace(WORKLOAD, decisions=(replace(made, fate="conflict"),))).moments == ()


def test_a_configuration_without_both_values_has_no_place() -> None:
    drawn = trade_off(WORKLOAD)
    assert drawn.points == ((50.0, 0.5),)
    assert [marks.joined for marks in drawn.marks if marks.points] == ["steps"]
    assert drawn.description == "1 of 1 configuration not beaten by another one in duration and cost."


def test_the_newest_suggestion_is_marked_where_it_was_measured() -> None:
    drawn = trade_off(replace(WORKLOAD, today={"batch_size": 64.0}))
    assert {marks.name: marks.points for marks in drawn.marks}["newest suggestion"] == ((50.0, 0.5),)


def test_without_a_second_quantity_there_is_no_picture() -> None:
    assert trade_off(replace(WORKLOAD, front=replace(WORKLOAD.front, quantities=("duration_seconds",), points=()))).points == ()


def test_where_more_is_better_no_stairs_are_drawn() -> None:
    drawn = trade_off(replace(WORKLOAD, front=replace(WORKLOAD.front, maximised=True)))
    assert not any(marks.joined for marks in drawn.marks)
    assert drawn.y_label == "cost (more is better)"


def test_what_is_saved_adds_up_run_by_run() -> None:
    by_run = {"duration_seconds": [(300.0, -9.0), (200.0, 40.0)], "cost_usd": [(200.0, 2.0)]}
    time, money = (saved_over_time(replace(REVIEW, workloads=[replace(WORKLOAD, saved_by_run=by_run)]), name) for name in by_run)
    assert time.points == ((100.0, 0.0), (200.0, 40.0), (300.0, 31.0))
    assert time.description == "2 runs since JPO's first change; what they saved adds up to 31s."
    assert (money.title, money.points[-1]) == ("Money saved so far", (200.0, 2.0))
    assert saved_over_time(REVIEW, "cost_usd").points == ()


def test_a_parameter_that_changed_is_drawn_step_by_step_with_its_effect() -> None:
    effect = (64.0, 128.0, compare("duration_seconds", [9.0, 9.0, 9.0], [18.0, 18.0, 18.0], more_is_better=False, seed=0))
    (drawn,) = parameters(replace(WORKLOAD, front=replace(WORKLOAD.front, effects={"batch_size": effect})))
    assert drawn.points == ((200.0, 64.0), (300.0, 128.0))
    assert drawn.description == "batch: 2 values in 2 runs; 64 → 128: +100% (+100% to +100%) time, 3 and 3 runs."
    three = replace(WORKLOAD, runs=(*WORKLOAD.runs[:1] * 3, WORKLOAD.runs[1]))
    assert [plot.points for plot in parameters(three)] == [((200.0, 64.0), (300.0, 128.0))], "what holds is drawn once"
