"""Release of a policy: it decides only if, on fresh jobs, it is not worse than the belief rule, which needs no training.

Both play the same jobs with the same luck, so that the log ratio of their costs has a fraction of the spread of the costs. The
jobs go round the situations of users: settings of `explore`, scenarios, and installations that differ from the simulator, with
what earlier jobs showed of them. The result goes on record with the policy that it speaks of.
"""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from jpo.agent.policy import Policy, load_policy, save_policy
from jpo.agent.sealed import header_of
from jpo.errors import StoreError
from jpo.history import AuditEvent, Json, Store
from jpo.learning.continual import load_torch, progress_of
from jpo.learning.deadline import Deadline
from jpo.learning.forks import MOST_JOBS
from jpo.learning.job import DOMAINS, Job, earlier_jobs, new_job
from jpo.learning.practice import by_belief_rule, by_policy, mean_cost, play
from jpo.learning.serving import AGENT, POLICY, own_policy
from jpo.records import Spread, Track, in_turn, silently
from jpo.simulate.installations import AS_SIMULATED, KINDS, draw_installation
from jpo.version import __version__

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
CANDIDATE = "candidate"
"""Name under which the store keeps the policy that is being tested, with what it has played."""
MADE_BY = f"jpo {__version__}"
"""Jobs that another version drew are others."""
SAVED_SECONDS = 30.0
"""A test that is killed has lost no more than this."""
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
    harm = float(np.mean([job.policy_kept > HARMED for job in played]))
    rule_harm = float(np.mean([job.rule_kept > HARMED for job in played]))
    return Release(len(played), float(np.exp(logs.mean())), float(logs.std(ddof=1) / math.sqrt(len(logs))), harm, rule_harm)


