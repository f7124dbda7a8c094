"""Installations: what learning from earlier workloads is worth where all jobs of a cluster differ from the simulator's.

A fleet is one installation (jpo/simulate/installations.py) in which workloads run one after the other, as in `jpo lab simulate
--installation`, but without files: each decision is that of `jpo suggest` on the same evidence. Both sides play the same
workloads with the same luck, and the belief of both learns from the runs of earlier workloads. A cost is that of a run in
multiples of the optimum's, failed runs charged, each at most four. A ratio is that of the mean costs of one fleet's workloads
after the first 20, with learning / without: geometric mean over fleets and its 95% interval; below 1 learning saves.

    python benchmarks/installations.py [--fleets 8] [--workloads 24] [--runs 8] [--kinds KIND ...]
        [--sides NAME ...] [--told] [--json]

`informed` is the bound: a belief whose simulated jobs live in the installation itself, its parameters known before the first run.
`alone`: the belief knows nothing of other workloads. `sac`: the policy that came with JPO decides, shown the residuals of the
workloads before; how often it decided otherwise than the rule is in the last column.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from jpo.agent.budget import (  # noqa: E402
    Boldness,
    Explore,
    Leeway,
    budget_left,
)
from jpo.agent.comparison import Comparison  # noqa: E402
from jpo.agent.decide import decide  # noqa: E402
from jpo.agent.policy import Policy, shipped_policy  # noqa: E402
from jpo.agent.problem import Problem  # noqa: E402
from jpo.agent.reward import failed_like, objective  # noqa: E402
from jpo.cost import log_rate  # noqa: E402
from jpo.optimizer.installation import residuals_of_workloads, with_earlier_jobs  # noqa: E402
from jpo.optimizer.prior import Prior, believe, prior_of, thinned  # noqa: E402
from jpo.plugins.lab.kubernetes_workloads import SimulatedWorkload, draw_workload  # noqa: E402
from jpo.plugins.lab.simulated_runs import identity_of, prices_of  # noqa: E402
from jpo.project.collect import OTHER_RUNS  # noqa: E402
from jpo.records import (  # noqa: E402
    NAMED_PREFERENCES,
    OTHERWISE,
    Candidates,
    Outcome,
    Residuals,
    Run,
    RunStatus,
)
from jpo.simulate.installations import KINDS, Installation, Kind, draw_installation, outside  # noqa: E402
from jpo.simulate.runs import observe  # noqa: E402

if TYPE_CHECKING:
    from jpo.records import Bools, Floats, Ints

SEED = 900_000_000
"""Fleets are drawn from here on, far from those of practice."""
MOST = 4.0
"""Optimal runs that any run counts at most."""
PARTICLES = 256
"""Simulated jobs of a belief; as in practice, 250 and more were measured to be equal within 3%."""
ROWS = 120
"""Configurations of a workload: a random part of its grid."""
BUSY = 0.3
"""Utilisation of today's configuration; only ratios are simulated."""
PREFERENCE = NAMED_PREFERENCES["balanced"]
QUICK = {"fleets": 2, "workloads": 2, "runs": 3, "first": 1}


class Agent(Protocol):
    """One side of the comparison: it decides all runs of one fleet."""

    def decide(self, problem: Problem) -> int:
        """Row of the configuration that runs next."""
        ...

    def learn(self, before: Problem, row: int, run: Run, after: Problem) -> None:
        """A run has ended: what was known before, what ran, what came of it, what is known now."""
        ...


class BeliefRule:
    """The rule of `jpo suggest` without a policy: it learns nothing but what its belief holds."""

    def decide(self, problem: Problem) -> int:
        return decide(problem, None, 1).choice

    def learn(self, before: Problem, row: int, run: Run, after: Problem) -> None:
        pass


@dataclass(slots=True)
class Sac(BeliefRule):
    """The shipped policy; it learns nothing here."""

    policy: Policy | None = field(default_factory=shipped_policy)
    decided: int = 0
    otherwise: int = 0

    def decide(self, problem: Problem) -> int:
        decision = decide(problem, self.policy, 1)
        self.decided += 1
        self.otherwise += OTHERWISE in decision.codes
        return decision.choice


@dataclass(frozen=True, slots=True)
class Side:
    """Side of the comparison.

    Attributes:
        agent: makes a new one for each fleet.
        informed: whether its belief knows the installation.
        others: whether its belief learns from the runs of earlier workloads.
        shown: whether its decisions see the residuals of earlier workloads.
    """

    agent: Callable[[], Agent]
    informed: bool = False
    others: bool = True
    shown: bool = False


SIDES: Mapping[str, Side] = {
    "rule": Side(BeliefRule),
    "alone": Side(BeliefRule, others=False),
    "informed": Side(BeliefRule, informed=True),
    "sac": Side(Sac, shown=True),
}
"""By name; "rule" is what the others are compared with."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How fleets are played; `first` workloads are not counted."""

    fleets: int
    workloads: int
    runs: int
    first: int
    explore: Explore
    told: bool = False


