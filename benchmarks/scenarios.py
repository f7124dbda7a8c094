"""Value of SAC: the shipped policy against the belief rule, on jobs that change and on installations unlike the simulator's.

Each situation of the release test (jpo/learning/release.py) is played on fresh simulated jobs, the same for all and with the same
luck. A figure is the mean cost per run in multiples of the optimum's under the conditions of that run; a ratio below 1 is better
than the belief rule, which knows the present preference and prices, and how many runs follow, if anybody does. Needs no torch
unless alternatives are to be trained.

    python benchmarks/scenarios.py [--jobs 200] [--policy FILE] [--compare] [--practice 300] [--quick] [--json]

`--compare` trains what earlier systems did instead, all on the same number of practice jobs, and plays it too: REINFORCE, one
policy per preference, timed resets, and MC-dropout in place of the ensemble; and SAC with the same amount of practice.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from jpo.agent.policy import SHIPPED, Policy, load_policy  # noqa: E402
from jpo.agent.sac.mc_dropout import uncertainty  # noqa: E402
from jpo.learning.forks import practise_with  # noqa: E402
from jpo.learning.job import Job  # noqa: E402
from jpo.learning.practice import Choose, DecisionPoint, by_belief_rule, by_policy, mean_cost, play  # noqa: E402
from jpo.learning.release import SITUATIONS, PairedJob, Release, compare, job_in  # noqa: E402
from jpo.records import NAMED_PREFERENCES  # noqa: E402

SEED = 400_000_000
"""Jobs are drawn from here on, far from those of practice and release tests."""
QUICK_JOBS = 2
TEMPERAMENTS = ("time", "cost", "balanced")
UPDATES_PER_JOB = 4


@dataclass(frozen=True, slots=True)
class Standing:
    """One contestant on the jobs of a situation.

    Attributes:
        mean, rule: mean cost per run, its own and the belief rule's, in multiples of the optimum's.
        against_rule: job by job.
    """

    mean: float
    rule: float
    against_rule: Release

    def figures(self) -> dict[str, float]:
        return {"mean": self.mean, "rule": self.rule, **asdict(self.against_rule)}


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="SAC and its alternatives against the belief rule, by situation.")
    parser.add_argument("--jobs", type=int, default=200, help="fresh jobs per situation (default: 200)")
    parser.add_argument("--policy", type=Path, default=SHIPPED, help="policy file (default: the shipped one)")
    parser.add_argument("--compare", action="store_true", help="train and play the alternatives too (needs torch)")
    parser.add_argument("--practice", type=int, default=300, help="practice jobs of each alternative (default: 300)")
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK_JOBS} jobs per situation, 2 practice jobs: does it run at all?"
    )
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    jobs, practice = (QUICK_JOBS, 2) if options.quick else (options.jobs, options.practice)
    policy = load_policy(options.policy)
    chosen = contestants(policy)
    chosen |= alternatives(policy, practice) if options.compare else {}
    results = {situation: measure(situation, chosen, jobs) for situation in SITUATIONS}
    if options.json:
        print(json.dumps({name: {who: standing.figures() for who, standing in row.items()} for name, row in results.items()}))
    else:
        print(table(results, len(chosen) - 1 - len(policy.members), practice))
    return 0


def contestants(policy: Policy) -> dict[str, Choose]:
    """The policy as shipped, and each of its members alone."""
    members = {f"seed {i}": Policy((weights,), (), {}) for i, weights in enumerate(policy.members)}
    return {"SAC": partial(by_policy, policy), **{name: partial(by_policy, member) for name, member in members.items()}}


def measure(situation: str, chosen: Mapping[str, Choose], jobs: int) -> dict[str, Standing]:
    """Each contestant against the belief rule on the same jobs."""
    fresh = [job_in(situation, seed) for seed in range(SEED, SEED + jobs)]
    rule = [costs(job, by_belief_rule) for job in fresh]
    return {who: standing([costs(job, choose) for job in fresh], rule) for who, choose in chosen.items()}


def costs(job: Job, choose: Choose) -> tuple[float, float]:
    """Mean cost per run of a job, in optima and in multiples of never changing."""
    own = job.copy()
    play(own, choose)
    return mean_cost(own), float(np.mean(own.against_keeping))


def standing(own: Sequence[tuple[float, float]], rule: Sequence[tuple[float, float]]) -> Standing:
    pairs = [PairedJob("", mine, its, kept, its_kept) for (mine, kept), (its, its_kept) in zip(own, rule, strict=True)]
    return Standing(statistics.fmean(one for one, _ in own), statistics.fmean(one for one, _ in rule), compare(pairs))


def alternatives(policy: Policy, practice: int) -> dict[str, Choose]:
    """What earlier systems did instead, trained here, by the name in the table."""
    import torch

    from jpo.agent.sac import candidate_set, reinforce

    torch.set_num_threads(1)
    each = {name: trained(practice // len(TEMPERAMENTS), candidate_set.update, preference=name) for name in TEMPERAMENTS}
    return {
        "one SAC of that size": partial(by_policy, trained(practice, candidate_set.update)),
        "REINFORCE": partial(by_policy, trained(practice, reinforce.update)),
        "one per preference": partial(by_nearest, each),
        "timed resets": partial(by_policy, trained(practice, candidate_set.update, resets=3)),
        "MC-dropout": partial(by_caution, policy, np.random.default_rng(0)),
    }


def trained(jobs: int, step: Callable[..., object], *, preference: str | None = None, resets: int = 0) -> Policy:
    """A policy of one member after so many practice jobs; `resets`: how often it forgets all but its replays."""
    from jpo.agent.sac.learn import BATCH, FORKS, new_agent, policy_of, take_in

    wanted = NAMED_PREFERENCES[preference] if preference else None
    agent = new_agent(0, members=1, simulated_capacity=8_000, fork_capacity=40_000)
    for part in range(resets + 1):
        if part:
            agent.learners = new_agent(part, members=1).learners
        for _ in range(max(1, jobs // (resets + 1))):
            take_in(agent, practise_with(policy_of(agent), agent.rng, preference=wanted))
            for _ in range(UPDATES_PER_JOB):
                forks = agent.forks.sample(FORKS, agent.rng) if agent.forks.size else None
                step(agent.learners[0], agent.simulated.sample(BATCH, agent.rng), forks)
    return policy_of(agent)


def by_nearest(policies: Mapping[str, Policy], point: DecisionPoint) -> int:
    """The policy that was trained for the preference nearest to the job's."""
    wanted = point.problem.preference
    distance = {name: abs(wanted.time - one.time) + abs(wanted.cost - one.cost) for name, one in NAMED_PREFERENCES.items()}
    return by_policy(policies[min(policies, key=lambda name: distance[name])], point)


