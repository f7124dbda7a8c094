"""Cells -> Run: units, times, status, batch sizes, identity; and what is no run."""

from __future__ import annotations

import pytest

from jpo.errors import TelemetryError
from jpo.plugins.imports.columns import columns_of
from jpo.plugins.imports.foreign import ForeignColumn, ForeignRun, ForeignRuns
from jpo.plugins.imports.translate import Said, Translated, translated
from jpo.records import Identity, RunStatus

DIGITS = {"dataset": "digits", "model": "cnn", "framework": "pytorch"}
BASE = {"end_time": "1700000600", "duration": "600"}
NOW = 1.8e9


def told(*rows: dict[str, str], said: Said | None = None, silent: bool = False, now: float = NOW) -> Translated:
    runs = tuple(ForeignRun(f"a.csv:{line}", None, {**BASE, **row}, silent=silent) for line, row in enumerate(rows, start=2))
    source = ForeignRuns("table", "a.csv", runs)
    return translated(source, columns_of(source, {}), said or Said(otherwise=DIGITS), now=now)


def parameters(said: Said | None = None, **cells: str) -> dict[str, float]:
    (run,) = told(cells, said=said).runs
    return dict(run.parameters)


def test_a_run_in_jpos_units():
    cells = {
        "lr": "2e-5",
        "bs": "64",
        "gpu_util": "80",
        "cost": "$2",
        "peak_memory_mb": "1073.741824",
        "throughput": "9",
        "val_loss": "1",
    }
    (run,) = told(cells).runs
    assert (run.identity, run.status, run.source) == (Identity("digits", "cnn", "pytorch"), RunStatus.SUCCEEDED, "table: a.csv:2")
    assert (run.started_at, run.ended_at, run.parameters) == (1.7e9, 1.7e9 + 600, {"batch_size": 64.0, "learning_rate": 2e-5})
    outcome = run.outcome
    assert (outcome.duration_seconds, outcome.gpu_utilisation, outcome.cost_usd, outcome.val_loss) == (600, 0.8, 2, 1)
    assert (outcome.memory_gib, outcome.throughput_samples_per_second) == (pytest.approx(1), 9)


def test_start_and_duration_make_an_end():
    (run,) = told({"end_time": "", "start_time": "2023-11-14T22:13:20Z"}).runs
    assert (run.started_at, run.ended_at) == (1.7e9, 1.7e9 + 600)


@pytest.mark.parametrize(
    ("word", "status"),
    [("FINISHED", "succeeded"), ("crashed", "failed"), ("KILLED", "stopped"), ("OOMKilled", "oom_killed"), ("", "succeeded")],
)
def test_how_tools_say_that_a_run_ended(word, status):
    (run,) = told({"state": word}).runs
    assert run.status.value == status


def test_a_loss_that_is_nan_has_diverged():
    (run,) = told({"val_loss": "nan"}).runs
    assert (run.status, run.outcome.val_loss) == (RunStatus.DIVERGED, None)


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"state": "RUNNING"}, "not over"),
        ({"end_time": "1900000000"}, "in the future"),
        ({"duration": "-1"}, "negative"),
        ({"bs": "-4"}, "batch_size = '-4.0' is not a usable whole number"),
        ({"bs": "nan"}, "not a usable"),
        ({"bs": "2.5"}, "not a usable whole number"),
        ({"cost": "-1"}, "cost_usd = -1.0 is negative"),
        ({"end_time": "", "duration": ""}, "does not say when it ended"),
    ],
)
def test_what_nothing_can_be_learnt_from_is_skipped_with_its_row(cells, reason):
    found = told({}, cells)
    assert (len(found.runs), [skipped.run_id for skipped in found.skipped]) == (1, ["a.csv:3"])
    assert reason in found.skipped[0].reason


