from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from jpo.cli.main import cli
from jpo.errors import UsageError


def test_several_logs_are_read_in_one_call(jpo: Callable[..., str]) -> None:
    out = jpo("observe", "--csv", "run-0.csv", "--csv", "run-1.csv")
    assert out.count("recorded run-") == 2


def test_a_run_by_hand_has_the_status_and_the_file_that_are_named(jpo: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "other.ini").write_text((tmp_path / "config.ini").read_text().replace("cnn", "mlp"))
    words = ("--for", "other.ini", "--status", "diverged", "--metric", "duration_seconds=9")
    assert jpo("observe", "r1", *words).startswith("recorded r1: digits/mlp/torch, diverged")


def test_a_status_that_does_not_exist_is_refused(jpo: Callable[..., str]) -> None:
    assert CliRunner().invoke(cli, ["observe", "r1", "--status", "fine"]).exit_code == 2


@pytest.mark.parametrize("metric", ["val_loss", "=3"])
def test_a_metric_without_name_or_value_is_refused(jpo: Callable[..., str], metric: str) -> None:
    assert isinstance(CliRunner().invoke(cli, ["observe", "r1", "--metric", metric]).exception, UsageError)
