"""Experience from the history: each recorded run becomes the transition which the agent has seen.

State: the problem decided before the run; action: what was executed, whoever chose it; reward: what came of it against the first
run that ended well. The same runs in the same order give the same transitions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from jpo.agent.candidate_rows import rate_between, row_of_run
from jpo.agent.change_detection import forecast_error
from jpo.agent.problem import Problem
from jpo.agent.reward import failed_like, objective, reward_vector
from jpo.agent.sac.replay_buffer import Transition
from jpo.agent.state import observe
from jpo.cost.sla import missed
from jpo.history.following.followers import Follower, changed
from jpo.learning.backlog import learnable
from jpo.optimizer.advise import problem_despite_sla
from jpo.optimizer.candidates import collect, weighed_runs
from jpo.optimizer.prior import prior_of
from jpo.optimizer.request import Request
from jpo.optimizer.surrogate import after_runs
from jpo.records import RESOURCES, Candidates, Floats, Known, PhaseNeeds, Residuals, Run, same


@dataclass(frozen=True, eq=False, slots=True)
class Experience:
    """What one recorded run taught, and the state it came from.

    Attributes:
        problem: the decision problem before the run.
        runs: what had run before it, oldest first, the reference among them.
        reference: first of them that ended well.
    """

    transition: Transition
    problem: Problem
    runs: Sequence[Run]
    reference: Run


def experiences(
    runs: Sequence[Run],
    request: Request,
    *,
    seed: int,
    first: int,
    followers: Sequence[Follower] = (),
    residuals: Residuals | None = None,
    needs_after: Mapping[str, PhaseNeeds] = MappingProxyType({}),
) -> Iterator[Experience | None]:
    """Experience of every run after the reference, from number `first` on; None for one that says nothing under the preference.

    `followers`: those of the runs that followed a suggestion; `residuals`: of the other jobs of the installation; `needs_after`:
    by run, what was known of phases after it.
    """
    learnt = learnable(runs)
    before = len(runs) - len(learnt)
    for at in range(before + 1 + first, len(runs)):
        earlier, known = (known_after(runs[:end], followers, residuals, needs_after) for end in (at, at + 1))
        yield experience(earlier, known, learnt[0], request, seed)


def known_after(
    runs: Sequence[Run],
    followers: Sequence[Follower],
    residuals: Residuals | None = None,
    needs_after: Mapping[str, PhaseNeeds] = MappingProxyType({}),
) -> Known:
    ids = {run.run_id for run in runs}
    followed_up = changed([follower for follower in followers if follower[0].run_id in ids])
    needs = needs_after.get(runs[-1].run_id) if runs else None
    return Known(tuple(runs), followed_up=followed_up, residuals=residuals, phase_needs=needs)


def experience(earlier: Known, known: Known, reference: Run, request: Request, seed: int) -> Experience | None:
    """Experience of the last run that is known, from the decision problems before and after it.

    What a run did not report had the value before it. Runs of other workloads are left out: which of them were on record then is
    not known.
    """
    run, runs = known.runs[-1], known.runs
    today = {**reference.parameters, **earlier.runs[-1].parameters}
    judged = request.wanted.quality.judged
    candidates = collect(replace(request, current=today), weighed_runs(runs, today, request.wanted.quality))
    prior = prior_of(candidates, seed)
    vectors = vectors_of(runs[runs.index(reference) :], reference, candidates, request)
    objectives = [float(objective(vector, request.wanted.preference)) for vector in vectors]
    if not np.isfinite(objectives[-1]):
        return None
    executed = row_of_run(candidates, run)
    afterwards = replace(candidates, current=executed)
    before = problem_despite_sla(after_runs(prior, candidates, earlier.runs, request), request, earlier)
    after = problem_despite_sla(after_runs(prior, afterwards, known.runs, request), request, known)
    seen, following = observe(before, before.allowed, executed), observe(after, after.allowed)
    best, miss = float(np.nanmin(objectives)), forecast_error(before.belief, executed, run)
    transition = Transition(seen, seen.index(executed), vectors[-1], request.wanted.preference, best, following, miss=miss)
    return Experience(transition, before, judged(weighed_runs(earlier.runs, today, request.wanted.quality)), *judged([reference]))


def vectors_of(runs: Sequence[Run], reference: Run, candidates: Candidates, request: Request) -> list[Floats]:
    """Reward vector of each run against the reference; one that failed counts like the best before it, charged.

    A run that broke SLA targets carries by how much, whatever it was worth otherwise. One of another model than the reference's,
    of which nobody says how good it is, says nothing, unless the user does not mind: its loss may be worse.
    """
    vectors: list[Floats] = []
    best, least, today = None, np.inf, candidates.parameters(candidates.current)
    for run in runs:
        model = {name: value for name, value in run.parameters.items() if name not in RESOURCES}
        unjudged = request.wanted.quality_floor is not None and run.tells_no_quality and not same(model, reference.parameters)
        if run.ended_well and unjudged:
            vector = np.full(6, np.nan)
        elif run.ended_well:
            ours, theirs = request.wanted.quality.judged([run, reference])
            vector = reward_vector(ours, theirs, rate_between(candidates, run, reference), by_energy=candidates.by_energy)
        else:
            assert best is not None, "the reference ended well"
            vector = failed_like(np.nan_to_num(best))
        vectors.append(np.add(vector, (0, 0, 0, 0, 0, missed(request.wanted.targets, run.completed(today), request.prices))))
        worth = float(np.nan_to_num(objective(vector, request.wanted.preference), nan=np.inf))
        if best is None or worth < least:
            best, least = vector, worth
    return vectors
