"""The benchmark of long histories: that it runs, and that its claim is computed as the text says."""

from __future__ import annotations

import json
import math
import random
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "store.py"
STORE = runpy.run_path(str(SCRIPT))
JPO = Path(sys.executable).parent / "jpo"
Used, Store = STORE["Used"], STORE["Store"]


def store_with(**changes: object) -> object:
    """A store in which every command kept to the promise, but for these of the suggestion."""
    good = {name: Used(0.5, 0.5, 100.0) for name in (STORE["FIRST_CONTACT"], *STORE["COMMANDS"])}
    return Store({**good, "suggest": Used(**{"seconds": 0.5, "cpu_seconds": 0.5, "peak_mb": 100.0, **changes})}, 1.0)


@pytest.mark.slow
def test_small_stores_are_measured_and_the_claim_computed() -> None:
    command = [
        sys.executable,
        SCRIPT,
        "--shapes",
        "5000+49x102",
        "--scale",
        "0.04",
        "--times",
        "1",
        "--json",
        "--jpo",
        f"it={JPO}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    figures = json.loads(done.stdout)
    (used,) = (store["used"] for store in figures["shapes"]["5000+49x102"].values())
    assert all(one["seconds"] > 0 and one["peak_mb"] > 10 for one in used.values())
    assert (done.returncode == 0) == figures["holds"]


def test_all_runs_are_on_record_and_no_two_are_alike(tmp_path: Path) -> None:
    STORE["on_record"](JPO, tmp_path / "store", [8, 4], 60.0)
    told = subprocess.run(
        [JPO, "history", "--format", "json"], cwd=tmp_path / "store", capture_output=True, text=True, check=True
    )
    runs = json.loads(told.stdout)["runs"]
    assert len({tuple(run["parameters"].items()) for run in runs}) == 12
    assert "logs" not in (tmp_path / "store" / "jpo.toml").read_text()
    assert "model = net0" in (tmp_path / "store" / "config.ini").read_text()


def test_a_log_is_that_of_a_run_that_ended_well() -> None:
    log = STORE["run_log"](2, 3, 1.8e9, random.Random(0))
    assert "# run_id=scale-2-3" in log
    assert log.endswith("# status=succeeded\n# memory_bytes=8000000000\n")


def test_a_share_of_a_shape_has_a_run_to_compare() -> None:
    assert STORE["scaled"]((5000, *[102] * 49), 0.04) == [200, 4]
    assert STORE["scaled"]((9900, *[2] * 49), 0.001) == [10]


@pytest.mark.parametrize("bad", [{"cpu_seconds": 1.0}, {"peak_mb": 301.0}, {"seconds": math.inf, "cpu_seconds": math.inf}])
def test_the_claim_is_about_the_last_version(bad: dict[str, float]) -> None:
    good, slow = store_with(), store_with(**bad)
    assert STORE["claim"]({"1x200": {"before": slow, "now": good}}) is True
    assert STORE["claim"]({"1x200": {"before": good, "now": slow}}) is False
    assert "| 1x200 | explain | now | 0.50 (1.00) | 100 | 1.0 |" in STORE["table"](
        {"1x200": {"a": good, "now": store_with()}}, 1, True
    )


def test_what_takes_too_long_is_stopped(tmp_path: Path) -> None:
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    assert math.isinf(STORE["once"]([slow], tmp_path, 0.2).seconds)


def test_a_command_that_fails_is_not_measured(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho why >&2\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(SystemExit, match=r"failed \(3\): why"):
        STORE["once"]([broken], tmp_path, 10)
