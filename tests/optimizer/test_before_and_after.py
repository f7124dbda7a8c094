from __future__ import annotations

from dataclasses import replace

from made import a_suggestion

from jpo.history import RecordedRun
from jpo.optimizer.before_and_after import Sides, sides_of
from jpo.records import Forecast, Identity, Interval, Outcome, Run, RunStatus

JOB = Identity("d", "m", "f")


def run(seconds: float | None, status: RunStatus = RunStatus.SUCCEEDED, at: float = 1000.0) -> Run:
    return Run(f"r{at}", JOB, {"gpus": 2.0}, status, at, at + 1, Outcome(duration_seconds=seconds), "csv")


def test_sides_are_before_the_first_change_and_what_followed_it() -> None:
    kept, later = (a_suggestion(name, at, status="kept", changes=()) for name, at in (("s0", 500.0), ("s2", 4000.0)))
    changed = a_suggestion("s1", 2000.0)
    followed = {1000.0: None, 1500.0: "s0", 2500.0: "s1", 3000.0: None, 4500.0: "s2"}
    entries = [RecordedRun(run(1.0, at=at), suggestion_id, at) for at, suggestion_id in followed.items()]
    sides = sides_of((kept, changed, later), entries)
    assert sides.since == 2000.0
    assert [one.started_at for one in sides.before] == [1000.0, 1500.0]
    assert [one.started_at for one in sides.after] == [2500.0, 4500.0]
    assert sides_of((kept,), entries) == Sides(None, tuple(entry.run for entry in entries), ())


def test_of_too_few_runs_before_later_ones_with_the_old_values_count_and_the_forecast_is_at_hand() -> None:
    expected = Forecast(Interval(100, 80, 130))
    changed, again = a_suggestion("s1", 2000.0, now=expected), a_suggestion("s2", 4000.0)
    old, other = ({"batch_size": size, "learning_rate": 0.1} for size in (32.0, 99.0))
    runs = [(1000.0, None, {}), (2500.0, "s1", {}), (3000.0, None, old), (3500.0, None, other), (4500.0, "s2", {})]
    entries = [RecordedRun(replace(run(1.0, at=at), parameters=values), made, at) for at, made, values in runs]
    sides = sides_of((changed, again), entries)
    assert [(one.started_at, one.parameters) for one in sides.before] == [(1000.0, old), (3000.0, old)]
    assert (len(sides.after), len(sides.newest), sides.left_out, sides.last) == (2, 1, 1, 4000.0)
    assert sides.expected == expected