@pytest.mark.parametrize(
    ("cells", "code", "finding"),
    [
        ({"bs": "auto"}, "JPO-E152", "a.csv:3: bs is read as batch_size, and 'auto' is not a number"),
        ({"state": "resting"}, "JPO-E152", "a.csv:3: state = 'resting' does not say how a run ends"),
        ({"duration": "10", "start_time": "1700000000"}, "JPO-E152", "says 10 s of duration, and 600 s from start to end"),
    ],
)
def test_a_cell_that_contradicts_its_column_is_an_error_with_its_row(cells, code, finding):
    with pytest.raises(TelemetryError) as caught:
        told({}, cells)
    assert caught.value.code == code
    assert finding in str(caught.value)


def test_two_runs_of_one_id_are_an_error():
    source = ForeignRuns("table", "a.csv", tuple(ForeignRun(f"a.csv:{line}", None, {**BASE, "job": "same"}) for line in (2, 3)))
    columns = columns_of(source, {"run_id": ForeignColumn("job")})
    with pytest.raises(TelemetryError, match=r"a.csv:3: has the same run id 'same' as a.csv:2"):
        translated(source, columns, Said(otherwise=DIGITS), now=NOW)


def test_a_run_without_end_or_identity_is_an_error():
    source = ForeignRuns("table", "a.csv", (ForeignRun("a.csv:2", None, {"lr": "1"}),))
    with pytest.raises(TelemetryError, match="does not say when its run ended"):
        translated(source, columns_of(source, {}), Said(otherwise=DIGITS), now=NOW)
    with pytest.raises(TelemetryError, match="does not say its dataset; add --dataset NAME"):
        told({}, said=Said())


def test_identity_by_option_then_file_then_config_ini():
    (run,) = told({"model": "vit", "dataset": "mnist"}, said=Said({"dataset": "given"}, DIGITS)).runs
    assert run.identity == Identity("given", "vit", "pytorch")


@pytest.mark.parametrize(
    ("cells", "batch_size"),
    [
        ({"per_device_train_batch_size": "8", "num_gpus": "4", "gradient_accumulation_steps": "2"}, 64),
        ({"per_device_train_batch_size": "8", "world_size": "4"}, 32),
        ({"per_device_train_batch_size": "8", "num_nodes": "2", "gpus_per_node": "4"}, 64),
        ({"per_device_train_batch_size": "8", "num_gpus": "0"}, 8),
        ({"per_device_train_batch_size": "8", "batch_size": "128"}, 128),
        ({"batch_size": "32.0"}, 32),
        ({"per_device_train_batch_size": "8"}, None),
    ],
)
def test_the_batch_size_on_record_is_the_global_one(cells, batch_size):
    assert parameters(**cells).get("batch_size") == batch_size


def test_an_unknown_number_of_devices_is_said_and_can_be_given():
    assert "add --set gpus=N" in told({"per_device_train_batch_size": "8"}).notes[0]
    assert parameters(Said(otherwise=DIGITS, values={"gpus": 2.0}), per_device_train_batch_size="8") == {
        "batch_size": 16,
        "gpus": 2,
    }


def test_ids_stay_when_rows_and_columns_are_added_and_files_moved():
    rows = [{"lr": "0.1"}, {"lr": "0.2"}]
    ids = [run.run_id for run in told(*rows).runs]
    assert [run.run_id for run in told({"lr": "0.3"}, *rows).runs][1:] == ids
    assert [run.run_id for run in told(*({**row, "notes": "new"} for row in rows)).runs] == ids


def test_two_rows_that_agree_in_everything_are_two_runs():
    first, second = (run.run_id for run in told({"lr": "0.1"}, {"lr": "0.1"}).runs)
    assert second == f"{first}-2"


def test_a_run_whose_end_nobody_saw_may_still_go_on():
    ended = float(BASE["end_time"])
    assert "may still be running" in told({}, silent=True, now=ended + 60).skipped[0].reason
    (run,) = told({}, silent=True).runs
    assert run.fell_silent
