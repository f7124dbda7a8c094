"""Drift of a recurring job: its data grow, and one day the cluster gives it other hardware.

It is drawn independently of the job and added to its draws, run by run.
"""

from dataclasses import dataclass

import numpy as np

from jpo.records import Floats
from jpo.simulate.knobs import LN2


@dataclass(frozen=True, eq=False, slots=True)
class Drift:
    """The drift of a job over R runs; run 0 is the reference.

    Attributes:
        log_time: shape (R,), natural log of the duration of every candidate relative to run 0.
        log_data: shape (R,), natural log of the number of samples relative to run 0; its part of log_time is the same number.
        best_batch: shape (R,), doublings by which the best batch size has moved since run 0.
        critical: doublings from today's batch size to the critical one, where batch_effect starts to count.
    """

    log_time: Floats
    log_data: Floats
    best_batch: Floats
    critical: float


def draw_drift(runs: int, rng: np.random.Generator) -> Drift:
    """The random drift of a job.

    Data: in half of the jobs they grow by LU(0.2%, 3%) per run (assumed), and each epoch with them; the critical batch size
    grows as their number to the power U(0.3, 0.6). Hardware: in three jobs of ten, at a run drawn uniformly, every run from then
    on takes LU(0.5, 1.6) of the time (assumed: a generation more, or a slower pool).

    Source: Zhang et al., "How Does Critical Batch Size Scale in Pre-training?", ICLR 2025 (a power of the data, near 1/2; the
    range around it is assumed). Hardware that changes under recurring jobs: Weng et al., "MLaaS in the Wild", NSDI 2022.
    """
    assert runs >= 1
    past = np.arange(runs, dtype=np.float64)
    growth = np.log1p(np.exp(rng.uniform(np.log(0.002), np.log(0.03))))
    log_data = np.where(rng.random() < 0.5, growth, 0.0) * past
    change = rng.uniform(np.log(0.5), np.log(1.6))
    changes = (rng.random() < 0.3) & (past >= rng.integers(1, max(runs, 2)))
    return Drift(
        log_time=log_data + np.where(changes, change, 0.0),
        log_data=log_data,
        best_batch=rng.uniform(0.3, 0.6) * log_data / LN2,
        critical=rng.uniform(-2.0, 3.0),
    )


def no_drift(runs: int) -> Drift:
    """The drift of a job to which nothing happens."""
    return Drift(np.zeros(runs), np.zeros(runs), np.zeros(runs), critical=0.0)


def batch_effect(drift: Drift, run: int, batch: Floats) -> Floats:
    """Effect of the drift on batch sizes: ln of the epochs that each needs, relative to run 0 and to today's: shape (K,).

    Epochs(b) ~ 1 + 2^(b - critical); when the critical batch size has moved up, large batches waste less than they did. `batch`:
    shape (K,), log2 of the batch sizes relative to today's.

    Source: McCandlish et al., "An Empirical Model of Large-Batch Training", 2018.
    """
    critical, moved = drift.critical, drift.best_batch[run]

    def log_epochs(at: "Floats | float") -> Floats:
        return np.asarray(np.log1p(np.exp2(at - critical - moved)) - np.log1p(np.exp2(at - critical)))

    return np.asarray(log_epochs(batch) - log_epochs(0.0))
