"""Runs of simulated workloads: what each costs, and how the objective of a preference changed against no change."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from jpo.agent.preference import scalarise
from jpo.cost import Prices, usd_per_hour
from jpo.plugins.lab.fleet import Lane, before_after, per_model
from jpo.plugins.lab.kubernetes_workloads import MEMORY_GIB, SimulatedWorkload, execute, truth
from jpo.records import Identity, Preference, Run

USD_PER_CPU_HOUR, USD_PER_GIB_HOUR = 0.04, 0.005


def identity_of(job: SimulatedWorkload) -> Identity:
    return Identity(f"dataset-{job.number:02}", f"model-{job.number:02}", "simulated")


def prices_of(job: SimulatedWorkload) -> Prices:
    return Prices(job.usd_per_gpu_hour if job.computes_on == "gpus" else None, USD_PER_CPU_HOUR, USD_PER_GIB_HOUR)


def run_of(job: SimulatedWorkload, values: Mapping[str, float], night: int, seed: int, *, run_id: str, start: float) -> Run:
    """The record of one simulated run, with what it cost."""
    status, outcome = execute(job, values, night, np.random.default_rng([seed, job.number, night]))
    price, seconds = usd_per_hour(values, prices_of(job)), outcome.duration_seconds
    assert price is not None
    assert seconds is not None
    outcome = replace(outcome, cost_usd=price * seconds / 3600)
    return Run(run_id, identity_of(job), dict(values), status, start, start + seconds, outcome, "observe")


def window(runs: int) -> int:
    """How many of the last runs are compared: the last third, at most ten."""
    return max(1, min(10, runs // 3))


def lane_of(job: SimulatedWorkload, unchanged: Sequence[Run], tuned: Sequence[Run], preference: Preference) -> Lane:
    lane = Lane(str(identity_of(job)), job.first, tuple(unchanged), tuple(tuned), None, 1.0)
    best = best_goal(job, preference, len(lane.tuned) - 1)
    return replace(lane, goal=goal(lane, preference, window(len(lane.tuned))), best=best)


def goal(lane: Lane, preference: Preference, last: int) -> float | None:
    """The objective of a preference over the last runs: time and money per delivered model, utilisation, loss."""
    unchanged, tuned = lane.unchanged[-last:], lane.tuned[-last:]
    paid = [(per_model(unchanged, name), per_model(tuned, name)) for name in ("duration_seconds", "cost_usd")]
    use = "gpu_utilisation" if "gpus" in lane.first else "cpu_utilisation"
    pairs = [*paid, before_after(lane, use, last), before_after(lane, "val_loss", last)]
    ratios = (after / before if before and after else math.nan for before, after in pairs)
    time, cost, utilisation, loss = (np.array(math.log(ratio)) for ratio in ratios)
    objective = float(np.exp(scalarise(time, cost, utilisation, loss, preference)))
    return None if math.isnan(objective) else objective


def best_goal(job: SimulatedWorkload, preference: Preference, night: int) -> float:
    """The objective of the best of all choices on that night, in multiples of the first configuration's."""
    surfaces, prices, names = truth(job, night), prices_of(job), job.grid.names
    enough = [min((m for m in MEMORY_GIB if m >= need), default=math.inf) for need in surfaces["need_gib"]]
    rows = [dict(zip(names, map(float, row), strict=True)) for row in job.grid.values]
    rates = [usd_per_hour({**row, "memory_gib": m}, prices) for row, m in zip(rows, enough, strict=True)]
    rate = np.array(rates, dtype=np.float64)
    log_cost = surfaces["log_time"] + np.log(rate / (usd_per_hour(job.first, prices) or math.nan))
    goals = scalarise(surfaces["log_time"], log_cost, surfaces["log_utilisation"], surfaces["log_loss"], preference)
    works = (surfaces["fails"] == 0) & np.isfinite(enough)
    return float(np.exp(goals[works].min()))
