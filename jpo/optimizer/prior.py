"""Prior of a workload and the belief after its runs: simulated jobs, and surfaces like those of other jobs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from jpo.agent.safety.host_memory import with_enough_memory
from jpo.forecast.belief import pick_jobs, posterior
from jpo.forecast.earlier_jobs import likely_here, moves_of, with_moves
from jpo.forecast.siblings.conditioning import LEAST_DOUBT, conditioned_draws, log_likelihood_of
from jpo.forecast.siblings.evidence import evidence_of
from jpo.forecast.transfer import fit_surfaces, shipped_surfaces, transfer_surfaces
from jpo.forecast.weights import log_mean_exp
from jpo.records import PARAMETERS, VAL_LOSS, Belief, Candidates, Draws, Parameters, Quality, Run, TransferredSurfaces
from jpo.simulate import Latents, jobs_of

PARTICLES = 1000
"""Simulated jobs that form the prior; on recorded jobs, 250 to 30,000 gave equal results within 3%."""
FEW = 250
"""Simulated jobs where many beliefs are formed in one answer, or a second one is; where candidates are many; and in a search of
the library, whose candidates are others each time, and where the belief says little more than what fails."""
MANY = 4 * PARTICLES
"""Simulated jobs of which those are drawn that are likely after what other jobs showed: where links are slow, 1 of 100 is."""
MOST_NUMBERS = 400_000
"""Particles x candidates: a large space is weighed with fewer particles, so that an answer takes a fraction of a second."""


@dataclass(frozen=True, eq=False, slots=True)
class Prior:
    """Prior: simulated jobs on a set of candidates, and surfaces recalled from other workloads where there are any."""

    draws: Draws
    recalled: TransferredSurfaces | None


def prior_of(
    candidates: Candidates,
    seed: int,
    others: Sequence[Run] = (),
    *,
    shipped: bool = True,
    first: Parameters | None = None,
    particles: int = PARTICLES,
) -> Prior:
    """Prior on these candidates, of this many simulated jobs, or of fewer where candidates are many.

    `shipped`: whether the surfaces that came with JPO count; a comparison on the jobs they were fitted to leaves them out.
    `first`: the job's first configuration; None: today's.
    """
    particles = max(FEW, min(particles, MOST_NUMBERS // len(candidates.values)))
    moves = moves_of(others, candidates, first or {})
    latents = Latents(particles, seed)
    if moves:
        many, ran = Latents(MANY, seed), with_moves(candidates, moves)
        likely = likely_here(jobs_of(ran, many), ran, moves, particles, seed)
        latents = Latents(particles, seed, drawn={name: place[likely] for name, place in many.drawn.items()})
    draws = jobs_of(candidates, latents)
    varying = [
        name
        for name, column in zip(candidates.names, candidates.values.T, strict=True)
        if name in PARAMETERS and np.ptp(column) > 0
    ]
    surfaces = [*fit_surfaces(others, varying), *([shipped_surfaces()] if shipped else [])]
    return Prior(draws, transfer_surfaces(surfaces, candidates, seed))


def with_siblings(prior: Prior, candidates: Candidates, siblings: Sequence[Run], seed: int) -> Prior:
    """The prior after the runs of the same job on other hardware: they count as if measured here, up to a misfit of their own."""
    evidence = evidence_of(candidates, siblings)
    if evidence is None:
        return prior
    rng = np.random.default_rng((seed, 4))
    draws, recalled = conditioned_draws(prior.draws, candidates, evidence, rng), prior.recalled
    if not recalled:
        return Prior(draws, None)
    # surfaces of other workloads are trusted as far as they explain the siblings better than simulated jobs do
    like, unlike = (log_mean_exp(log_likelihood_of(draws, evidence)) for draws in (recalled.draws, prior.draws))
    trust = float(np.clip(recalled.trust, 1e-6, 1 - 1e-6))
    odds = np.log(trust / (1 - trust)) + like - unlike
    trust = float(np.clip(1 / (1 + np.exp(-np.clip(odds, -30, 30))), min(trust, LEAST_DOUBT), max(trust, 1 - LEAST_DOUBT)))
    recalled = replace(recalled, draws=conditioned_draws(recalled.draws, candidates, evidence, rng), trust=trust)
    return Prior(draws, recalled)


def believe(prior: Prior, candidates: Candidates, runs: Sequence[Run], quality: Quality = VAL_LOSS) -> Belief:
    """Belief about the candidates after the runs, which are judged by this quality of their models."""
    runs = quality.judged(runs)
    belief = with_enough_memory(lambda some: posterior(prior.draws, candidates, some, prior.recalled), candidates, runs)
    return belief if quality == VAL_LOSS else replace(belief, quality=quality)


def beside(prior: Prior, candidates: Candidates, runs: Sequence[Run], belief: Belief, qualities: Sequence[Quality]) -> Belief:
    """The belief with those about the other qualities that runs which ended well have measured."""
    well = [run.outcome for run in runs if run.ended_well]
    others = [each for each in qualities if each != belief.quality and any(outcome.of(each.name) for outcome in well)]
    return replace(belief, besides=tuple(believe(prior, candidates, runs, each) for each in others)) if others else belief


def thinned(prior: Prior, particles: int) -> Prior:
    """The same prior with fewer simulated jobs, where many beliefs are formed in one answer."""
    return Prior(pick_jobs(prior.draws, np.arange(min(particles, len(prior.draws.fails)))), prior.recalled)
