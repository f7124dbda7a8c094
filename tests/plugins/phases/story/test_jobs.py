"""Traces of resources as training jobs with phases, by the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from plugins.cluster.story.test_evaluate import answer

from jpo.__main__ import run
from jpo.plugins.phases.story.jobs import stays_of

PLATFORM = """\
[processor.cpu]
kind = "cpu"
cores = 4
bandwidth_gbps = 12
[node.n]
processors = [{ type = "cpu", count = 2 }]
[[cluster]]
nodes = [{ type = "n" }]
"""


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three executions that load for 200 s on a fifth of a core, then train on 3 cores."""
    pytest.importorskip("sklearn", reason='scikit-learn not found: pip install "jpo[phases]"')
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0)
    lines = ["exec_id,t,cpu,mem\n"]
    for execution, begin in (("late", 5000), ("a", 1000), ("b", 1500)):
        for sample in range(80):
            cpu, memory = (0.2, 1 << 28) if sample < 20 else (3.0, 1 << 30)
            noise = 1 + 0.01 * draw.standard_normal()
            lines.append(f"{execution},{begin + 10 * sample},{cpu * noise:.4f},{memory * noise:.0f}\n")
    Path("traces.csv").write_text("".join(lines))
    assert run(["phases", "fit", "traces.csv", "-o", "model"]) == 0


@pytest.mark.usefixtures("traces")
def test_executions_become_jobs_whose_phases_want_bandwidth(capsys: pytest.CaptureFixture[str]) -> None:
    """Four cores were asked for, as 3.1 is the peak; a busy core wants 8 GB/s: 3 / 4 x 8 in training."""
    words = ("convert", "traces.csv", "--from", "phases", "--model", "model")
    capsys.readouterr()
    code, out, _ = answer(capsys, *words)
    assert code == 0
    rows = [line.split(",") for line in out.split("\n")[1:-1]]
    assert [row[:3] for row in rows] == [["a", "0.0", "790.0"], ["b", "500.0", "790.0"], ["late", "4000.0", "790.0"]]
    assert {row[5] for row in rows} == {"4"}
    (load, quiet), (train, busy) = (map(float, part.split(":")) for part in rows[0][-1].split())
    assert (load, train) == (200, 590)
    assert (quiet, busy) == pytest.approx((0.4, 6.0), rel=0.02)
    assert answer(capsys, *words, "--gbps-per-core", "4", "--output", "jobs.csv") == (0, "", "")
    Path("p.toml").write_text(PLATFORM)
    site = ("--workload", "jobs.csv", "--platform", "p.toml", "--policy", "fcfs-phase_pack+easy,fcfs-phase_pack+conservative")
    assert answer(capsys, "evaluate", *site)[0] == 0


@pytest.mark.usefixtures("traces")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--from", "phases"), "--from phases: needs a model of the phases: --model MODEL"),
        (("--from", "pollux", "--model", "model"), "--model: is about traces of resources, not pollux"),
        (("--from", "phases", "--model", "traces.csv"), "traces.csv"),
        (("--from", "phases", "--model", "model", "--output", "model"), "is what the result is made of"),
    ],
)
def test_what_is_no_model_is_refused(words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    code, out, err = answer(capsys, "convert", "traces.csv", *words)
    assert (code, out) == (2, "")
    assert told in err


def test_stays_cover_an_execution() -> None:
    found = list(stays_of(np.array([0.0, 10, 20, 40, 50]), np.array([1, 1, 0, 0, 2])))
    assert found == [(20, 1), (30, 0)]
