from __future__ import annotations

import runpy
from pathlib import Path

JOBS = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "apparatus" / "forecast_jobs.py"))


def test_the_same_seed_draws_the_same_job_and_its_default_can_be_run() -> None:
    for name in ("from_simulator", "from_fleet", "from_formula"):
        one, other = JOBS[name](3), JOBS[name](3)
        assert one.candidates.current in one.passing
        assert all((a == b).all() for a, b in zip(one.seconds, other.seconds, strict=True))


def test_a_configuration_that_fails_has_no_run() -> None:
    job = next(job for job in map(JOBS["from_simulator"], range(20)) if len(job.passing) < len(job.seconds))
    assert [row for row, seconds in enumerate(job.seconds) if not len(seconds)] == sorted(
        set(range(len(job.seconds))) - set(job.passing.tolist())
    )
