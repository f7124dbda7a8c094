"""Calibration of intervals: the coverage of 50, 80 and 90% intervals for configurations that were never run.

Today's configuration and then random others are run; after 1, 3, 5 and 8 runs every untried configuration is forecast and then
run. Jobs are simulated ones that the belief has not seen and, where they lie next to the repository, recorded ones
(../shared/traces). Nothing is tuned here. What a simulated job costs is its time at a known rate; recorded ones have measured
energy.

    python benchmarks/calibration.py [--jobs 150] [--seeds 10] [--traces FOLDER] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from jpo.advisor.candidates import candidates_among
from jpo.advisor.space import numbered_space
from jpo.forecast import predict
from jpo.optimizer.prior import believe, prior_of
from jpo.plugins.lab.replay.traces import Trace, read_trace
from jpo.records import Belief, Candidates, Identity, Outcome, Run, RunStatus
from jpo.simulate import draw_jobs
from jpo.simulate.grids import random_candidates
from jpo.simulate.runs import draw_noise, observe

ROOT = Path(__file__).parents[1]
AFTER = (1, 3, 5, 8)
NOMINAL = (0.5, 0.8, 0.9)
LEVELS = tuple(f"{level:.0%}" for level in NOMINAL)
MOST_ASKED = 20  # untried configurations of one simulated job, at random
SOMEBODY = Identity("calibration", "calibration", "calibration")

Execute = Callable[[int], Outcome]
"""Row of the candidates -> what a run there gives; it draws one at random where several are possible."""
Hits = dict[tuple[str, str, int], list[tuple[bool, ...]]]
"""(whose jobs, what is forecast, after how many runs) -> for each forecast, whether it held at each level of NOMINAL."""


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Coverage of forecast intervals on jobs that were not seen before.")
    parser.add_argument("--jobs", type=int, default=150, help="simulated jobs (default: 150)")
    parser.add_argument("--seeds", type=int, default=10, help="orders in which each recorded job is run (default: 10)")
    parser.add_argument("--traces", type=Path, default=ROOT.parent / "shared" / "traces", help="folder of recorded jobs")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    hits: Hits = {}
    for seed in range(options.jobs):
        forecast_simulated(seed, hits)
    for path in sorted(options.traces.glob("*.csv")):
        trace = read_trace(path)
        for seed in range(options.seeds):
            forecast_recorded(trace, seed, hits)
    rows = coverage(hits)
    print(json.dumps(rows) if options.json else table(rows))
    return 0


def forecast_simulated(seed: int, hits: Hits) -> None:
    """One job on a random grid, its failing configurations left out."""
    rng = np.random.default_rng((seed, 9))
    candidates = random_candidates(rng)
    job = draw_jobs(candidates, 1, rng)
    if job.fails[0, candidates.current]:
        return
    noise = draw_noise(rng)

    def execute(row: int) -> Outcome:
        return Outcome(duration_seconds=600 * float(np.exp(observe(job, 0, row, rng, noise=noise).log_time)), converged=True)

    forecast(candidates, execute, np.flatnonzero(~job.fails[0]), rng, "simulated", hits, most=MOST_ASKED)


def forecast_recorded(trace: Trace, seed: int, hits: Hits) -> None:
    """One recorded job, those configurations that never reach the target left out."""
    choices = numbered_space(list(trace.configurations))
    candidates = candidates_among(choices, choices.numbers(trace.configurations[trace.default]), ())
    rng = np.random.default_rng((seed, 10))

    def execute(row: int) -> Outcome:
        """GPU hours follow from the time and the rate; energy was measured."""
        executions = [execution for execution in trace.executions[row] if execution.converged]
        execution = executions[rng.integers(len(executions))]
        return Outcome(
            execution.duration_seconds, energy_joules=execution.cost if trace.cost_unit == "J" else None, converged=True
        )

    passing = np.array(
        [row for row, executions in enumerate(trace.executions) if any(execution.converged for execution in executions)]
    )
    forecast(candidates, execute, passing, rng, trace.name, hits)


def forecast(
    candidates: Candidates,
    execute: Execute,
    passing: np.ndarray,
    rng: np.random.Generator,
    who: str,
    hits: Hits,
    most: int = 10**6,
) -> None:
    """Run today's, then others at random, and forecast all untried ones in between."""
    prior = prior_of(candidates, int(rng.integers(2**31)))
    rows = [candidates.current, *(int(row) for row in rng.choice(passing, max(AFTER) - 1))]
    runs = [a_run(candidates, row, at, execute(row)) for at, row in enumerate(rows)]
    for count in AFTER:
        belief = believe(prior, candidates, runs[:count])
        untried = rng.permutation(np.setdiff1d(passing, rows[:count]))[:most]
        costly = in_cost(belief, rows[:count], runs[:count])
        for row in map(int, untried):
            outcome = execute(row)
            if outcome.duration_seconds:
                hits.setdefault((who, "duration", count), []).append(held(belief, row, outcome.duration_seconds))
            if costly and outcome.energy_joules:
                hits.setdefault((who, "cost", count), []).append(held(costly, row, outcome.energy_joules))