def by_caution(policy: Policy, rng: np.random.Generator, point: DecisionPoint) -> int:
    """The largest soft return less one standard deviation, both by dropout."""
    mean, deviation = uncertainty(policy, point.observation.features, rng)
    return int(point.observation.rows[np.argmax(np.where(point.observation.allowed, mean - deviation, -np.inf))])


def table(results: Mapping[str, Mapping[str, Standing]], more: int, practice: int) -> str:
    names = list(next(iter(results.values())))
    seeds = [name for name in names if name.startswith("seed ")]
    others = names[len(names) - more :] if more else []
    head = ["situation", "jobs", "belief rule", "SAC", "ratio", *seeds, "spread of seeds", *others]
    rows = [[f"**{name}**", *line(row, seeds, others)] for name, row in results.items()]
    better = [name for name, row in results.items() if clearly_better(row, seeds)]
    verdict = (
        f"Better than the rule by more than the spread of the seeds and two standard errors: {', '.join(better) or 'nowhere'}."
    )
    trained_on = [f"Alternatives practised on {practice} jobs each."] if more else []
    lines = ["## SAC against the belief rule", "", "| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows), "", verdict, *trained_on])


def line(row: Mapping[str, Standing], seeds: list[str], others: list[str]) -> list[str]:
    sac = row["SAC"]
    alone = [f"{row[name].against_rule.ratio:.3f}" for name in seeds]
    others_ratios = [ratio(row[name].against_rule) for name in others]
    figures = [str(sac.against_rule.jobs), f"{sac.rule:.3f}", f"{sac.mean:.3f}", ratio(sac.against_rule)]
    return [*figures, *alone, f"{spread(row, seeds):.3f}", *others_ratios]


def ratio(result: Release) -> str:
    return f"{result.ratio:.3f} ± {result.standard_error:.3f}"


def spread(row: Mapping[str, Standing], seeds: list[str]) -> float:
    """Standard deviation of the members' ratios."""
    return statistics.stdev(row[name].against_rule.ratio for name in seeds) if len(seeds) > 1 else 0.0


def clearly_better(row: Mapping[str, Standing], seeds: list[str]) -> bool:
    sac = row["SAC"].against_rule
    return 1 - sac.ratio > max(spread(row, seeds), 2 * sac.standard_error)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
