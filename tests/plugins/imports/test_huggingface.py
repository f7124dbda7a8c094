"""trainer_state.json as transformers 5.23 wrote it (data/make.py), and what breaks it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from jpo.errors import TelemetryError
from jpo.plugins.imports.columns import columns_of
from jpo.plugins.imports.huggingface import read_trainer_state
from jpo.plugins.imports.translate import Said, translated

DATA = Path(__file__).parent / "data" / "huggingface" / "run"
SAID = Said(otherwise={"dataset": "linear", "model": "one-layer", "framework": "transformers"})


@pytest.fixture
def run_folder(tmp_path):
    return Path(shutil.copytree(DATA, tmp_path / "run"))


def read(path, said=SAID):
    source = read_trainer_state(path)
    return translated(source, columns_of(source, {}), said, now=4e9)


def changed(folder, **values):
    path = folder / "trainer_state.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
    return path


def test_a_run_of_the_trainer(run_folder):
    """512 samples, 3 epochs, 8 on the device, 2 accumulated: data/make.py."""
    (run,) = read(run_folder).runs
    assert run.parameters == {"batch_size": 16, "learning_rate": 0.05, "epochs": 3}
    assert (run.outcome.samples, run.outcome.epochs, run.status.value) == (3 * 512, 3, "succeeded")
    state = json.loads((run_folder / "trainer_state.json").read_text())["log_history"]
    assert run.outcome.val_loss == [entry["eval_loss"] for entry in state if "eval_loss" in entry][-1]
    assert run.outcome.duration_seconds == pytest.approx(state[-1]["train_runtime"], abs=1e-5)
    assert run.outcome.train_loss == [entry["loss"] for entry in state if "loss" in entry][-1]


def test_without_the_arguments_the_rate_is_unknown_and_the_batch_is_not(run_folder):
    """The rates in log_history are those of the schedule."""
    (run_folder / "training_args.json").unlink()
    found = read(run_folder)
    assert found.runs[0].parameters == {"batch_size": 16, "epochs": 3}
    assert any("no initial learning rate" in note for note in found.notes)


def test_a_number_with_an_underscore_is_none(run_folder):
    """Python reads "19_2" as 192."""
    found = read(changed(run_folder, max_steps="19_2", global_step="19_2"))
    assert found.runs[0].outcome.samples is None


def test_a_batch_that_could_be_several_is_unknown(run_folder):
    """Three steps an epoch: 4 and 5 devices with 8 samples each would report much the same."""
    (run_folder / "training_args.json").unlink()
    changed(run_folder, max_steps=9, global_step=9)
    found = read(run_folder)
    assert "batch_size" not in found.runs[0].parameters
    assert any("global batch size follows from no file" in note for note in found.notes)


def test_the_state_of_a_checkpoint_is_no_finished_run(run_folder):
    found = read(run_folder / "checkpoint-32")
    assert (found.runs, found.skipped[0].code) == ((), "JPO-W124")


def test_the_same_run_elsewhere_has_the_same_id(run_folder, tmp_path):
    (first,), (second,) = read(run_folder).runs, read(shutil.copytree(run_folder, tmp_path / "copy")).runs
    assert first.run_id == second.run_id


def test_a_loss_that_is_nan_has_diverged(run_folder):
    state = json.loads((run_folder / "trainer_state.json").read_text())
    changed(
        run_folder, log_history=[*state["log_history"][:-1], {"eval_loss": float("nan"), "epoch": 3.0}, state["log_history"][-1]]
    )
    assert read(run_folder).runs[0].status.value == "diverged"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"log_history": 3}', '{"log_history": [3]}', "<html>"])
def test_what_the_trainer_did_not_write_is_refused(run_folder, text):
    (run_folder / "trainer_state.json").write_text(text)
    with pytest.raises(TelemetryError) as caught:
        read(run_folder)
    assert caught.value.code == "JPO-E150"


def test_text_where_a_number_is_names_the_file(run_folder):
    state = json.loads((run_folder / "trainer_state.json").read_text())
    changed(run_folder, log_history=[*state["log_history"], {"eval_loss": "low", "epoch": 3}])
    with pytest.raises(TelemetryError, match=r"trainer_state.json: eval_loss is read as val_loss, and 'low' is not a number"):
        read(run_folder)


@pytest.mark.parametrize("value", [float("inf"), 1e308, -1, 0, 2**70])
@pytest.mark.parametrize("name", ["max_steps", "num_train_epochs", "train_batch_size", "global_step"])
def test_counts_that_cannot_be_tell_nothing_of_the_batch(run_folder, name, value):
    (run_folder / "training_args.json").unlink()
    changed(run_folder, **{name: value})
    assert all(run.parameters.get("batch_size", 16) == 16 for run in read(run_folder).runs)
