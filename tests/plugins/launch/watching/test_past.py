from dataclasses import replace

import pytest

from jpo.cost import Prices
from jpo.plugins.launch.job import JobState
from jpo.plugins.launch.watching.past import best_of, past_of
from jpo.plugins.launch.watching.seen import RunTimes, SeenRun
from jpo.project.project import open_history
from jpo.records import VAL_LOSS, Finished, Identity, Outcome, Preference, Run, RunStatus

IDENTITY = Identity("digits", "cnn", "pytorch")
NOW = SeenRun("now", IDENTITY, {"batch_size": 64.0, "cpus": 2.0}, "csv", JobState.RUNNING, 9000.0, times=RunTimes(8000.0))
PRICES = Prices(usd_per_cpu_hour=0.04)


def run(name, seconds, batch=64.0, *, loss=0.1, at=1000.0, status=RunStatus.SUCCEEDED, epochs=None, converged=None):
    outcome = Outcome(duration_seconds=seconds, val_loss=loss, epochs=epochs, converged=converged)
    return Run(name, IDENTITY, {"batch_size": batch, "cpus": 2.0}, status, at, at + seconds, outcome, "csv")


def known(repository, *runs):
    _, settings = repository('[csv]\nlogs = ["runs/*.csv"]\n')
    with open_history(settings) as store:
        store.record(Finished(runs), now=9000.0)
        return past_of(NOW, store, settings, PRICES, Preference())


def test_without_runs_nothing_is_known(repository):
    past = known(repository)
    assert (past.rival, past.baseline, past.basis, past.alike, past.finished, past.well) == (None, (), "", (), (), 0)


def test_the_baseline_is_the_last_runs_with_the_same_configuration(repository):
    runs = [run(f"r{n}", 100 + n, at=1000.0 + 200 * n, epochs=5) for n in range(5)]
    past = known(repository, *runs, run("other", 50, 128.0, at=5000.0))
    assert [each.run_id for each, _ in past.baseline] == ["r2", "r3", "r4"]
    assert past.basis == "the last runs with the same configuration"
    assert past.baseline[0][1] == pytest.approx(2 * 0.04 * 102 / 3600)
    assert past.alike[-1] == (104, 5)


@pytest.mark.parametrize(("done", "has_target"), [(12, True), (40, False), (None, False)])
def test_a_target_is_what_ends_runs_before_their_last_epoch(repository, done, has_target):
    early = run("r0", 100, epochs=done)
    assert known(repository, replace(early, parameters={**early.parameters, "epochs": 40.0})).has_target is has_target


def test_else_it_is_the_last_run(repository):
    past = known(repository, run("other", 50, 128.0))
    assert ([each.run_id for each, _ in past.baseline], past.basis) == (["other"], "the last run")


def test_the_run_to_beat_is_the_best_that_ended_well(repository):
    past = known(repository, run("slow", 100), run("fast", 50, 128.0), run("dead", 10, status=RunStatus.FAILED))
    assert past.rival.run_id == "fast"
    assert past.well == 2


def test_a_fast_run_with_a_far_worse_loss_is_no_rival():
    runs = [run("good", 100, loss=0.1), run("fast", 50, loss=0.4)]
    assert best_of(runs, {"good": None, "fast": None}, VAL_LOSS, Preference()).run_id == "good"


def test_a_fast_run_that_told_no_loss_is_no_rival_where_others_did():
    runs = [run("good", 100), run("silent", 50, loss=None)]
    assert best_of(runs, {"good": None, "silent": None}, VAL_LOSS, Preference()).run_id == "good"
    assert best_of(runs[1:], {"silent": None}, VAL_LOSS, Preference()).run_id == "silent"


def test_a_run_whose_duration_nobody_knows_is_no_rival():
    assert best_of([replace(run("a", 1.0), outcome=Outcome())], {"a": None}, VAL_LOSS, Preference()) is None


def test_the_run_itself_is_no_earlier_one(repository):
    assert known(repository, run("now", 100)).rival is None


def test_learning_curves_are_those_of_logs_of_runs_on_record(repository, tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    head = "# dataset=digits\n# model=cnn\n# framework=pytorch\n# start=1000\ntime,epoch,samples,train_loss,val_loss\n"
    rows = "".join(f"{1000 + n},{n},{n},0.2,{1 / n}\n" for n in range(1, 11))
    for name, status in (("r0", "succeeded"), ("r1", "failed"), ("unknown", "succeeded")):
        (folder / f"{name}.csv").write_text(f"# run_id={name}\n{head}{rows}# end=1010\n# status={status}\n")
    (folder / "broken.csv").write_text("no log")
    past = known(repository, run("r0", 100), run("r1", 100, status=RunStatus.FAILED))
    assert len(past.finished) == 1
    assert past.baseline_curve[0] == (1, 1.0)


def test_what_the_best_configuration_usually_costs_is_told_beside_its_shortest_run(repository):
    """Two of it took 50 and 200 s, 100 on average; one of another took 110."""
    runs = [run("lucky", 50, 128.0), run("unlucky", 200, 128.0, at=2000.0), run("other", 110, at=3000.0)]
    rival = known(repository, *runs).rival
    assert rival.run_id == "lucky"
    assert rival.usual == pytest.approx(2.0)
