"""Release of a policy: it decides only if, on fresh jobs, it is not worse than the belief rule, which needs no training.

Both play the same jobs with the same luck, so that the log ratio of their costs has a fraction of the spread of the costs. The
jobs go round the situations of users: settings of `explore`, scenarios, and installations that differ from the simulator, with
what earlier jobs showed of them. The result goes on record with the policy that it speaks of.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from jpo.agent.policy import Policy, save_policy
from jpo.agent.sealed import header_of
from jpo.history import AuditEvent, Json, Store
from jpo.learning.continual import progress_of
from jpo.learning.forks import MOST_JOBS
from jpo.learning.job import DOMAINS, Job, earlier_jobs, new_job
from jpo.learning.practice import Choose, Track, by_belief_rule, by_policy, mean_cost, play, silently
from jpo.learning.serving import AGENT, POLICY
from jpo.simulate.installations import KINDS, draw_installation

THRESHOLD = 1.01
"""Not worse than the belief rule by more than one percent; set before any policy was trained, never tuned to let one pass."""
CERTAINTY = 1.96
"""Standard errors of a situation's 95% interval."""
LOOKS, FIRST_SUCCESS = 5, 3
"""Looks at the data, and the first that may end in a release: each situation has some fifty jobs then."""
CERTAINTY_OF_LOOKS = 2.41
"""Standard errors of the pooled 95% interval, wide enough for LOOKS looks at the data.

Source: Pocock, "Group Sequential Methods in the Design and Analysis of Clinical Trials", Biometrika 1977, table 1."""
MORE_HARM = 0.01
"""By how much the share of jobs that cost more than never changing may exceed the rule's."""
HARMED = 1.05
INSTALLATIONS = {f"installation {kind}": kind for kind in KINDS if kind != "none"}
SITUATIONS = (*DOMAINS, *INSTALLATIONS)
"""All that a policy meets; half of the jobs are of installations as the simulator thinks."""
RELEASE_JOBS = 1100
"""Most simulated jobs in the release test: the standard error of the pooled ratio is then some .003."""
RELEASE_SEED = 100_000_000
"""Their seeds start here, far from those that the shipped policy met; each number of updates has jobs of its own."""


@dataclass(frozen=True, slots=True)
class Release:
    """Result of the release test, pooled or of one situation.

    Attributes:
        jobs: fresh simulated jobs, the same for both.
        ratio: geometric mean of policy / rule, each the mean cost per run in multiples of the optimum's.
        standard_error: of its natural log, over jobs.
        harm, rule_harm: share of the jobs that cost HARMED times as much as never changing, or more.
    """

    jobs: int
    ratio: float
    standard_error: float
    harm: float
    rule_harm: float

    @property
    def passed(self) -> bool:
        """Not significantly above the threshold, of a situation."""
        return self.end(-CERTAINTY) <= THRESHOLD

    @property
    def passed_pooled(self) -> bool:
        """The whole interval below the threshold, and not more harm."""
        return self.end(CERTAINTY_OF_LOOKS) <= THRESHOLD and self.harm <= self.rule_harm + MORE_HARM

    def end(self, errors: float) -> float:
        """End of the ratio's interval, some standard errors away."""
        return self.ratio * math.exp(errors * self.standard_error)


@dataclass(frozen=True, slots=True)
class ReleaseTest:
    """Result of a release test: all jobs pooled, and each situation that had two or more."""

    pooled: Release
    situations: Mapping[str, Release]

    @property
    def released(self) -> tuple[str, ...]:
        """Where the policy may decide: everywhere, or nowhere."""
        ahead = self.pooled.passed_pooled and all(result.passed for result in self.situations.values())
        return DOMAINS if ahead else ()


@dataclass(frozen=True, slots=True)
class PairedJob:
    """One job played by both: mean costs in optima, and in multiples of never changing."""

    situation: str
    policy: float
    rule: float
    policy_kept: float
    rule_kept: float


def compare(played: Sequence[PairedJob]) -> Release:
    """Judge jobs that both have played; two or more."""
    assert len(played) > 1
    logs = np.log([job.policy / job.rule for job in played])
    harm, rule_harm = (float(np.mean([cost > HARMED for cost in costs])) for costs in zip(*map(_kept, played), strict=True))
    return Release(len(played), float(np.exp(logs.mean())), float(logs.std(ddof=1) / math.sqrt(len(logs))), harm, rule_harm)


