"""metrics.csv and hparams.yaml as pytorch-lightning 2.6 wrote them (data/make.py), and what breaks them."""

from __future__ import annotations

import csv
import os
import shutil
import sys
from pathlib import Path

import pytest

from jpo.errors import TelemetryError, UsageError
from jpo.plugins.imports.columns import columns_of
from jpo.plugins.imports.lightning import read_lightning
from jpo.plugins.imports.translate import Said, translated

DATA = Path(__file__).parent / "data" / "lightning" / "lightning_logs" / "version_0"
SAID = Said(otherwise={"dataset": "linear", "model": "one-layer", "framework": "lightning"})


@pytest.fixture
def version(tmp_path):
    folder = Path(shutil.copytree(DATA, tmp_path / "version_0"))
    os.utime(folder / "metrics.csv", (1.7e9, 1.7e9))
    return folder


def read(path, now=4e9):
    source = read_lightning(path)
    return translated(source, columns_of(source, {}), SAID, now=now)


def test_a_run_of_lightning(version):
    found = read(version)
    (run,) = found.runs
    with (version / "metrics.csv").open() as file:
        losses = [float(row["val_loss"]) for row in csv.DictReader(file) if row["val_loss"]]
    assert run.parameters == {"batch_size": 8, "learning_rate": 0.05, "epochs": 5}
    assert (run.outcome.val_loss, run.outcome.epochs, run.ended_at, run.fell_silent) == (losses[-1], 5, 1.7e9, True)
    assert run.outcome.loss_slope is not None
    assert run.outcome.duration_seconds is None
    assert any("no file says how long a run took" in note for note in found.notes)


def test_a_duration_that_was_logged_counts(version):
    rows = (version / "metrics.csv").read_text().splitlines()
    (version / "metrics.csv").write_text(
        "\n".join([rows[0] + ",train_time", *(f"{row},{90 + i}" for i, row in enumerate(rows[1:]))])
    )
    os.utime(version / "metrics.csv", (1.7e9, 1.7e9))
    assert read(version).runs[0].outcome.duration_seconds == 90 + len(rows) - 2


def test_a_run_that_went_on_keeps_its_id(version):
    (run,) = read(version).runs
    rows = (version / "metrics.csv").read_text().splitlines()
    (version / "metrics.csv").write_text("\n".join(rows[: len(rows) // 2]) + "\n")
    os.utime(version / "metrics.csv", (1.6e9, 1.6e9))
    assert read(version).runs[0].run_id == run.run_id


def test_a_run_of_minutes_ago_may_still_go_on(version):
    assert read(version, now=1.7e9 + 60).skipped


def test_without_hyperparameters_the_metrics_count(version):
    (version / "hparams.yaml").unlink()
    assert read(version).runs[0].parameters == {}


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("a: [1\nb: 2", "is not plain YAML"),
        ("a: " + "[" * 5000, "is not plain YAML"),
        ("- 1", "is not a mapping"),
        ("a: &a {x: 1}\n" + "\n".join(f"b{n}: {{p: *a, q: *a}}" for n in range(2000)), "more than 2000 values"),
        ("a: 1\n" * 60_000, "larger than 256 KiB"),
    ],
)
def test_hyperparameters_that_are_none_are_refused(version, text, finding):
    (version / "hparams.yaml").write_text(text)
    with pytest.raises(TelemetryError, match=finding):
        read(version)


def test_aliases_of_aliases_end(version):
    """Ten levels of ten: 10^10 values if they were followed."""
    levels = ["a0: &a0 {x: 1}", *(f"a{n}: &a{n} {{{', '.join(f'k{i}: *a{n - 1}' for i in range(10))}}}" for n in range(1, 11))]
    (version / "hparams.yaml").write_text("\n".join(levels))
    with pytest.raises(TelemetryError, match="more than 2000 values"):
        read(version)


def test_another_table_is_refused(version):
    (version / "metrics.csv").write_text("a,b\n1,2\n")
    with pytest.raises(TelemetryError, match="has no step"):
        read(version)


def test_without_pyyaml_it_says_what_to_install(version, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(UsageError, match=r'pip install "jpo\[imports\]"'):
        read(version)


@pytest.mark.parametrize("value", ["!!python/object/apply:os.mkdir [made]", "!!int ''", "~", "null", "{}"])
def test_values_with_tags_are_never_made(version, value, monkeypatch):
    monkeypatch.chdir(version)
    (version / "hparams.yaml").write_text(f"lr: {value}\nbatch_size: 4\n")
    assert read(version).runs[0].parameters == {"batch_size": 4}
    assert not (version / "made").exists()