@dataclass(frozen=True, slots=True)
class Counted:
    """What the counted workloads of one fleet came to: mean cost per run in optimal runs, and failed runs of so many."""

    cost: float
    failed: int
    runs: int
    otherwise: float = 0.0


@dataclass(frozen=True, slots=True)
class Compared:
    """One side on all fleets of a kind: costs and failures of both, and the ratio of costs with its 95% interval."""

    rule: float
    cost: float
    rule_failed: int
    failed: int
    runs: int
    ratio: float
    low: float
    high: float
    otherwise: float = 0.0


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Learning on against off, where all jobs differ from the simulator's alike.")
    parser.add_argument("--fleets", type=int, default=8, help="fleets of each kind (default: 8)")
    parser.add_argument("--workloads", type=int, default=24, help="workloads of a fleet (default: 24)")
    parser.add_argument("--runs", type=int, default=8, help="runs of each, the reference run included (default: 8)")
    parser.add_argument("--first", type=int, default=20, help="workloads that are learnt from and not counted (default: 20)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="kinds of installations (default: all)")
    others = [name for name in SIDES if name != "rule"]
    parser.add_argument("--sides", nargs="+", choices=others, default=others, help="against the rule (default: all)")
    parser.add_argument("--explore", choices=("safe", "on"), default="safe", help="how bold to be (default: safe)")
    parser.add_argument("--told", action="store_true", help="the user says how many runs a job has (default: nobody knows)")
    parser.add_argument("--quick", action="store_true", help="two tiny fleets of each kind: does it run at all?")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    plan = Plan(options.fleets, options.workloads, options.runs, options.first, options.explore, options.told)
    if options.quick:
        plan = replace(plan, **QUICK)
    results = {kind: measured(kind, plan, options.sides) for kind in options.kinds}
    if options.json:
        print(json.dumps({kind: {name: asdict(one) for name, one in row.items()} for kind, row in results.items()}))
    else:
        print(table(results, plan))
    return 0


def measured(kind: Kind, plan: Plan, sides: Sequence[str]) -> dict[str, Compared]:
    """Every side against the rule, on the same fleets."""
    fleets = range(plan.fleets)
    played = {name: [counted(SEED + fleet, kind, SIDES[name], plan) for fleet in fleets] for name in ("rule", *sides)}
    return {name: compared(played["rule"], fleets) for name, fleets in played.items() if name != "rule"}


def compared(rule: Sequence[Counted], side: Sequence[Counted]) -> Compared:
    """Fleets of one side against those of the rule, in pairs."""
    logs = np.log([ours.cost / theirs.cost for ours, theirs in zip(side, rule, strict=True)])
    spread = 1.96 * float(logs.std(ddof=1)) / math.sqrt(len(logs)) if len(logs) > 1 else math.inf
    mean = float(logs.mean())
    costs = (float(np.mean([fleet.cost for fleet in fleets])) for fleets in (rule, side))
    failed = (sum(fleet.failed for fleet in fleets) for fleets in (rule, side))
    runs = sum(fleet.runs for fleet in side)
    otherwise = float(np.mean([fleet.otherwise for fleet in side]))
    return Compared(*costs, *failed, runs, math.exp(mean), math.exp(mean - spread), math.exp(min(mean + spread, 99.0)), otherwise)


def counted(seed: int, kind: Kind, side: Side, plan: Plan) -> Counted:
    """Play one fleet."""
    installation, agent = draw_installation(np.random.default_rng(seed), kind), side.agent()
    others: list[Run] = []
    costs: list[float] = []
    failed, before = 0, (0, 0)
    for number in range(plan.workloads):
        workload = draw_workload(number, plan.runs, np.random.default_rng([seed, number]), installation=installation)
        played = replace(Played.new(workload, plan, seed), residuals=residuals_of_workloads(others) if side.shown else None)
        before = (agent.decided, agent.otherwise) if isinstance(agent, Sac) and number == plan.first else before
        prior = thinned(prior_of(played.candidates, number, others[-OTHER_RUNS:] if side.others else ()), PARTICLES)
        played.play(agent, known_to(prior, played.candidates, installation) if side.informed else prior)
        others += played.runs
        if number >= plan.first:
            costs += played.costs
            failed += sum(not run.ended_well for run in played.runs[1:])
    share = (agent.otherwise - before[1]) / max(agent.decided - before[0], 1) if isinstance(agent, Sac) else 0.0
    return Counted(float(np.mean(costs)), failed, len(costs), share)


def known_to(prior: Prior, candidates: Candidates, installation: Installation) -> Prior:
    """The prior of somebody who knows the installation."""
    return replace(prior, draws=outside(installation, candidates, prior.draws, np.random.default_rng(0)))


@dataclass(eq=False, slots=True)
class Played:
    """One workload on its way: what there is to choose from, what is true, what has happened and what it cost."""

    workload: SimulatedWorkload
    plan: Plan
    seed: int
    candidates: Candidates
    vectors: Floats  # (K, 6), the truth; see jpo/agent/reward.py
    fails: Bools
    rows: Ints  # of the workload's grid
    runs: list[Run]
    costs: list[float]
    against_keeping: list[float]
    residuals: Residuals | None = None

    @classmethod
    def new(cls, workload: SimulatedWorkload, plan: Plan, seed: int) -> Played:
        grid = workload.grid
        rng = np.random.default_rng([seed, workload.number, 1])
        others = np.setdiff1d(np.arange(len(grid.values)), [grid.current])
        rows = np.concatenate(([grid.current], np.sort(rng.choice(others, min(ROWS, len(others) + 1) - 1, replace=False))))
        values, memory = grid.values[rows], workload.first["memory_gib"]
        configurations = [{**dict(zip(grid.names, map(float, row), strict=True)), "memory_gib": memory} for row in values]
        rates = np.array([log_rate(configuration, prices_of(workload)) for configuration in configurations])
        rate = rates - rates[0]
        candidates = Candidates(grid.names, values, 0, np.ones(len(rows), dtype=np.bool_), rate)
        draws, nothing = workload.draws, np.zeros(len(rows))
        time = draws.log_time[0, rows]
        vectors = np.stack((time, time + rate, draws.log_utilisation[0, rows], draws.log_loss[0, rows], nothing, nothing), axis=1)
        return cls(workload, plan, seed, candidates, vectors, draws.fails[0, rows], rows, [], [], [])

    def play(self, agent: Agent, prior: Prior) -> None:
        """The reference run, then what the agent decides."""
        self.run(0, 0)
        problem = self.problem(prior, 0)
        while len(self.runs) < self.plan.runs:
            row, before = agent.decide(problem), problem
            run = self.run(row, problem.acquisition.incumbent)
            problem = self.problem(prior, row)
            agent.learn(before, row, run, problem)

    def problem(self, prior: Prior, now: int) -> Problem:
        """What is known before the next run, when config.ini holds what ran last."""
        candidates = replace(self.candidates, current=now)
        left = budget_left(self.against_keeping)
        belief = believe(prior, candidates, self.runs)
        problem = Problem(Comparison(candidates, belief, PREFERENCE, 0), Boldness(self.plan.explore), Leeway(left))
        problem = problem if self.residuals is None else with_earlier_jobs(problem, self.runs, self.residuals)
        follow = max(self.plan.runs - len(self.runs) - 1, 0)
        return replace(problem, context=replace(problem.context, runs_left=follow)) if self.plan.told else problem

    def run(self, row: int, incumbent: int) -> Run:
        """Run a configuration; note what came of it and what it cost."""
        number, workload = len(self.runs), self.workload
        luck = np.random.default_rng([self.seed, workload.number, number, 2])  # the same whatever is chosen
        seen = observe(workload.draws, 0, int(self.rows[row]), luck, noise=workload.noise)
        outcome = Outcome(
            duration_seconds=math.exp(seen.log_time) * workload.levels["duration_seconds"],
            val_loss=None if seen.failed else math.exp(seen.log_loss) * workload.levels["val_loss"],
            gpu_utilisation=None if seen.failed else min(1.0, BUSY * math.exp(seen.log_utilisation)),
        )
        status = RunStatus.OOM_KILLED if seen.failed else RunStatus.SUCCEEDED
        at = float(1000 * workload.number + number)
        values = self.candidates.parameters(row)
        run = Run(f"w{workload.number}-r{number}", identity_of(workload), values, status, None, at, outcome, "observe")
        self.runs.append(run)
        if number:  # the reference run was there before JPO
            true = objective(self.vectors, PREFERENCE)
            worth = float(objective(failed_like(self.vectors[incumbent]), PREFERENCE) if seen.failed else true[row])
            best = float(true[~self.fails].min())
            self.costs.append(min(math.exp(worth - best), MOST))
            self.against_keeping.append(math.exp(worth - float(true[0])))
        return run


def table(results: Mapping[Kind, Mapping[str, Compared]], plan: Plan) -> str:
    """One row per kind and side."""
    head = ["installation", "side", "rule: cost", "failed", "cost", "failed", "ratio (95% interval)", "otherwise"]
    rows = [[f"**{kind}**", name, *figures(one)] for kind, row in results.items() for name, one in row.items()]
    played = f"{plan.fleets} fleets of each kind; workloads {plan.first + 1} to {plan.workloads}, {plan.runs} runs each"
    lines = [
        "## Installations unlike the simulator",
        "",
        f"{played}; explore {plan.explore}{', number of runs told' if plan.told else ''}.",
        "",
    ]
    lines += ["| " + " | ".join(head) + " |", "|---|---" + "|---:" * (len(head) - 2) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def figures(one: Compared) -> list[str]:
    """Costs, shares of failed runs and the ratio of one side."""
    failed = (f"{count / one.runs:.1%}" for count in (one.rule_failed, one.failed))
    both = [text for pair in zip((f"{one.rule:.3f}", f"{one.cost:.3f}"), failed, strict=True) for text in pair]
    return [*both, f"{one.ratio:.3f} ({one.low:.3f} to {one.high:.3f})", f"{one.otherwise:.0%}"]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