def _kept(job: PairedJob) -> tuple[float, float]:
    return job.policy_kept, job.rule_kept


def test_job(seed: int) -> tuple[str, Job]:
    """The fresh job of a seed, with the situation that it belongs to; the situations take turns."""
    situations = tuple(INSTALLATIONS) if seed % 2 else DOMAINS
    situation = situations[seed // 2 % len(situations)]
    return situation, job_in(situation, seed)


def job_in(situation: str, seed: int) -> Job:
    """A fresh job in one of SITUATIONS."""
    rng = np.random.default_rng(seed)
    if situation in INSTALLATIONS:
        installation = draw_installation(rng, INSTALLATIONS[situation])
        residuals = earlier_jobs(installation, int(rng.integers(1, MOST_JOBS)), rng)
        return new_job(rng, ("safe", "on")[seed // 4 % 2], installation=installation, residuals=residuals)
    installation = draw_installation(rng, "none")
    return new_job(rng, situation, residuals=earlier_jobs(installation, int(rng.integers(0, MOST_JOBS)), rng))


def played_by_both(policy: Policy, seed: int) -> PairedJob:
    """Play the job of a seed with the policy and with the belief rule."""
    situation, job = test_job(seed)
    other = job.copy()
    figures = [_figures(job, partial(by_policy, policy)), _figures(other, by_belief_rule)]
    return PairedJob(situation, figures[0][0], figures[1][0], figures[0][1], figures[1][1])


def _figures(job: Job, choose: Choose) -> tuple[float, float]:
    play(job, choose)
    return mean_cost(job), float(np.mean(job.against_keeping))


def release_test(policy: Policy, seeds: Sequence[int], track: Track = silently) -> ReleaseTest:
    """Play the jobs of the seeds, one by one, until it is clear whether the policy passes."""
    played: list[PairedJob] = []
    for seed in track(seeds, "release test"):
        played.append(played_by_both(policy, seed))
        look, rest = divmod(len(played), max(2, len(seeds) // LOOKS))
        if not rest and len(played) >= 2 * len(SITUATIONS):
            pooled = compare(played)
            if (look >= FIRST_SUCCESS and pooled.passed_pooled) or pooled.end(-CERTAINTY_OF_LOOKS) > THRESHOLD:
                break
    situations = {name: [job for job in played if job.situation == name] for name in SITUATIONS}
    return ReleaseTest(compare(played), {name: compare(jobs) for name, jobs in situations.items() if len(jobs) > 1})


def release_if_passed(store: Store, track: Track, *, now: float) -> ReleaseTest:
    """Put the saved agent's policy to the release test on jobs it never met; where it passes, it decides from now on.

    The result goes on record with the policy that it speaks of.

    Raises:
        StoreError: another process released one meanwhile.
    """
    from jpo.agent.sac.checkpoint import load_checkpoint
    from jpo.agent.sac.learn import policy_of

    saved, before = store.load_agent(AGENT), store.load_agent(POLICY)
    assert saved is not None
    policy, learnt = policy_of(load_checkpoint(saved[0])), progress_of(header_of(saved[0]))
    start = RELEASE_SEED + learnt[-1] * RELEASE_JOBS
    test = release_test(policy, range(start, start + RELEASE_JOBS), track)
    card = {"learnt": learnt, "release_test": figures_of(test)}
    file = save_policy(*policy.members, released=test.released, card=card)
    event = tested(policy.digest, test, now, file_digest=hashlib.sha256(file).hexdigest())
    store.save_agent(POLICY, file, expected_version=before[1] if before else 0, event=event)
    return test


def figures_of(test: ReleaseTest) -> dict[str, Json]:
    """The figures of a release test, for cards and the audit log."""
    return {"pooled": asdict(test.pooled), **{name: asdict(result) for name, result in test.situations.items()}}


def tested(digest: str, test: ReleaseTest, now: float, *, file_digest: str) -> AuditEvent:
    """Result of a release test for the audit log: where the policy decides from now on, and by which figures.

    Args:
        file_digest: SHA-256 (hex) of the policy as it is stored; a shared store takes no policy without it (teams.sql).
    """
    data: dict[str, Json] = {
        "policy": digest,
        "file_digest": file_digest,
        "released": list(test.released),
        "results": figures_of(test),
    }
    return AuditEvent("tested", now, None, data)
