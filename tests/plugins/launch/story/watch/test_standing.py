from dataclasses import replace

import pytest

from jpo.cost import Prices
from jpo.forecast.curves.curve import curve_of
from jpo.plugins.launch.job import JobState
from jpo.plugins.launch.story.watch.standing import ProjectTerms, progress_of, standing
from jpo.plugins.launch.watching.past import PastRuns
from jpo.plugins.launch.watching.seen import ResourcesInUse, RunTimes, SeenRun, TrainingLog
from jpo.records import USD, VAL_LOSS, Identity, Outcome, Preference, Run, RunStatus
from jpo.telemetry.csv.follow import LogRow

IDENTITY = Identity("d", "m", "f")
ROWS = tuple(LogRow(1000.0 + 10 * n, n, None, None, 1 / n) for n in range(1, 11))
NOW = SeenRun("now", IDENTITY, {"epochs": 40.0, "cpus": 2.0}, "csv", JobState.RUNNING, 1100.0, times=RunTimes(1000.0))
LOGGED = TrainingLog(10.0, rows=ROWS, curves={"val_loss": tuple((row.epoch, row.val_loss) for row in ROWS)})
NOW = replace(NOW, training=LOGGED)
TERMS = ProjectTerms(Prices(usd_per_cpu_hour=1.8), USD, {}, Preference())
NOTHING = PastRuns(VAL_LOSS)


def stands(seen, past=NOTHING, **targets):
    progress = progress_of(seen, past, TERMS.prices)
    return standing(seen, past, progress, replace(TERMS, targets=targets), None)


def test_a_run_that_waits_has_no_figures():
    waiting = SeenRun("now", IDENTITY, {}, "slurm", JobState.WAITING, 1100.0, words="Resources", times=RunTimes(starts_at=1500.0))
    found = stands(waiting, time_max=10.0)
    assert (found.seen.state, found.seen.words, found.seen.times.starts_at) == ("waiting", "Resources", 1500.0)
    assert (found.seen.elapsed_seconds, found.usd_so_far, found.forecast.total_seconds) == (None, None, None)
    assert [check.verdict for check in found.sla] == ["unknown"]


def test_time_and_money_are_forecast_from_the_pace():
    found = stands(NOW)
    assert found.forecast.total_seconds.mean == pytest.approx(400)
    assert found.forecast.ends_at.mean == pytest.approx(1400)
    assert found.usd_so_far == pytest.approx(0.1)
    assert found.forecast.usd_in_all.mean == pytest.approx(0.4)


@pytest.mark.parametrize(("limit", "verdict"), [(500, "ok"), (401, "at risk"), (300, "broken")])
def test_the_end_that_is_forecast_is_checked(limit, verdict):
    found = stands(NOW, time_max=float(limit))
    assert [check.verdict for check in found.sla] == [verdict]
    assert bool(found.warnings) == (verdict != "ok")


def test_what_is_spent_already_breaks_a_promise_whatever_is_forecast():
    unknown = replace(NOW, training=replace(LOGGED, rows=(), last_epoch=None))
    found = stands(unknown, time_max=50.0, cost_max=0.05)
    assert [check.verdict for check in found.sla] == ["broken", "broken"]


def test_memory_beyond_its_limit_is_broken_and_below_it_unknown():
    assert [
        stands(replace(NOW, use=ResourcesInUse(memory_gib=gib)), memory_max_gib=4.0).sla[0].verdict for gib in (5.0, 3.0)
    ] == [
        "broken",
        "unknown",
    ]


def test_beside_the_baseline_the_same_number_of_epochs_counts():
    run = Run("then", IDENTITY, {}, RunStatus.SUCCEEDED, 0.0, 400.0, Outcome(duration_seconds=400, epochs=20), "csv")
    past = replace(NOTHING, baseline=((run, 0.1),), basis="the last run", baseline_curve=((9.0, 1.0), (10.0, 0.05)))
    time, cost, loss = stands(NOW, past).compared
    assert (time.baseline, time.ratio, time.word) == (200, 0.5, "faster")
    assert (cost.baseline, cost.word) == (0.05, "dearer")
    assert (loss.here, loss.baseline, loss.word) == (0.1, 0.05, "worse")


def test_a_baseline_that_nobody_can_compare_is_unknown():
    run = Run("then", IDENTITY, {}, RunStatus.SUCCEEDED, None, 400.0, Outcome(), "csv")
    assert [line.word for line in stands(NOW, replace(NOTHING, baseline=((run, None),))).compared] == ["unknown", "unknown"]


def test_a_baseline_of_no_number_is_unknown_and_no_change_for_the_worse():
    run = Run("a", IDENTITY, {}, RunStatus.SUCCEEDED, 0.0, 800.0, Outcome(duration_seconds=800.0, epochs=40.0), "csv")
    past = replace(NOTHING, baseline=((run, None),), basis="the last run", baseline_curve=((9.0, 1 / 9), (10.0, float("nan"))))
    assert stands(NOW, past).compared[-1].word == "as before"  # at the ninth epoch


def test_a_job_that_counts_from_0_is_one_epoch_further_than_it_says():
    rows = tuple(replace(row, epoch=row.epoch - 1) for row in ROWS)
    run = Run("a", IDENTITY, {}, RunStatus.SUCCEEDED, 0.0, 400.0, Outcome(duration_seconds=400.0, epochs=39.0), "csv")
    seen = replace(NOW, training=replace(LOGGED, rows=rows, last_epoch=9.0))
    found = stands(seen, replace(NOTHING, baseline=((run, 0.4),), alike=((400.0, 39.0),) * 3))
    assert (found.seen.epochs_done, found.seen.share_done, found.forecast.total_seconds.mean) == (10, 0.25, pytest.approx(400))
    assert [line.word for line in found.compared] == ["as before", "as before"]


def test_a_resumed_run_is_compared_from_where_it_began():
    rows = tuple(replace(row, epoch=row.epoch + 20) for row in ROWS)
    run = Run("a", IDENTITY, {}, RunStatus.SUCCEEDED, 0.0, 400.0, Outcome(duration_seconds=400.0, epochs=40.0), "csv")
    seen = replace(NOW, training=replace(LOGGED, rows=rows, last_epoch=30.0))
    found = stands(seen, replace(NOTHING, baseline=((run, 0.4),)))
    assert [line.word for line in found.compared] == ["as before", "as before"]
    assert progress_of(seen, NOTHING, TERMS.prices).began_at == 20


def test_a_validation_that_measured_nothing_takes_no_forecast_away():
    curves = {"val_loss": (*LOGGED.curves["val_loss"][:-1], (10.0, float("nan")))}
    lost = replace(NOW, training=replace(LOGGED, curves=curves))
    assert progress_of(lost, NOTHING, TERMS.prices).curve.epochs[-1] == 9


def test_a_run_with_more_epochs_than_it_should_have_ends_nobody_knows_when():
    assert stands(replace(NOW, parameters={"epochs": 8.0})).forecast.total_seconds is None


def test_where_runs_end_at_a_target_their_epochs_are_usual():
    reached = tuple(curve_of((n, 1 / n) for n in range(1, 21)) for _ in range(3))
    past = PastRuns(VAL_LOSS, finished=reached, has_target=True)
    assert past.usual_epochs == 20
    assert replace(past, has_target=False).usual_epochs is None
