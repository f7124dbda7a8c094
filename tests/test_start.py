"""The first five minutes (docs/start.md): its files are the example's, and every command prints what the page says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from jpo.project.settings import Settings

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "nightly"
PAGE = (ROOT / "docs" / "start.md").read_text("utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """An environment in which `jpo` and `python` are those of this checkout, on a screen of 120 columns."""
    for name, arguments in (("jpo", "-P -m jpo "), ("python", "")):
        (tmp_path / name).write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}:{tmp_path}/awake" exec "{sys.executable}" {arguments}"$@"\n')
        (tmp_path / name).chmod(0o755)
    (tmp_path / "awake").mkdir()  # where the network's hours take no time
    (tmp_path / "awake" / "sitecustomize.py").write_text("import time\ntime.sleep = lambda seconds: None\n")
    own = {"PATH": f"{tmp_path}{os.pathsep}/usr/bin:/bin", "HOME": str(tmp_path), "COLUMNS": "120", "LC_ALL": "C.UTF-8"}
    return {**own, "JPO_AGENT__LEARN_BUDGET": "0"}


def test_the_files_on_the_page_are_those_of_the_example() -> None:
    (config,), (settings,) = blocks("ini"), blocks("toml")
    assert config == (EXAMPLE / "config.ini").read_text()
    assert settings == (EXAMPLE / "jpo.toml").read_text()
    assert Settings.model_validate(tomllib.loads(settings)).prices.usd_per_gpu_hour == 2.10


def test_four_lines_make_the_script_one_that_reports() -> None:
    lines = blocks("diff")[0].splitlines()
    assert "".join(f"{line[1:]}\n" for line in lines) == (EXAMPLE / "train.py").read_text()
    added = [line for line in lines if line.startswith("+") and line != "+"]
    assert (len(added), {line[:1] for line in lines if line}) == (4, {"+", " "})


def test_every_command_prints_what_the_page_says(shell: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "clone"
    (folder / "examples").mkdir(parents=True)
    subprocess.run(["cp", "-r", EXAMPLE, folder / "examples"], check=True)
    steps = [step for block in blocks("console") for step in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)]
    assert [shlex.split(command)[0] for command, _ in steps] == ["cp", "python", "jpo", "diff"]
    for command, answer in steps:
        done = subprocess.run(command, shell=True, cwd=folder, env=shell, capture_output=True, text=True, check=False)  # noqa: S602
        if command.startswith("cp "):
            folder /= "my-job"
        assert done.stderr == ""
        printed, told = (re.sub(r"Suggestion \S+", "Suggestion ID", text).strip() for text in (done.stdout, answer))
        assert printed == told


@pytest.mark.parametrize("host", ["gitlab", "github"])
def test_the_file_that_the_pipeline_gets_trains_with_what_was_suggested(host: str, shell: dict[str, str], tmp_path: Path) -> None:
    subprocess.run(["cp", "-r", EXAMPLE, tmp_path / "job"], check=True)
    done = subprocess.run(
        ["jpo", "init", "config.ini", "--ci", host], cwd=tmp_path / "job", env=shell, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    name = {"gitlab": ".gitlab-ci.yml", "github": ".github/workflows/jpo.yml"}[host]
    pipeline = yaml.safe_load((tmp_path / "job" / name).read_text())
    train = pipeline["train"]["script"] if host == "gitlab" else [step.get("run") for step in pipeline["jobs"]["train"]["steps"]]
    command = "python train.py config.ini"
    assert command in train
    config = tmp_path / "job" / "config.ini"
    config.write_text(config.read_text().replace("= 64", "= 128"))  # the artifact of the jobs before
    trained = subprocess.run(["bash", "-ec", command], cwd=tmp_path / "job", env=shell, capture_output=True, check=False)
    assert trained.returncode == 0, trained.stderr
    (log,) = (tmp_path / "job" / "runs").glob("*.csv")
    assert ("# batch_size=128\n" in log.read_text(), "# status=succeeded\n" in log.read_text()) == (True, True)


def test_the_readme_says_what_the_page_shows() -> None:
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    (cost,), (time,) = (re.findall(rf"^{name} +([+-]\d+)% \(", PAGE, re.MULTILINE) for name in ("cost", "duration"))
    assert f"2 GPUs instead of 4, expected to cost {-int(cost)}% less and to take {int(time)}% longer" in readme