def test_job(seed: int) -> tuple[str, Job]:
    """The fresh job of a seed, with the situation that it belongs to; the situations take turns."""
    situations = tuple(INSTALLATIONS) if seed % 2 else DOMAINS
    situation = situations[seed // 2 % len(situations)]
    rng, outside = np.random.default_rng(seed), situation in INSTALLATIONS
    installation = draw_installation(rng, INSTALLATIONS.get(situation, "none"))
    residuals = earlier_jobs(installation, int(rng.integers(int(outside), MOST_JOBS)), rng)
    domain = ("safe", "on")[seed // 4 % 2] if outside else situation
    return situation, new_job(rng, domain, installation=installation if outside else AS_SIMULATED, residuals=residuals)


def played_by_both(policy: Policy, seed: int) -> PairedJob:
    """Play the job of a seed with the policy and with the belief rule."""
    situation, job = test_job(seed)
    other = job.copy()
    play(job, partial(by_policy, policy))
    play(other, by_belief_rule)
    kept, rule_kept = (float(np.mean(each.against_keeping)) for each in (job, other))
    return PairedJob(situation, mean_cost(job), mean_cost(other), kept, rule_kept)


def release_test(policy: Policy, seeds: Sequence[int], track: Track = silently, spread: Spread = in_turn) -> ReleaseTest:
    """Play the jobs of the seeds until it is clear whether the policy passes."""
    played: list[PairedJob] = []
    with spread(len(seeds)) as workers:
        play_on(workers(played_by_both, ((policy, seed) for seed in seeds)), seeds, played, track, Deadline())
    return verdict(played)


def play_on(
    jobs: Iterator[PairedJob], seeds: Sequence[int], played: list[PairedJob], track: Track, out_of_time: Callable[[], bool]
) -> bool:
    """Take the jobs of the seeds that are left until it is clear whether the policy passes; False where the time was up before.

    `played`: the jobs of the first seeds; what is played now is added.
    """
    for _ in track(seeds[len(played) :], "release test"):
        if out_of_time():
            return False
        played.append(next(jobs))
        if _clear(played, len(seeds)):
            break
    return True


def _clear(played: Sequence[PairedJob], most: int) -> bool:
    """Whether this is a look at the data, and it is clear then how the test ends."""
    look, rest = divmod(len(played), max(2, most // LOOKS))
    if rest or len(played) < 2 * len(SITUATIONS):
        return False
    pooled = compare(played)
    return (look >= FIRST_SUCCESS and pooled.passed_pooled) or pooled.end(-CERTAINTY_OF_LOOKS) > THRESHOLD


def verdict(played: Sequence[PairedJob]) -> ReleaseTest:
    situations = {name: [job for job in played if job.situation == name] for name in SITUATIONS}
    return ReleaseTest(compare(played), {name: compare(jobs) for name, jobs in situations.items() if len(jobs) > 1})


@dataclass(frozen=True, eq=False, slots=True)
class Candidate:
    """A policy that is put to the release test, in one go or in several; what learns goes on learning meanwhile.

    Attributes:
        learnt: progress of the agent when it was taken from it; its jobs follow from that.
        played: the jobs that it has played.
        version: of what the store has under CANDIDATE.
    """

    policy: Policy
    learnt: list[int]
    played: list[PairedJob]
    version: int

    @property
    def seeds(self) -> range:
        """Its jobs, which no policy met before."""
        start = RELEASE_SEED + self.learnt[-1] * RELEASE_JOBS
        return range(start, start + RELEASE_JOBS)

    def saved(self, store: Store) -> Self:
        """The same, kept so that another process goes on with it."""
        card = {"learnt": self.learnt, "made_by": MADE_BY, "played": [astuple(job) for job in self.played]}
        file = save_policy(*self.policy.members, released=(), card=card)
        return replace(self, version=store.save_agent(CANDIDATE, file, expected_version=self.version))


def candidate_of(store: Store, *, anew: bool) -> Candidate:
    """The candidate whose test is not at its end; where there is none, or `anew`, the saved agent's policy of now."""
    kept, tested = store.load_agent(CANDIDATE), own_policy(store)
    version = kept[1] if kept else 0
    if kept and not anew and (begun := _begun(*kept)) and (tested is None or tested.card.get("learnt") != begun.learnt):
        return begun
    load_torch()
    from jpo.agent.sac.checkpoint import load_checkpoint
    from jpo.agent.sac.learn import policy_of

    saved = store.load_agent(AGENT)
    assert saved is not None
    return Candidate(policy_of(load_checkpoint(saved[0])), progress_of(header_of(saved[0])), [], version)


def _begun(state: bytes, version: int) -> Candidate | None:
    """A test that was begun; None where it cannot be read or another version of JPO began it: it is begun anew."""
    try:
        policy = load_policy(state)
        card = policy.card
        played = [PairedJob(str(situation), *map(float, costs)) for situation, *costs in card["played"]]
        learnt = [int(number) for number in card["learnt"]]
    except (StoreError, KeyError, TypeError, ValueError):
        return None
    whole = bool(learnt) and all(job.situation in SITUATIONS and job.policy > 0 < job.rule for job in played)
    return Candidate(policy, learnt, played, version) if whole and card.get("made_by") == MADE_BY else None


def release_if_passed(
    store: Store, track: Track, *, now: float, until: Deadline | None = None, anew: bool = False, spread: Spread = in_turn
) -> ReleaseTest | Candidate:
    """Put the saved agent's policy to the release test on jobs it never met; where it passes, it decides from now on.

    The result goes on record with the policy that it speaks of. What has been played when the time is up is kept for the next
    time, and each SAVED_SECONDS before. `anew`: begin a new test, whatever was begun. Returns the result; the candidate, where
    the time was up before. Raises StoreError: another process went on with the test, or released one meanwhile.
    """
    until, before, candidate = until or Deadline(), store.load_agent(POLICY), candidate_of(store, anew=anew)
    left = candidate.seeds[len(candidate.played) :]
    with spread(len(left)) as workers:
        jobs = workers(played_by_both, ((candidate.policy, seed) for seed in left))
        while True:
            part = until.no_later_than(SAVED_SECONDS)
            if play_on(jobs, candidate.seeds, candidate.played, track, part):
                break
            candidate = candidate.saved(store)
            if part.at == until.at:
                return candidate
    test = verdict(candidate.played)
    policy, card = candidate.policy, {"learnt": candidate.learnt, "release_test": figures_of(test)}
    file = save_policy(*policy.members, released=test.released, card=card)
    event = tested(policy.digest, test, now, file_digest=hashlib.sha256(file).hexdigest())
    store.save_agent(POLICY, file, expected_version=before[1] if before else 0, event=event)
    return test


def figures_of(test: ReleaseTest) -> dict[str, Json]:
    """The figures of a release test, for cards and the audit log."""
    return {"pooled": asdict(test.pooled), **{name: asdict(result) for name, result in test.situations.items()}}


def tested(digest: str, test: ReleaseTest, now: float, *, file_digest: str) -> AuditEvent:
    """Result of a release test for the audit log: where the policy decides from now on, and by which figures.

    `file_digest`: SHA-256 (hex) of the policy as it is stored; a shared store takes no policy without it (teams.sql).
    """
    data: dict[str, Json] = {"policy": digest, "file_digest": file_digest, "released": list(test.released)}
    return AuditEvent("tested", now, None, {**data, "results": figures_of(test)})
