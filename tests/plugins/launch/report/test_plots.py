"""The picture of the loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.plugins.launch.report.optimize.record import LoopRun, OptimizedJob
from jpo.plugins.launch.report.plots import kind_of, plot
from jpo.records import Identity, Outcome, Run, RunStatus

DIGITS = Identity("di$gits", "cnn", "pytorch")


def looped(seconds: float, status: RunStatus = RunStatus.SUCCEEDED, *, baseline: bool = False) -> LoopRun:
    run = Run("r", DIGITS, {}, status, 1e9, 1e9 + seconds, Outcome(duration_seconds=seconds), "csv")
    return LoopRun("r", "local", baseline, run, None)


def job(*runs: LoopRun) -> OptimizedJob:
    return OptimizedJob("config.ini", "d", DIGITS, runs, {}, (), (), None, None, 0)


@pytest.mark.parametrize("form", ["png", "svg"])
def test_a_panel_per_job(tmp_path: Path, form: str) -> None:
    runs = looped(120, baseline=True), looped(60), looped(99, RunStatus.STOPPED), LoopRun("r", "local", False, None, None)
    plot([job(*runs), job(), job(looped(5))], file := tmp_path / f"runs.{form}")
    assert file.stat().st_size > 1000


def test_nothing_to_draw_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        plot([job()], tmp_path / "runs.png")
    assert caught.value.code == "JPO-E789"


def test_how_runs_are_told_apart() -> None:
    kinds = [looped(1, baseline=True), looped(1), looped(1, RunStatus.STOPPED), looped(1, RunStatus.DIVERGED)]
    assert [kind_of(each) for each in kinds] == ["baseline", "well", "stopped", "failed"]
