"""SAC and its alternatives against the belief rule, on fresh simulated jobs like those of the release test, the same for all.

Half of the jobs run on installations that differ from the simulator (host memory, slow loaders, slow links, batch limits), with
what earlier jobs there showed; the others go round the scenarios of jpo/learning/scenarios.py. A figure is the geometric mean of
policy / rule, each the mean cost per run in multiples of the optimum's, with its standard error; below 1 is better than the rule,
which knows the present preference and prices, and how many runs follow, if anybody does. Needs no torch.

    python benchmarks/scenarios.py [--jobs 300] [--policies sac,steering] [--policy FILE] [--first-seed N] [--quick] [--json]

Here by-sla is SAC: simulated jobs promise nothing, so no SLA is broken.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from jpo.agent.alternatives.named import policy_named  # noqa: E402
from jpo.agent.policy import SHIPPED, Policy, load_policy  # noqa: E402
from jpo.learning.job import Job  # noqa: E402
from jpo.learning.practice import Choose, by_belief_rule, by_policy, mean_cost, play  # noqa: E402
from jpo.learning.release import SITUATIONS, PairedJob, Release, compare, test_job  # noqa: E402
from jpo.records import TRAINED  # noqa: E402

SEED = 400_000_000
"""Jobs are drawn from here on, far from those of practice and release tests."""
QUICK_JOBS = 4
POOLED = "all jobs"

Results = Mapping[str, Mapping[str, Release]]
"""By situation, by policy."""


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="SAC and its alternatives against the belief rule.")
    parser.add_argument("--jobs", type=int, default=300, help="fresh jobs in all (default: 300)")
    parser.add_argument("--policies", default=",".join(TRAINED), help="names of [agent] policy (default: all)")
    parser.add_argument("--policy", type=Path, default=SHIPPED, help="file of SAC (default: the shipped one)")
    parser.add_argument("--first-seed", type=int, default=0, help="to play other jobs (default: 0)")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_JOBS} jobs: does it run at all?")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    names = options.policies.split(",")
    if unknown := set(names) - set(TRAINED):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(TRAINED)}")
    sac = load_policy(options.policy)
    policies = {name: policy for name in TRAINED if name in names and (policy := policy_named(name, sac)) is not None}
    jobs = QUICK_JOBS if options.quick else options.jobs
    results = measure(policies, range(SEED + options.first_seed, SEED + options.first_seed + jobs))
    if options.json:
        print(json.dumps({place: {who: asdict(result) for who, result in row.items()} for place, row in results.items()}))
    else:
        print(table(results))
    return 0


def measure(policies: Mapping[str, Policy], seeds: Sequence[int]) -> Results:
    """Each policy against the belief rule on the same jobs with the same luck, pooled and by situation of two jobs or more."""
    played: dict[str, list[PairedJob]] = {name: [] for name in policies}
    for seed in seeds:
        situation, job = test_job(seed)
        rule = figures(job.copy(), by_belief_rule)
        for name, policy in policies.items():
            own = figures(job.copy(), partial(by_policy, policy))
            played[name].append(PairedJob(situation, own[0], rule[0], own[1], rule[1]))
    places = {POOLED: SITUATIONS, **{name: (name,) for name in SITUATIONS}}
    rows = {
        place: {name: [job for job in jobs if job.situation in within] for name, jobs in played.items()}
        for place, within in places.items()
    }
    return {place: {name: compare(jobs) for name, jobs in row.items() if len(jobs) > 1} for place, row in rows.items()}


def figures(job: Job, choose: Choose) -> tuple[float, float]:
    """Mean cost per run in optima, and in multiples of never changing."""
    play(job, choose)
    return mean_cost(job), float(np.mean(job.against_keeping))


def table(results: Results) -> str:
    names = list(results[POOLED])
    head = ["", "jobs", *names]
    rows = [[place, str(next(iter(row.values())).jobs), *map(ratio, row.values())] for place, row in results.items() if row]
    pooled = results[POOLED].values()
    rows.append(["harm", "", *(f"{result.harm:.1%}" for result in pooled)])
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    harm = f"harm of the rule: {next(iter(pooled)).rule_harm:.1%} of the jobs cost 1.05 times as much as never changing, or more"
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows), "", harm])


def ratio(result: Release) -> str:
    return f"{result.ratio:.3f} ± {result.standard_error:.3f}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