def a_run(candidates: Candidates, row: int, at: int, outcome: Outcome) -> Run:
    return Run(str(at), SOMEBODY, candidates.parameters(row), RunStatus.SUCCEEDED, None, float(at), outcome, "benchmark")


def in_cost(belief: Belief, rows: Sequence[int], runs: Sequence[Run]) -> Belief | None:
    """The belief with cost in the place of time; None where no energy was measured."""
    if not all(run.outcome.energy_joules for run in runs):
        return None
    logs = [float(np.log(run.outcome.energy_joules or 1)) for run in runs]
    level = np.mean([log - belief.weights @ belief.log_cost[:, row] for log, row in zip(logs, rows, strict=True)])
    return replace(belief, log_time=belief.log_cost, duration_seconds=float(np.exp(level)))


def held(belief: Belief, row: int, actual: float) -> tuple[bool, ...]:
    """Whether the interval of each level holds what came."""
    intervals = [predict(belief, row, usd_per_hour=None, coverage=level).duration_seconds for level in NOMINAL]
    return tuple(interval is not None and interval.low <= actual <= interval.high for interval in intervals)


def coverage(hits: Hits) -> list[dict[str, object]]:
    """One row for each of whose jobs, what and when; the recorded jobs also all together, each of them counting the same."""
    rows = [
        line(who, what, after, [np.mean(held_levels, axis=0)], len(held_levels))
        for (who, what, after), held_levels in hits.items()
    ]
    for what in ("duration", "cost"):
        for after in AFTER:
            parts = [held_levels for key, held_levels in hits.items() if key[1:] == (what, after) and key[0] != "simulated"]
            if parts:
                rows.append(line("all recorded", what, after, [np.mean(part, axis=0) for part in parts], sum(map(len, parts))))
    return rows


def line(who: str, what: str, after: int, shares: Sequence[np.ndarray], forecasts: int) -> dict[str, object]:
    """`shares`: of each job, at each level of NOMINAL."""
    held_at = dict(zip(LEVELS, np.mean(shares, axis=0).tolist(), strict=True))
    return {"jobs": who, "forecast": what, "after runs": after, **held_at, "forecasts": forecasts}


def table(rows: Sequence[Mapping[str, object]]) -> str:
    columns = ["jobs", "forecast", "after runs", *LEVELS, "forecasts"]
    head = ["## Calibration", "", f"| {' | '.join(columns)} |", f"|---|---|{'---:|' * (len(columns) - 2)}"]
    cells = [[f"{row[name]:.0%}" if name in LEVELS else f"{row[name]}" for name in columns] for row in rows]
    body = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([*head, *body, "", "Share of untried configurations whose next run was inside the interval."])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
