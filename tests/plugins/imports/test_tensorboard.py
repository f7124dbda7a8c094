"""Event files as torch's SummaryWriter writes them, cut off, damaged, and without TensorBoard."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from jpo.errors import TelemetryError, UsageError
from jpo.plugins.imports import foreign, tensorboard
from jpo.plugins.imports.columns import columns_of
from jpo.plugins.imports.tensorboard import event_files, read_tensorboard
from jpo.plugins.imports.translate import Said, translated

SAID = Said(otherwise={"dataset": "linear", "model": "one-layer", "framework": "pytorch"})
START = 1_700_000_000


@pytest.fixture
def writer(tmp_path):
    pytest.importorskip("tensorboard", reason='pip install "jpo[tensorboard]"')
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path / "run")) as writer:
        yield writer


@pytest.fixture
def run_folder(writer):
    """Ten epochs of a minute each."""
    for epoch in range(10):
        at = START + 60 * (epoch + 1)
        writer.add_scalar("train/loss", 2 / (epoch + 1), epoch, walltime=at)
        writer.add_scalar("val/loss", 1 / (epoch + 1), epoch + 1, walltime=at, new_style=epoch > 4)
        writer.add_scalar("lr-Adam", 0.001 * epoch, epoch, walltime=at)
    writer.close()
    return Path(writer.log_dir)


def read(path, now=4e9):
    source = read_tensorboard(path)
    return translated(source, columns_of(source, {}), SAID, now=now)


def test_a_run_of_torch(run_folder, writer):
    (run,) = read(run_folder).runs
    assert (run.outcome.val_loss, run.outcome.train_loss) == (pytest.approx(0.1), pytest.approx(0.2))
    assert run.ended_at == START + 600
    assert run.outcome.loss_slope == pytest.approx(-1, abs=0.05)
    assert (run.parameters, run.fell_silent) == ({}, True)


def test_it_began_when_its_writer_was_made(writer):
    """The events here are of now."""
    before = time.time()
    writer.add_scalar("loss", 1.0, 1, walltime=before + 30)
    writer.close()
    (run,) = read(Path(writer.log_dir)).runs
    assert run.outcome.duration_seconds == pytest.approx(30, abs=10)


def test_hyperparameters_lie_in_a_folder_below(writer, run_folder):
    writer.add_hparams({"lr": 2e-5, "bsize": 32, "batch_size": 64, "optimizer": "adam", "amp": True}, {"hparam/loss": 0.5})
    writer.close()
    assert len(event_files(run_folder)) > 1
    (run,) = read(run_folder).runs
    assert run.parameters == {"batch_size": 64, "learning_rate": 2e-5}


def test_the_arguments_of_hugging_face_are_read(writer):
    writer.add_text("args", json.dumps({"learning_rate": 5e-5, "per_device_train_batch_size": 8, "world_size": 2}))
    writer.add_scalar("eval/loss", 0.3, 1)
    writer.add_scalar("train/epoch", 3.0, 1)
    writer.close()
    (run,) = read(Path(writer.log_dir)).runs
    assert run.parameters == {"batch_size": 16, "learning_rate": 5e-5}
    assert (run.outcome.val_loss, run.outcome.epochs) == (pytest.approx(0.3), 3)


def test_a_run_that_went_on_keeps_its_id(run_folder):
    (file,) = event_files(run_folder)
    (whole,) = read(run_folder).runs
    data = file.read_bytes()
    for size in range(len(data) // 2, len(data)):  # to the end of a record
        file.write_bytes(data[:size])
        try:
            (half,) = read(run_folder).runs
            break
        except TelemetryError:
            continue
    assert half.run_id == whole.run_id
    assert half.ended_at < whole.ended_at


@pytest.mark.parametrize("share", [0.3, 0.5, 0.9])
def test_a_file_that_is_cut_off_is_an_error_with_its_record(run_folder, share):
    (file,) = event_files(run_folder)
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share) - 1])
    with pytest.raises(TelemetryError, match=r"record \d+: is cut off or damaged: \d+ of \d+ bytes are whole") as caught:
        read(run_folder)
    assert caught.value.code == "JPO-E150"


def test_a_damaged_byte_is_an_error(run_folder):
    (file,) = event_files(run_folder)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    with pytest.raises(TelemetryError, match="cut off or damaged"):
        read(run_folder)


def test_a_record_without_end_takes_no_memory(run_folder):
    """A length of 2^62: what is there is read, and no more."""
    (file,) = event_files(run_folder)
    file.write_bytes((2**62).to_bytes(8, "little") + b"\0" * 100)
    with pytest.raises(TelemetryError, match=r"cut off or damaged: 0 of 108"):
        read(run_folder)


@pytest.mark.parametrize("content", [b"", b"<html>" * 100])
def test_what_is_no_event_file_is_refused(run_folder, content):
    (file,) = event_files(run_folder)
    file.write_bytes(content)
    with pytest.raises(TelemetryError, match="cut off or damaged: 0 of"):
        read(run_folder)


def test_a_gigabyte_of_images_is_passed_over(run_folder):
    """Before, it was refused: now the lengths of its records are enough to find the scalars behind it."""
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

    (file,) = event_files(run_folder)
    scalars, length = file.read_bytes(), (2**30).to_bytes(8, "little")
    with file.open("r+b") as grown:
        grown.write(length + masked_crc32c(length).to_bytes(4, "little"))
        grown.seek(2**30 + 4, os.SEEK_CUR)  # a hole: no disk is filled
        grown.write(scalars)
    began = time.monotonic()
    (run,) = read(run_folder).runs
    assert (run.outcome.val_loss, time.monotonic() - began < 5) == (pytest.approx(0.1), True)
    with file.open("r+b") as cut:
        cut.truncate(2**29)
    with pytest.raises(TelemetryError, match=r"record 1: is cut off or damaged: 0 of 536870912 bytes are whole"):
        read(run_folder)


def test_files_and_scalars_without_end_are_refused(run_folder, monkeypatch):
    monkeypatch.setattr(tensorboard, "LARGEST_RECORDS_BYTES", 1000)
    with pytest.raises(TelemetryError, match=r"record \d+: more than 0 KiB of scalars"):
        read(run_folder)
    monkeypatch.setattr(tensorboard, "LARGEST_FILE_BYTES", 1024)
    with pytest.raises(TelemetryError, match=r"is larger than 1 KiB"):
        read(run_folder)


def test_a_pipe_is_refused(tmp_path):
    pytest.importorskip("tensorboard", reason='pip install "jpo[tensorboard]"')
    os.mkfifo(tmp_path / "events.out.tfevents.1")
    with pytest.raises(TelemetryError, match="pipe"):
        read(tmp_path)


def test_a_folder_without_events_is_refused(tmp_path):
    with pytest.raises(TelemetryError, match=r"contains no file events.out"):
        read_tensorboard(tmp_path)


def test_long_curves_are_thinned(writer, monkeypatch):
    monkeypatch.setattr(foreign, "MOST_POINTS", 8)
    for step in range(1, 101):
        writer.add_scalar("val_loss", 1 / step, step)
    writer.close()
    (run,) = read_tensorboard(Path(writer.log_dir)).runs
    assert len(run.curves["val_loss"]) <= 8
    assert run.curves["val_loss"][-1] == (100, pytest.approx(0.01))


def test_without_tensorboard_it_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "events.out.tfevents.1").touch()
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto.event_pb2", None)
    with pytest.raises(UsageError, match=r'pip install "jpo\[tensorboard\]"'):
        read_tensorboard(tmp_path)
