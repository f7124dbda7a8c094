"""Calibration: do intervals hold what they say, and do chances come true, of configurations that were never run?

Today's configuration and then random others are run; after 1, 3, 5 and 8 runs every untried configuration is forecast and then
run. Jobs are simulated ones that the belief has not seen (every other one measures an accuracy) and, where they lie next to the
repository, recorded ones (../shared/traces), which have no loss. Of nights (nights.py --json) the claims are those of the changes
that were written, and the intervals those of the last track records. Nothing is tuned here.

Claims are about what configurations give on average; whether a run ends well is one run's end. Recorded jobs have measured
energy.

    python benchmarks/calibration.py [--jobs 150] [--seeds 10] [--traces FOLDER] [--nights NIGHTS.json ...] [--json]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from apparatus.night_truth import LOSS_KEPT
from apparatus.night_truth import WELL as ENDED_WELL

from jpo.advisor.candidates import candidates_among
from jpo.advisor.space import numbered_space
from jpo.agent.comparison import Comparison
from jpo.agent.safety.risk import WORSE
from jpo.commands.doctor.claims import BETTER, DEARER, KEPT, WELL, Claim
from jpo.forecast.predict import predict
from jpo.optimizer.explain.account import differences
from jpo.optimizer.prior import believe, prior_of
from jpo.plugins.lab.replay.traces import Trace, read_trace
from jpo.records import VAL_ACCURACY, VAL_LOSS, Belief, Candidates, Identity, Outcome, Preference, Quality, Run, RunStatus
from jpo.simulate import draw_jobs
from jpo.simulate.grids import random_candidates
from jpo.simulate.runs import draw_noise, observe

ROOT = Path(__file__).parents[1]
AFTER = (1, 3, 5, 8)
NOMINAL = (0.5, 0.8, 0.9)
BINS = 5
MOST_ASKED = 20  # untried configurations of one job, at random
SOMEBODY = Identity("calibration", "calibration", "calibration")
FIRST_ERROR, VALIDATED = 0.1, 2000
"""Error of today's configuration of a job that measures an accuracy, and on how many samples."""


@dataclass
class Found:
    """What was forecast and came, by whose jobs and what it is about: whether the interval of each level held; claims."""

    held: dict[tuple[str, str], list[tuple[bool, ...]]] = field(default_factory=dict)
    claims: dict[tuple[str, str], list[Claim]] = field(default_factory=dict)

    def claim(self, who: str, what: str, chance: float, came_true: object) -> None:
        self.claims.setdefault((who, what), []).append((float(chance), bool(came_true)))


@dataclass(frozen=True)
class Job:
    """A job whose configurations can be run: `execute` a row once; on average, against today's, ln time, cost and loss (NaN)."""

    who: str
    candidates: Candidates
    execute: Callable[[int], Outcome | None]
    log_time: np.ndarray
    log_cost: np.ndarray
    log_loss: np.ndarray
    quality: Quality = VAL_LOSS


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Coverage of intervals and reliability of chances on jobs not seen before.")
    parser.add_argument("--jobs", type=int, default=150, help="simulated jobs (default: 150)")
    parser.add_argument("--seeds", type=int, default=10, help="orders in which each recorded job is run (default: 10)")
    parser.add_argument("--traces", type=Path, default=ROOT.parent / "shared" / "traces", help="folder of recorded jobs")
    parser.add_argument("--nights", type=Path, nargs="*", default=[], help="what nights.py --json printed")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of tables")
    options = parser.parse_args(argv)
    found = Found()
    for seed in range(options.jobs):
        rng = np.random.default_rng((seed, 9))
        if job := simulated(rng, VAL_ACCURACY if seed % 2 else VAL_LOSS):
            forecast(job, rng, found)
    for path in sorted(options.traces.glob("*.csv")):
        trace = read_trace(path)
        for seed in range(options.seeds):
            rng = np.random.default_rng((seed, 10))
            forecast(recorded(trace, rng), rng, found)
    for path in options.nights:
        of_nights(json.loads(path.read_text("utf-8")), found)
    rows = [*coverage(found), *chances(found)]
    print(json.dumps(rows) if options.json else "\n\n".join(map(table, (coverage(found), chances(found)))))
    return 0


