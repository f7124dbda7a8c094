import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "first_run.py"


def test_published_runs_are_within_the_intervals_and_none_that_ran_is_said_to_be_impossible():
    run = subprocess.run([sys.executable, str(SCRIPT), "--json"], capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    for group in ("memory", "speed", "speed_fine_tuning"):
        assert found[group]["inside"] == found[group]["rows"]
    assert found["fits"]["said_that_it_will_not"] == 0
    assert found["largest"]["warned_of_what_ran"] == 0
