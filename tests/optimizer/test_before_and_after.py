from __future__ import annotations

from dataclasses import replace

from made import a_suggestion

from jpo.cost import Prices
from jpo.history import RecordedRun
from jpo.optimizer.before_and_after import Sides, Spent, failed_starts, return_on_trials, sides_of, spent_of
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


def test_a_start_that_failed_for_no_fault_of_its_values_is_on_neither_side() -> None:
    trained = replace(run(100.0).outcome, epochs=10.0)
    well = replace(run(100.0), outcome=trained)
    missing_module = run(2.0, RunStatus.FAILED, 1100.0)
    late = run(150.0, RunStatus.FAILED, 1200.0)
    out_of_memory = run(2.0, RunStatus.OOM_KILLED, 1300.0)
    crashed = replace(run(50.0, RunStatus.FAILED, 1400.0), outcome=replace(trained, duration_seconds=50.0, epochs=3.0))
    never_ran = replace(run(2.0, RunStatus.FAILED, 1500.0), parameters={"gpus": 3.0})
    runs = [well, missing_module, late, out_of_memory, crashed, never_ran]
    assert failed_starts(runs) == {missing_module.run_id}
    assert failed_starts(runs[1:]) == frozenset(), "nobody knows whether these values train"
    sides = sides_of((), [RecordedRun(one, None, 1.0) for one in runs])
    assert (missing_module in sides.before, sides.failed_starts) == (False, 1)


def test_values_that_never_ran_well_are_not_charged_for_a_script_that_fails_with_any() -> None:
    well = replace(run(100.0), parameters={"batch_size": 64.0}, outcome=Outcome(duration_seconds=100.0, epochs=3.0))
    known, new = (
        replace(run(1.0, RunStatus.FAILED), run_id=f"no-module-{size}", parameters={"batch_size": size}) for size in (64.0, 128.0)
    )
    assert failed_starts([well, new, known]) == {new.run_id, known.run_id}
    assert failed_starts([new, well, known]) == {known.run_id}, "in between it trained: the values may be at fault"


def test_what_followed_each_suggestion_is_charged_and_adds_up_to_what_was_saved() -> None:
    """Before: 100 s a model. A trial of two runs, one of which failed; an improvement; a night that kept it."""
    trial, better = a_suggestion("s1", 2000.0, now=Forecast(Interval(90, 80, 99))), a_suggestion("s2", 4000.0)
    kept = a_suggestion("s3", 5000.0, status="kept", changes=())
    runs = [run(100.0, at=1000.0 + n) for n in range(3)]
    after = [run(80.0, at=2500.0), run(60.0, RunStatus.DIVERGED, 3000.0), run(50.0, at=4500.0), run(40.0, at=5500.0)]
    followed = dict(zip((one.run_id for one in after), ("s1", "s1", "s2", "s3"), strict=True))
    entries = [RecordedRun(one, followed.get(one.run_id), 1.0) for one in (*runs, *after)]
    spent = spent_of((trial, better, kept), entries, Prices())
    assert spent["s1"] == Spent(40.0, 50.0, 140 / 90, 2)
    assert [spent[name].before for name in ("s2", "s3")] == [-50.0, -60.0]
    assert sum(one.before for one in spent.values()) == 80 + 60 + 50 + 40 - 3 * 100
    trials, cost, learnt = return_on_trials(zip(("trial", "improvement", "kept"), spent.values(), strict=True))
    assert (trials, cost, learnt) == (2, 50.0, -120.0)


def test_before_the_first_change_nothing_is_charged() -> None:
    kept = a_suggestion("s1", 500.0, status="kept", changes=())
    assert spent_of((kept,), [RecordedRun(run(100.0, at=1000.0), "s1", 1.0)], Prices()) == {}
