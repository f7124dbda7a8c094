"""Cost of recorded jobs replayed with JPO and with its peers, in the same replay with the same random numbers.

Recorded traces are taken from ../shared/traces or --traces; without any, jobs drawn from JPO's own simulator stand in, which
flatters JPO, since they are what it believes in. Under each table stands where JPO loses.

    python benchmarks/replay.py [--seeds 20] [--quick] [--traces FOLDER] [--json]
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from apparatus.stamp import stamp

from jpo.agent.policy import Policy
from jpo.cli.output import track
from jpo.cli.workers import workers
from jpo.optimizer.prior import Prior
from jpo.plugins.lab.replay.contest import Contest, Result, Standing, hold
from jpo.plugins.lab.replay.metrics import Estimate, Score
from jpo.plugins.lab.replay.play import PolicyFactory
from jpo.plugins.lab.replay.traces import Execution, Trace, read_trace
from jpo.plugins.lab.report import replay
from jpo.plugins.lab.story.replay import ALL_POLICIES, Advised
from jpo.records import Candidates, Draws, Run
from jpo.report.document import Document
from jpo.report.forms import json, markdown
from jpo.simulate import draw_jobs
from jpo.simulate.grids import random_candidates

ROOT = Path(__file__).parents[1]
OURS = "jpo"
QUICK = {"policies": (OURS, "default", "hillclimb"), "seeds": 2, "horizons": (3, 6), "traces": 2}
HORIZONS = (5, 10, 20, 40)


def without_physics(candidates: Candidates, seed: int, _others: Sequence[Run] = ()) -> Prior:
    """A belief that knows nothing of training jobs: smooth functions of the parameters."""
    rng, points = np.random.default_rng(seed), np.log2(candidates.values)  # (K, P)
    waves = np.cos(rng.normal(0, 1 / 3, (64, points.shape[1])) @ points.T + rng.uniform(0, 2 * np.pi, (64, 1)))  # (64, K)
    surfaces = 0.7 * rng.normal(size=(1000, 64)) @ waves * np.sqrt(2 / 64)
    surfaces -= surfaces[:, [candidates.current]]
    nothing = np.zeros_like(surfaces)
    return Prior(Draws(surfaces, nothing, nothing, nothing, np.zeros(surfaces.shape, dtype=np.bool_)), None)


def untrained() -> Policy:
    """The agent before it met a single job, as if it had been released."""
    from jpo.agent.sac.learn import new_agent, policy_of

    return replace(policy_of(new_agent(0)), released=("safe", "on"))


ABLATIONS: Mapping[str, PolicyFactory] = {
    "jpo, belief off": partial(Advised, prior=without_physics),
    "jpo, SAC off": partial(Advised, policy=None),
    "jpo, SAC not trained": lambda problem: Advised(problem, policy=untrained()),
    "jpo, no guard": partial(Advised, explore="on"),
}
"""JPO with one thing taken away. hpo.py measures the value of runs of other workloads."""


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Cost of recorded jobs' runs with JPO and its peers.")
    parser.add_argument("--seeds", type=int, default=20, help="replays of each policy on each workload (default: 20)")
    parser.add_argument("--quick", action="store_true", help="two simulated jobs, few runs: does it work?")
    parser.add_argument("--traces", type=Path, default=ROOT.parent / "shared" / "traces", help="folder of recorded traces")
    parser.add_argument("--jobs", type=int, help="processes at once (default: one per core)")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of tables")
    options = parser.parse_args(argv)
    files = [] if options.quick else sorted(options.traces.glob("*.csv"))
    traces = [read_trace(file) for file in files] or simulated_traces(QUICK["traces"] if options.quick else 6)
    factories = {**ALL_POLICIES, **ABLATIONS}
    contest = Contest(
        traces=tuple(traces),
        factories={name: factories[name] for name in (QUICK["policies"] if options.quick else factories)},
        objectives=("balanced", "time", "cost"),
        horizons=QUICK["horizons"] if options.quick else HORIZONS,
        seeds=range(min(options.seeds, QUICK["seeds"]) if options.quick else options.seeds),
    )
    result = hold(contest, spread=partial(workers, options.jobs, "local"), track=track)
    played = replay.Played(contest, result, (source(files),))
    print(json.dumps(replay.as_json(played)) if options.json else page(contest, result, source(files)))
    return 0


def simulated_traces(count: int) -> list[Trace]:
    """Jobs from the simulator, three repetitions of each configuration with a noise of 5%."""
    rng = np.random.default_rng(7)
    traces: list[Trace] = []
    while len(traces) < count:
        candidates = random_candidates(rng)
        job = draw_jobs(candidates, 1, rng)
        if job.fails[0, candidates.current]:
            continue
        seconds = 3600 * np.exp(job.log_time[0] + rng.normal(0, 0.05, (3, len(candidates.values))))  # (3, K)
        usd = seconds / 3600 * np.exp(candidates.log_rate)
        rows = range(len(candidates.values))
        executions = [[Execution(seconds[i, k], usd[i, k], not job.fails[0, k]) for i in range(3)] for k in rows]
        traces.append(
            Trace(
                f"simulated_{len(traces)}",
                tuple(candidates.parameters(row) for row in rows),
                tuple(map(tuple, executions)),
                candidates.current,
                "USD",
            )
        )
    return traces


def source(files: Sequence[Path]) -> str:
    return f"{len(files)} recorded workloads" if files else "Jobs drawn from JPO's own simulator, which flatters JPO"


def page(contest: Contest, result: Result, where: str) -> str:
    """Markdown: a table for each objective, and under it where JPO loses."""
    runs, harm = contest.runs, min(10, contest.runs)
    head = [
        "## Replay",
        "",
        f"{stamp()}.",
        f"{where}, {len(contest.seeds)} replays of {runs} runs each.",
        "N = ...: cost of the first N runs / expected cost of N runs of the best configuration, ± standard error of the replays;",
        "per model: cost of all runs / models delivered; stopped: share of runs ended at twice the cheapest;",
        f"harm: share of replays more than 5% above never changing anything after {harm} runs.",
    ]
    for objective, standings in result.items():
        head += [
            "",
            f"### {objective}",
            "",
            *rows(standings, contest.horizons),
            "",
            losses(objective, standings, contest.horizons),
        ]
    return "\n".join(head)


def rows(standings: Mapping[str, Standing], horizons: Sequence[int]) -> list[str]:
    """The table; the smallest figure of each column is bold."""
    table = replay.table({name: standing.overall for name, standing in standings.items()}, horizons, "")
    return markdown.render(Document("", (table,))).rstrip("\n").split("\n")


def losses(objective: str, standings: Mapping[str, Standing], horizons: Sequence[int]) -> str:
    """One sentence: at which N, and on which workloads, somebody is ahead of JPO by more than the luck of the draws."""
    ours = standings[OURS]
    peers = {name: standing for name, standing in standings.items() if not name.startswith(OURS)}
    leads = [lead for n in horizons if (lead := leader(ours.overall, {k: v.overall for k, v in peers.items()}, n))]
    where = [
        workload
        for workload, score in ours.by_workload.items()
        if leader(score, {name: standing.by_workload[workload] for name, standing in peers.items()}, horizons[-1])
    ]
    overall = ", ".join(leads) or "nowhere"
    single = ", ".join(where) or "on none"
    return f"Where JPO loses ({objective}): {overall}. On single workloads, at N = {horizons[-1]}: {single}."


def leader(ours: Score, peers: Mapping[str, Score], horizon: int) -> str | None:
    """The leader at this horizon, if by more than two standard errors of the difference; None: no peer leads."""
    our_score = ours.curve[horizon - 1]
    gaps = {name: (our_score.mean - score.curve[horizon - 1].mean, score.curve[horizon - 1]) for name, score in peers.items()}
    real = {name: (gap, score) for name, (gap, score) in gaps.items() if gap > 2 * together(our_score, score)}
    if not real:
        return None
    name = max(real, key=lambda name: real[name][0])
    return f"at N = {horizon} to {name} ({our_score.mean:.2f} against {real[name][1].mean:.2f})"


def together(first: Estimate, second: Estimate) -> float:
    """Standard error of a difference; an unknown one counts as none."""
    return math.hypot(*(0.0 if math.isnan(each.error) else each.error for each in (first, second)))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
