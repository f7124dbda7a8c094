"""Recognition of files and folders."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from jpo.errors import TelemetryError, UsageError
from jpo.plugins.imports import OWN, recognise
from jpo.plugins.imports.recognise import FORMATS, read_sources

DATA = Path(__file__).parent / "data"


def test_a_folder_is_searched_and_checkpoints_are_passed_over(tmp_path):
    for name in ("one", "two"):
        shutil.copytree(DATA / "huggingface" / "run", tmp_path / "outputs" / name)
    (source,) = read_sources([tmp_path], None)
    assert (source.format, len(source.runs), source.skipped) == ("huggingface", 2, ())


def test_several_tools_at_once(tmp_path):
    (tmp_path / "a.csv").write_text("lr,end\n1,2\n")
    (tmp_path / "b.csv").write_text("lr,end\n1,2\n")
    sources = read_sources([tmp_path / "a.csv", DATA, tmp_path / "b.csv"], None)
    assert [source.format for source in sources] == ["table", "huggingface", "lightning", "mlflow", "wandb", "table"]


def test_the_format_can_be_said(tmp_path):
    shutil.copy(DATA / "lightning" / "lightning_logs" / "version_0" / "metrics.csv", tmp_path)
    assert read_sources([tmp_path / "metrics.csv"], "table")[0].format == "table"


def test_a_folder_of_something_else_and_one_without_end_are_refused(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="no runs that jpo import knows"):
        read_sources([tmp_path], None)
    monkeypatch.setattr(recognise, "MOST_FILES", 2)
    for name in "abc":
        (tmp_path / name).touch()
    with pytest.raises(TelemetryError, match="more than 2 files"):
        read_sources([tmp_path], None)


def test_the_tool_that_knows_most_of_a_run_is_the_one_that_is_read(tmp_path):
    shutil.copytree(DATA / "huggingface" / "run", tmp_path / "run")
    (tmp_path / "run" / "events.out.tfevents.1").touch()
    assert [source.format for source in read_sources([tmp_path], None)] == ["huggingface"]
    (tmp_path / "run" / "run-1.wandb").touch()
    with pytest.raises(TelemetryError, match="wandb"):
        read_sources([tmp_path], None)


def test_the_command_line_offers_every_format_that_is_read():
    assert set(OWN) == FORMATS.keys()
