from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from jpo.cli.main import cli
from jpo.commands import learn
from jpo.errors import UsageError


@pytest.mark.parametrize(
    "words",
    [
        ["config.ini", "--pretrain", "p.safetensors"],
        ["--pretrain", "p.safetensors", "--rebuild"],
        ["--pretrain", "p.safetensors", "--budget", "10m"],
        ["--pretrain", "p.safetensors", "--config", "jpo.toml"],
        ["--jobs", "20"],
        ["--policy", "steering"],
    ],
)
def test_training_in_the_simulator_and_learning_from_runs_exclude_each_other(
    jpo: Callable[..., str], monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setattr(learn, "pretrain", lambda *_, **__: "trained for hours\n")
    error = CliRunner().invoke(cli, ["learn", *words]).exception
    assert isinstance(error, UsageError)
    assert error.code == "JPO-E308"


def test_pretrain_gets_file_policy_jobs_and_seed(jpo: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[object, ...]] = []

    def noted(path: Path, *, policy: str, jobs: int | None, seed: int, spread: object, track: object) -> list[str]:
        calls.append((path, policy, jobs, seed))
        return ["trained"]

    monkeypatch.setattr(learn, "pretrain", noted)
    assert jpo("learn", "--pretrain", "p.safetensors", "--jobs", "20", "--seed", "7") == "trained\n"
    assert jpo("learn", "--pretrain", "p.safetensors", "--policy", "steering") == "trained\n"
    assert calls == [(Path("p.safetensors"), "sac", 20, 7), (Path("p.safetensors"), "steering", None, 0)]


def test_a_budget_that_is_no_duration_is_named(jpo: Callable[..., str]) -> None:
    error = CliRunner().invoke(cli, ["learn", "--budget", "soon"]).exception
    assert isinstance(error, UsageError)
    assert "learn_budget" in str(error)
