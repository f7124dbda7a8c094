"""Files as wandb 0.31 wrote them offline (data/make_wandb.py), and what breaks them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from wandb_files import MAGIC, begins, ends, field, items, written

from jpo.errors import TelemetryError
from jpo.plugins.imports.columns import columns_of
from jpo.plugins.imports.recognise import read_sources
from jpo.plugins.imports.translate import Said, translated
from jpo.plugins.imports.wandb import read_wandb
from jpo.records import Identity

DATA = Path(__file__).parent / "data" / "wandb"
SAID = Said(otherwise={"model": "cnn", "framework": "pytorch"})


def read(path):
    (source,) = read_sources([path], None)
    return translated(source, columns_of(source, {}), SAID, now=4e9)


RUN, EXIT = begins("abc", 100, {"batch_size": 8}), ends(0)


def test_runs_of_the_client():
    found = read(DATA)
    good, failed = sorted(found.runs, key=lambda run: run.parameters["batch_size"])
    assert (good.run_id, good.identity, good.status.value) == ("night32", Identity("digits", "cnn", "pytorch"), "succeeded")
    assert good.parameters == {"batch_size": 32, "learning_rate": 2e-5, "epochs": 4}
    outcome = good.outcome
    assert (outcome.val_loss, outcome.train_loss, outcome.val_accuracy, outcome.epochs) == (0.25, 0.5, 0.9, 4)
    assert outcome.loss_slope == pytest.approx(-1, abs=0.01)
    assert 0.4 < outcome.duration_seconds < 5
    assert 0.01 < outcome.memory_gib < 1
    assert (failed.run_id, failed.status.value, failed.outcome.val_loss) == ("night64", "diverged", None)
    assert "has no end: the run is still going, was killed" in found.skipped[0].reason


def test_what_the_monitor_saw_of_gpus(tmp_path):
    looks = [
        field(7, field(2, field(1, 110 + look)) + items(3, {"gpu.0.gpu": 40.0 + look, "gpu.1.gpu": 60.0, "gpu.process.0.gpu": 1.0,
                                                            "gpu.0.memoryAllocatedBytes": look * 2.0**30}))
        for look in (0, 4)
    ]  # fmt: skip
    (tmp_path / "run-abc.wandb").write_bytes(written(RUN, *looks, EXIT))
    (run,) = translated(
        read_wandb(tmp_path), columns_of(read_wandb(tmp_path), {}), Said({**SAID.otherwise, "dataset": "d"}), now=4e9
    ).runs
    assert (run.outcome.gpu_utilisation, run.outcome.gpu_memory_gib) == (pytest.approx(0.51), 4)
    assert (run.started_at, run.ended_at) == (100, 114)


def test_records_go_over_the_ends_of_blocks(tmp_path):
    steps = [field(2, items(1, {"epoch": step, "val_loss": 1 / step, "note": "x" * 700 * step})) for step in range(1, 120)]
    (tmp_path / "run-abc.wandb").write_bytes(written(RUN, *steps, EXIT))
    (run,) = read_wandb(tmp_path).runs
    assert (run.cells["summary.epoch"], len(run.curves["summary.val_loss"])) == ("119", 119)


@pytest.mark.parametrize("size", [7, 8, 100, 3000, 5000])
def test_a_file_that_is_cut_off_says_nothing_of_its_run(tmp_path, size):
    whole = next(DATA.glob("*32/*.wandb"))
    (tmp_path / whole.name).write_bytes(whole.read_bytes()[:size])
    found = read_wandb(tmp_path)
    assert (found.runs, len(found.skipped)) == ((), 1)


@pytest.mark.parametrize(
    ("data", "finding"),
    [
        (b"", "is not a file that wandb wrote"),
        (b":W&B", "is not a file that wandb wrote"),
        (b"name,loss\n1,2\n", "is not a file that wandb wrote"),
        (written(RUN, EXIT).replace(b"batch", b"match"), "is damaged: 7 of"),
        (MAGIC + b"\0" + bytes(100), "is damaged: 7 of 107 bytes are whole"),
        (written(field(18, b"\x08\0")), "says neither which run it is of nor when that began"),
        (written(RUN + b"\x9a"), "a number without an end"),
        (written(RUN + b"\x12\x70"), "a field that is longer than its message"),
        (written(RUN + b"\x93\x01"), "a field of the kind 3"),
        (written(RUN, field(2, items(1, {f"n{n}": n for n in range(2001)})), EXIT), "contains more than 2000 values"),
    ],
)
def test_what_is_no_file_of_a_run_is_one_error(tmp_path, data, finding):
    (tmp_path / "run-abc.wandb").write_bytes(data)
    with pytest.raises(TelemetryError, match=finding) as caught:
        read_wandb(tmp_path)
    assert caught.value.code == "JPO-E150"


def test_values_that_are_none_are_left_out(tmp_path):
    bad = field(2, field(1, field(2, b"deep") + field(16, b"[" * 100_000)) + field(1, field(2, b"big") + field(16, b"9" * 5000)))
    (tmp_path / "run-abc.wandb").write_bytes(written(RUN, bad, EXIT))
    assert set(read_wandb(tmp_path).runs[0].cells) == {
        "config.batch_size",
        "(run id)",
        "(exit code)",
        "(started)",
        "(last record)",
    }


def test_a_folder_with_two_files_is_refused(tmp_path):
    for name in ("run-a.wandb", "run-b.wandb"):
        shutil.copy(next(DATA.glob("*32/*.wandb")), tmp_path / name)
    with pytest.raises(TelemetryError, match=r"contains 2 files run-\*.wandb; name the folder of one run"):
        read_sources([tmp_path], None)
