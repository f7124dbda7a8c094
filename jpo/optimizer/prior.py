"""Prior of a workload and the belief after its runs: simulated jobs, and surfaces like those of other jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from jpo.agent.safety.memory import with_enough_memory
from jpo.forecast import posterior
from jpo.forecast.empirical_bayes import Evidence, reweighted
from jpo.forecast.transfer import (
    TransferredSurfaces,
    fit_surfaces,
    informative_jobs,
    shipped_surfaces,
    transfer_surfaces,
    values_of,
)
from jpo.records import PARAMETERS, Belief, Candidates, Draws, Run
from jpo.simulate import Latents, jobs_of

PARTICLES = 1000
"""Simulated jobs that form the prior; on recorded jobs, 250 to 30,000 gave equal results within 3%."""
FEWEST_PARTICLES = 200
MOST_NUMBERS = 400_000
"""Particles x candidates: a large space is weighed with fewer particles, so that an answer takes a fraction of a second."""

MOST_OTHERS = 20
"""Other workloads that have a say in which jobs are simulated: 10 ms each, once."""


@dataclass(frozen=True, eq=False, slots=True)
class Prior:
    """Prior: simulated jobs on a set of candidates, and surfaces recalled from other workloads where there are any."""

    draws: Draws
    recalled: TransferredSurfaces | None


def prior_of(candidates: Candidates, seed: int, others: Sequence[Run] = (), *, shipped: bool = True) -> Prior:
    """Prior on these candidates.

    Args:
        others: runs of other workloads.
        shipped: whether the surfaces that came with JPO count; a comparison on the jobs they were fitted to leaves them out.
    """
    particles = max(FEWEST_PARTICLES, min(PARTICLES, MOST_NUMBERS // len(candidates.values)))
    weights = reweighted([_evidence(job, candidates, seed) for job in informative_jobs(others, candidates.names)[-MOST_OTHERS:]])
    draws = jobs_of(candidates, Latents(particles, seed, weights))
    varying = [
        name
        for name, column in zip(candidates.names, candidates.values.T, strict=True)
        if name in PARAMETERS and np.ptp(column) > 0
    ]
    surfaces = [*fit_surfaces(others, varying), *([shipped_surfaces()] if shipped else [])]
    return Prior(draws, transfer_surfaces(surfaces, candidates, seed))


def _evidence(job: Sequence[Run], candidates: Candidates, seed: int) -> Evidence:
    """Which simulated jobs explain a finished workload's runs, on the configurations it ran."""
    names = candidates.names
    values = np.array(list({values_of(run, names) for run in job}), dtype=np.float64)
    values = values[np.lexsort(values.T)]
    first = next((run for run in job if run.ended_well), job[0])
    now = int(np.flatnonzero((values == values_of(first, names)).all(axis=1))[0])
    ran = Candidates(names, values, now, np.ones(len(values), dtype=np.bool_), np.zeros(len(values)))
    latents = Latents(PARTICLES, seed)
    return latents.drawn, posterior(jobs_of(ran, latents), ran, job).weights


def believe(prior: Prior, candidates: Candidates, runs: Sequence[Run]) -> Belief:
    """Belief about the candidates after the runs."""
    return with_enough_memory(lambda some: posterior(prior.draws, candidates, some, prior.recalled), candidates, runs)


def thinned(prior: Prior, particles: int) -> Prior:
    """The same prior with fewer simulated jobs, where many beliefs are formed in one answer."""
    few = {f.name: getattr(prior.draws, f.name)[:particles] for f in fields(Draws)}
    return Prior(Draws(**few), prior.recalled)
