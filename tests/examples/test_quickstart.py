"""The recorded runs of the quickstart are whole, varied and as its README says."""

from __future__ import annotations

import importlib.util
import tomllib
from configparser import ConfigParser
from itertools import pairwise
from pathlib import Path

import pytest

from jpo.telemetry.csv import log

QUICKSTART = Path(__file__).parents[2] / "examples" / "quickstart"
LOGS = sorted((QUICKSTART / "runs").glob("*.csv"))
TUNED = ("batch_size", "learning_rate", "num_layers", "cpus")


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_recorded_log_is_whole(path, read_log):
    log = read_log(path)
    assert log.facts["run_id"] == path.stem
    assert [epoch for _, epoch, *_ in log.rows] == list(range(1, len(log.rows) + 1))
    assert [samples for _, _, samples, *_ in log.rows] == [1437 * n for n in range(1, len(log.rows) + 1)]
    times = [float(log.facts["start"]), *(time for time, *_ in log.rows), float(log.facts["end"])]
    assert times == sorted(times)
    assert log.facts["converged"] == "true" or len(log.rows) == int(log.facts["epochs"])


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_jpo_reads_from_a_recorded_log_what_is_in_it(path, read_log):
    facts, run = read_log(path).facts, log.read_log(path)
    assert (run.run_id, run.status, run.outcome.converged) == (facts["run_id"], facts["status"], facts["converged"] == "true")
    assert {name: float(facts[name]) for name in run.parameters} == run.parameters
    assert set(TUNED) <= set(run.parameters)


def test_runs_were_made_one_at_a_time(read_log):
    spans = sorted((float(log.facts["start"]), float(log.facts["end"])) for log in map(read_log, LOGS))
    assert all(end < start for (_, end), (start, _) in pairwise(spans))


def test_runs_are_varied_repeat_today_and_include_a_bad_one(read_log):
    runs = [read_log(path).facts for path in LOGS]
    configurations = [tuple(float(run[name]) for name in TUNED) for run in runs]
    config = ConfigParser(inline_comment_prefixes=("#", ";"))
    config.read(QUICKSTART / "config.ini")
    merged = {name: value for section in config.sections() for name, value in config[section].items()}
    assert len(runs) >= 12
    assert len(set(configurations)) >= 8
    assert configurations.count(tuple(float(merged[name]) for name in TUNED)) >= 3
    assert "false" in {run["converged"] for run in runs}
    assert {(run["dataset"], run["model"], run["framework"]) for run in runs} == {("digits", "cnn", "pytorch")}


def test_readme_shows_the_table_of_the_recorded_runs():
    spec = importlib.util.spec_from_file_location("record", QUICKSTART / "record.py")
    assert spec is not None
    assert spec.loader is not None
    record = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(record)
    assert record.table(LOGS) in (QUICKSTART / "README.md").read_text(encoding="utf-8")


def test_jpo_toml_names_keys_that_config_ini_has():
    settings = tomllib.loads((QUICKSTART / "jpo.toml").read_text(encoding="utf-8"))
    config = ConfigParser(inline_comment_prefixes=("#", ";"))
    config.read(QUICKSTART / "config.ini")
    keys = [parameter["key"] for parameter in settings["parameters"].values()]
    assert [key for key in keys if not config.has_option(*key.split("."))] == []
    assert [path for pattern in settings["csv"]["logs"] for path in sorted(QUICKSTART.glob(pattern))] == LOGS