def simulated(rng: np.random.Generator, quality: Quality) -> Job | None:
    """A job on a random grid; None where today's configuration fails."""
    candidates = random_candidates(rng)
    job, noise = draw_jobs(candidates, 1, rng), draw_noise(rng)
    if job.fails[0, candidates.current]:
        return None

    def execute(row: int) -> Outcome | None:
        one = observe(job, 0, row, rng, noise=noise)
        seconds, loss = 600 * math.exp(one.log_time), math.exp(one.log_loss)
        if quality == VAL_LOSS:
            measured = Outcome(duration_seconds=seconds, val_loss=loss, converged=True)
        else:
            error = rng.binomial(VALIDATED, min(FIRST_ERROR * loss, 1.0)) / VALIDATED
            measured = Outcome(duration_seconds=seconds, val_accuracy=1 - error, converged=True)
        return None if one.failed else measured

    return Job("simulated", candidates, execute, job.log_time[0], job.log_time[0] + candidates.log_rate, job.log_loss[0], quality)


def recorded(trace: Trace, rng: np.random.Generator) -> Job:
    """GPU hours follow from the time and the rate; energy was measured. None of them has a loss."""
    choices = numbered_space(list(trace.configurations))
    candidates = candidates_among(choices, choices.numbers(trace.configurations[trace.default]), ())
    in_joules = trace.cost_unit == "J"

    def execute(row: int) -> Outcome | None:
        executions = trace.executions[row]
        one = executions[rng.integers(len(executions))]
        energy = one.cost if in_joules else None
        return Outcome(one.duration_seconds, energy_joules=energy, converged=True) if one.converged else None

    def against_today(amount: str) -> np.ndarray:
        each = ([getattr(one, amount) for one in executions if one.converged] for executions in trace.executions)
        logs = np.array([np.log(np.mean(amounts)) if amounts else np.inf for amounts in each])
        return np.asarray(logs - logs[candidates.current])

    time = against_today("duration_seconds")
    cost = against_today("cost") if in_joules else time + candidates.log_rate
    return Job(trace.name, candidates, execute, time, cost, np.full(len(time), np.nan))


def forecast(job: Job, rng: np.random.Generator, found: Found) -> None:
    """Run today's, then others at random, and forecast untried ones in between."""
    prior = prior_of(job.candidates, int(rng.integers(2**31)))
    rows = [job.candidates.current, *(int(row) for row in rng.integers(len(job.log_time), size=max(AFTER) - 1))]
    runs = [a_run(job.candidates, row, at, job.execute(row)) for at, row in enumerate(rows)]
    for count in AFTER:
        belief = believe(prior, job.candidates, runs[:count], job.quality)
        if belief.duration_seconds is None:
            continue
        comparison = Comparison(job.candidates, belief, Preference(), quality_floor=LOSS_KEPT - 1)
        for row in range(len(job.log_time)):
            differ(job, comparison, row, found)
        for row in map(int, rng.permutation(np.setdiff1d(np.arange(len(job.log_time)), rows[:count]))[:MOST_ASKED]):
            outcome = job.execute(row)
            claim(job, comparison, row, outcome, found)
            for what in ("duration_seconds", job.quality.name):
                if outcome and (actual := outcome.of(what)) is not None and predict(belief, row, usd_per_hour=None).of(what):
                    found.held.setdefault((job.who, what), []).append(held(belief, row, what, actual))


def claim(job: Job, comparison: Comparison, row: int, outcome: Outcome | None, found: Found) -> None:
    """What is claimed of a row, and whether it is so."""
    weighed, well = (job.log_time[row] + job.log_cost[row]) / 2, outcome is not None
    kept = math.isnan(job.log_loss[row]) or job.log_loss[row] <= math.log(LOSS_KEPT)
    found.claim(job.who, WELL, 1 - comparison.belief.p_fail[row], well)
    found.claim(job.who, DEARER, comparison.p_safe[row], well and weighed <= WORSE)
    found.claim(job.who, BETTER, comparison.p_better[row], well and weighed < 0 and kept)
    if comparison.p_loss_kept is not None and well:
        found.claim(job.who, KEPT, comparison.p_loss_kept[row], kept)


def differ(job: Job, comparison: Comparison, row: int, found: Found) -> None:
    """Whether the interval of a difference from today holds the true one, apart for configurations that ran and did not."""
    told = dict(differences(comparison, row, trial=False, price_ratio=None))
    for what, true in (("duration_seconds", job.log_time[row]), ("val_loss", job.log_loss[row])):
        if what in told and math.isfinite(true):
            low, high = math.log(told[what].low), math.log(told[what].high)
            name = f"difference of {what}, {'ran' if comparison.belief.runs[row] else 'untried'}"
            found.held.setdefault((job.who, name), []).append((low - 1e-9 <= true <= high + 1e-9,))


