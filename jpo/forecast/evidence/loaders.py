"""How busy the CPUs of a run on GPUs were, as evidence of whether loading data holds it up.

CPUs that load data are busy. Where they idle, fewer of them are enough, unless the loaders wait for storage.
"""

from collections.abc import Sequence
from statistics import median

import numpy as np

from jpo.forecast.measurements import CandidateRun
from jpo.records import Candidates, Draws, Floats

_SPREAD = 0.1
"""sd of the measured share around the simulated one: start and end of a run, validation."""
_WAITS_FOR_STORAGE = 0.15
"""Chance that CPUs idle though loading holds the job up."""


def loaders_log_likelihood(draws: Draws, candidates: Candidates, succeeded: Sequence[CandidateRun]) -> Floats:
    """Log-likelihood of the runs' CPU utilisation under each simulated job, shape (J,): less than its loaders need is unlikely.

    CPUs may be busy with other work, so that more says nothing. Zeros where no run on GPUs measured it.
    """
    if draws.loader_share is None or draws.log_throughput is None or "gpus" not in candidates.names:
        return np.zeros(len(draws.fails))
    gpus = candidates.values[:, candidates.names.index("gpus")]
    busy: dict[int, list[float]] = {}
    for run in succeeded:
        if run.outcome.cpu_utilisation is not None and gpus[run.row] >= 1:
            busy.setdefault(run.row, []).append(run.outcome.cpu_utilisation)
    if not busy:
        return np.zeros(len(draws.fails))
    rows = sorted(busy)
    cpus = candidates.values[:, candidates.names.index("cpus")] if "cpus" in candidates.names else np.ones(len(candidates.values))
    pace = np.exp(draws.log_throughput[:, rows]) * cpus[candidates.current] / cpus[rows]
    needed = np.minimum(draws.loader_share[:, None] * pace, 1.0)  # (J, R)
    missing = np.maximum(needed - [median(busy[row]) for row in rows], 0.0).max(axis=1)
    likelihood = _WAITS_FOR_STORAGE + (1 - _WAITS_FOR_STORAGE) * np.exp(-((missing / _SPREAD) ** 2) / 2)
    return np.asarray(np.where(np.isnan(missing), 0.0, np.log(likelihood)))
