"""Which runs are over, and when they started and ended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jpo.errors import TelemetryError
from jpo.telemetry.prometheus.discovery import NewRuns, RunBounds, bounds, new, reported_ids, running, seen
from jpo.telemetry.prometheus.names import Names
from jpo.telemetry.prometheus.queries import STILL_SECONDS

RUN = [({"run_id": "r"}, 1.0)]


def test_runs_that_go_on_or_are_not_the_workloads_are_left_out(scope_on):
    answers = {
        "run": [({"run_id": name}, 1.0) for name in "abc"],
        "going": [({"run_id": "b"}, 1.0)],
        "end": [({"run_id": "z"}, 9.0)],
    }
    scope = scope_on(answers)
    found = seen(scope)[0]
    assert new(found, scope) == {"a": {"run": 1.0}, "c": {"run": 1.0}}
    assert running(found, 1e4) == {"b"}
    assert len(scope.client.asked) == 1


@pytest.mark.parametrize(("end", "count"), [(500.0, 0), (501.0, 1)])
def test_a_run_that_ended_before_the_watermark_is_on_record(scope_on, end, count):
    scope = scope_on({"run": RUN, "end": [({"run_id": "r"}, end)]}, mark=500.0)
    assert len(new(seen(scope)[0], scope)) == count


@pytest.mark.parametrize(("pushed", "count"), [(9600.0, 1), (9800.0, 0), (400.0, 0)])
def test_what_a_gateway_holds_is_over_when_no_push_came_for_a_while(scope_on, pushed, count):
    scope = scope_on({"run": RUN, "going": RUN, "pushed": [({"run_id": "r"}, pushed)]}, mark=500.0)
    assert len(new(seen(scope)[0], scope)) == count


def test_the_runs_own_word_precedes_its_pods(scope_on):
    own, silent = {"run": 1.0, "start": 100.0, "end": 200.0}, {"run": 1.0}
    over, undecided = bounds(scope_on(), {"own": own, "pod": silent}, {"own": (90.0, 300.0), "pod": (90.0, 300.0)})
    assert over == {"own": RunBounds(100.0, 200.0, closed=True), "pod": RunBounds(90.0, 300.0, closed=False)}
    assert undecided == {}


@pytest.mark.parametrize(("clock", "over"), [(1e4, True), (1300.0, False)])
def test_a_silent_run_is_over_by_the_servers_clock(scope_on, clock, over):
    reports = [(1000.0 + 15 * i, 1.0) for i in range(5)]
    scope = scope_on({"jpo_run_info": [({"run_id": "r"}, reports)]}, clock=clock)
    found, undecided = bounds(scope, {"r": {"run": 1.0}}, {})
    assert found == ({"r": RunBounds(1000.0, 1060.0, closed=False)} if over else {})
    assert undecided == ({} if over else {"r": 1060.0})


def test_a_stalled_run_is_found_though_the_watermark_passed_its_end(scope_on):
    moved = [(100.0, 1.0), (200.0, 2.0), (300.0, 2.0), (9000.0, 2.0)]
    scope = scope_on({"jpo_samples_total": [({"run_id": "r"}, moved)]}, mark=STILL_SECONDS + 199)
    over, _ = bounds(scope, {"r": {"run": 1.0, "going": 1.0, "still": 1.0, "start": 50.0}}, {})
    assert over == {"r": RunBounds(50.0, 200.0, closed=False)}


def test_a_run_that_is_named_and_then_has_no_report_is_not_over(scope_on):
    assert bounds(scope_on(mark=500.0), {"r": {"run": 1.0}}, {}) == ({}, {"r": 500.0})


def test_only_the_runs_that_a_scope_names_are_looked_at(scope_on):
    scope = replace(scope_on({"run": [({"run_id": name}, 1.0) for name in "abc"]}), run_ids=("b",))
    assert seen(scope)[0] == {"b": {"run": 1.0}}
    assert 'run_id=~"b"' in scope.client.asked[0]


def test_the_index_is_asked_in_the_sites_names(scope_on):
    scope = scope_on(metrics=["r1", "", "r2"], names=Names.of({"jpo_run_info": "info"}, {"run_id": "run"}))
    assert reported_ids(scope, 10.0) == {"r1", "r2"}
    assert scope.client.asked == ['run of info{dataset="digits",model="cnn",framework="pytorch"}']


@pytest.mark.parametrize("code", ["JPO-E101", "JPO-E104", "JPO-E105"])
def test_where_the_index_is_withheld_the_runs_themselves_are_asked(scope_on, code):
    scope = scope_on({"run": [({"run_id": "r1"}, 1.0), ({}, 1.0)]})

    def withheld(*_):
        raise TelemetryError("p", "no", code=code)

    scope.client.label_values = withheld
    assert reported_ids(scope, 10.0) == {"r1"}
    assert "[9989999ms]" in scope.client.asked[0]


def test_trouble_is_passed_on(scope_on):
    scope = scope_on()

    def down(*_):
        raise TelemetryError("p", "down", code="JPO-E102")

    scope.client.label_values = down
    with pytest.raises(TelemetryError, match="down"):
        reported_ids(scope, 10.0)


def test_two_findings_are_added_up():
    early, late = RunBounds(0.5, 1.0, closed=True), RunBounds(None, 2.0, closed=False)
    both = NewRuns(over=(early,), open_ids=("a",)) + NewRuns(over=(late,), open_ids=("b",), undecided=(3.0,))
    assert both == NewRuns(over=(early, late), open_ids=("a", "b"), undecided=(3.0,))