def a_run(candidates: Candidates, row: int, at: int, outcome: Outcome | None) -> Run:
    status = RunStatus.SUCCEEDED if outcome else RunStatus.FAILED
    return Run(str(at), SOMEBODY, candidates.parameters(row), status, None, float(at), outcome or Outcome(), "benchmark")


def held(belief: Belief, row: int, what: str, actual: float) -> tuple[bool, ...]:
    """Whether the interval of each level holds what came."""
    intervals = [predict(belief, row, usd_per_hour=None, coverage=level).of(what) for level in NOMINAL]
    return tuple(interval is not None and interval.low <= actual <= interval.high for interval in intervals)


def of_nights(document: Mapping[str, object], found: Found) -> None:
    """The claims of the changes that were written, and the 90% intervals of the last runs."""
    plays = [play for version in document["nights"].values() for play in version.values()]  # type: ignore[attr-defined]
    for night in (night for play in plays for night in play if night["written"]):
        written, then, today = night["written"], night["written"]["then"], night["written"]["today"]
        well, kept = then["ends"] == ENDED_WELL, then["loss_ratio"] <= max(LOSS_KEPT, today["loss_ratio"])
        cost, restores = then["ratio"] / today["ratio"], today["loss_ratio"] > LOSS_KEPT >= then["loss_ratio"]
        better = well and kept and (cost < 1 or restores)  # what brings the loss back may cost more
        true = {WELL: well, KEPT: kept, DEARER: well and cost <= math.exp(WORSE), BETTER: better}
        for what, chance in written["chances"].items():
            if what != KEPT or well:
                found.claim("nights", what, chance, true[what])
    for play in plays:
        for what, (inside, of) in play[-1]["track"].items():
            found.held.setdefault(("nights", what), []).extend((at < inside,) for at in range(of))


def coverage(found: Found) -> list[dict[str, object]]:
    """Share of forecasts that were inside, at each level; of nights at the last alone."""
    return [
        {"jobs": who, "interval": what, **{f"{level:.0%}": float(share) for level, share in levels(held_levels)}}
        | {"forecasts": len(held_levels)}
        for (who, what), held_levels in together(found.held)
    ]


def levels(held_levels: Sequence[tuple[bool, ...]]) -> Iterator[tuple[float, float]]:
    shares = np.mean(held_levels, axis=0)
    return zip(NOMINAL[-len(shares) :], shares, strict=True)


def chances(found: Found) -> list[dict[str, object]]:
    """Brier score of each claim; `diagram`: claimed, came true and cases of each part of 0..1 that has any."""
    return [
        {"jobs": who, "claim": what, **means(claims), "cases": len(claims)}
        | {"brier": float(np.mean([(chance - came) ** 2 for chance, came in claims])), "diagram": list(diagram(claims))}
        for (who, what), claims in together(found.claims)
    ]


def means(claims: Sequence[Claim]) -> dict[str, float]:
    claimed, came_true = np.mean(claims, axis=0)
    return {"claimed": float(claimed), "came true": float(came_true)}


def diagram(claims: Sequence[Claim]) -> Iterator[tuple[float, float, int]]:
    """Source: Murphy and Winkler, "Reliability of Subjective Probability Forecasts", JRSS C 1977."""
    for part in range(BINS):
        if some := [claim for claim in claims if min(int(claim[0] * BINS), BINS - 1) == part]:
            yield *means(some).values(), len(some)


def together(of_jobs: Mapping[tuple[str, str], list]) -> list[tuple[tuple[str, str], list]]:  # type: ignore[type-arg]
    """The same with all recorded jobs in one."""
    named = {"simulated", "nights"}
    whats = dict.fromkeys(what for who, what in of_jobs if who not in named)
    pooled = {
        ("all recorded", what): [one for (who, w), some in of_jobs.items() if w == what and who not in named for one in some]
        for what in whats
    }
    return [*of_jobs.items(), *pooled.items()]


def table(rows: Sequence[Mapping[str, object]]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[word(row.get(name, "")) for name in columns] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, ["---"] * len(columns), *cells))


def word(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(f"{claimed:.2f}: {came:.2f} ({cases})" for claimed, came, cases in value)
    return f"{value:.3f}" if isinstance(value, float) else f"{value}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
