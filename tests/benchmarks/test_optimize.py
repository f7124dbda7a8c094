"""The benchmark of jpo optimize: that it runs, and that its claim is computed as it says."""

from __future__ import annotations

import importlib.util
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "optimize.py"
BENCHMARK = runpy.run_path(str(SCRIPT))
Search, Trained, claims, interval, seeds_of = map(BENCHMARK.get, ("Search", "Trained", "claims", "interval", "seeds_of"))
MISSING = [name for name in ("torch", "sklearn", "optuna") if importlib.util.find_spec(name) is None]


TIME, MODELS, IN_FORCE = (
    "time per model at most 0.55",
    "8 of 10 runs bring a model",
    "no run of values that had produced a model was ended",
)


def search(policy, *seconds, seed=1):
    """Runs that took so long; a negative one brought no model."""
    return Search(policy, seed, [Trained({}, abs(each), abs(each), reached=each > 0) for each in seconds])


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING) and os.environ.get("CI") != "true", reason=f"{', '.join(MISSING)} not installed")
@pytest.mark.parametrize(("clock", "policies"), [(("cpu",), "jpo,tpe"), (("wall", "--cpus", "2"), "jpo")])
def test_it_really_trains_with_every_policy(clock, policies, tmp_path):
    plan = f"--seeds 7, --runs 1 --baseline 1 --target 0.3 --policies {policies} --json"
    options = ("--clock", *clock, *plan.split())
    done = subprocess.run([sys.executable, SCRIPT, *options, "--keep", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr  # also where a claim does not hold: `make bench` goes on
    told = json.loads(done.stdout)
    assert [(each["policy"], each["seed"], len(each["runs"])) for each in told["searches"]] == [
        (name, 7, 1) for name in ("keep", *policies.split(","))
    ]
    heads = [path.read_text() for path in tmp_path.rglob("*.csv")]
    assert heads
    threads = {line for head in heads for line in head.splitlines() if line.startswith("# cpus=")}
    assert threads <= {f"# cpus={number}" for number in range(1, 3 if clock[1:] else 2)}
    assert set(told["claims"]) == {TIME, MODELS, IN_FORCE}
    assert all(0 < run["seconds"] < 60 for each in told["searches"] for run in each["runs"])
    assert told["ratios"]["keep"]["seconds"] == [1, 1, 1]


def test_seeds_are_so_many_or_these():
    assert seeds_of("3") == [1, 2, 3]
    assert seeds_of("301-303,310") == [301, 302, 303, 310]


def test_the_cpu_clock_is_of_one_thread():
    done = subprocess.run([sys.executable, SCRIPT, "--cpus", "2"], capture_output=True, text=True, check=False)
    assert (done.returncode, "add --clock wall" in done.stderr) == (2, True)


def test_the_claim_is_of_the_geometric_mean_over_the_seeds():
    half = [search("keep", 10), search("jpo", 5), search("keep", 10, seed=2), search("jpo", 6, seed=2)]
    assert claims(half)[TIME]
    assert not claims([*half[:3], search("jpo", 6.3, seed=2)])[TIME]
    assert claims([search("keep", 10)]) == {}


def test_what_brought_no_model_is_charged_to_the_others():
    kept = search("keep", 10)
    assert claims([kept, search("jpo", 4, -1)])[TIME]
    assert not claims([kept, search("jpo", 4, -2)])[TIME]


def test_runs_that_bring_no_model_are_counted():
    kept = search("keep", 10)
    assert claims([kept, search("jpo", -1, 4, 4, 4, 4)])[MODELS]
    assert not claims([kept, search("jpo", -1, 4, 4, 4)])[MODELS]


def test_a_run_that_was_ended_although_its_values_had_brought_a_model_breaks_the_claim():
    kept = search("keep", 10)
    assert claims([kept, search("jpo", -1, 4)])[IN_FORCE]
    assert not claims([kept, search("jpo", 4, -1)])[IN_FORCE]


def test_intervals_are_of_logs():
    assert interval([0.5]) == (0.5, 0.5, 0.5)
    mean, low, high = interval([0.25, 1.0])
    assert mean == pytest.approx(0.5)
    assert low * high == pytest.approx(mean**2)
