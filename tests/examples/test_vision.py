"""The vision example runs for real, at a tiny size."""

from __future__ import annotations

import configparser
import importlib.util
import os
import re
import runpy
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from jpo.project.trial_logs import read_trials
from jpo.records import Identity, RunStatus
from jpo.telemetry.csv.log import read_log

ROOT = Path(__file__).parents[2]
VISION = ROOT / "examples" / "vision"

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None and os.environ.get("CI") != "true",
    reason='torch not installed: pip install "jpo[examples]"',
)


def trained(folder: Path, *options: str, environment: dict[str, str] | None = None, **values: object) -> str:
    """Train with the example's config.ini, some values replaced; what it printed, and its exit code."""
    text = (VISION / "config.ini").read_text(encoding="utf-8")
    for name, value in {"cpus": 1, "images": 40, "width": 4, "epochs": 2, "batch_size": 16, **values}.items():
        text, count = re.subn(rf"^({name} *= )\S+", rf"\g<1>{value}", text, flags=re.MULTILINE)
        assert count == 1
    (folder / "config.ini").write_text(text, encoding="utf-8")
    command = [sys.executable, VISION / "train.py", folder / "config.ini", "--run-id", "run-1", "--log-dir", folder, *options]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **(environment or {})}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    return f"{done.stdout}{done.stderr}exit {done.returncode}"


@pytest.mark.slow
def test_it_trains_validates_tests_and_logs_its_accuracy(tmp_path: Path) -> None:
    said = trained(tmp_path, environment={"JPO_DATA_PATH": str(tmp_path / "images")})
    assert said.endswith("exit 0"), said
    assert "test accuracy" in said
    run = read_log(tmp_path / "run-1.csv")
    assert (run.identity.model, run.status, run.outcome.converged) == ("resnet18", RunStatus.SUCCEEDED, False)
    assert run.outcome.val_accuracy is not None
    assert run.outcome.epochs == 2
    kept = sorted((tmp_path / "images").glob("*.npz"))
    assert [file.name for file in kept] == ["shapes-40-0.npz", "shapes-8-1.npz", "shapes-8-2.npz"]


@pytest.mark.slow
def test_a_trial_is_one_that_predict_can_use(tmp_path: Path) -> None:
    said = trained(tmp_path, "--fraction", "0.5", epochs=4)
    assert said.endswith("exit 0"), said
    (trial,) = read_trials([tmp_path / "run-1.csv"], Identity("shapes64", "resnet18", "pytorch"), None, now=time.time())
    assert (trial.fraction, trial.samples) == (0.5, 20)


def test_a_gpu_that_is_not_there_is_said(tmp_path: Path) -> None:
    said = trained(tmp_path, gpus=1, environment={"CUDA_VISIBLE_DEVICES": ""})
    assert "gpus = 1" in said
    assert said.endswith("exit 1")


def test_the_network_is_of_the_size_of_resnet_18_and_every_run_sees_the_same_images() -> None:
    example = runpy.run_path(str(VISION / "train.py"))
    config = configparser.ConfigParser(inline_comment_prefixes=("#", ";"))
    config.read(VISION / "config.ini")
    weights = sum(each.numel() for each in example["residual_network"](config.getint("model", "width")).parameters())
    assert 11_100_000 < weights < 11_300_000
    one, other, elsewhere = (example["draw"](12, seed)[0] for seed in (3, 3, 4))
    assert np.array_equal(one, other)
    assert not np.array_equal(one, elsewhere)
    assert abs(float(one.mean())) < 1
