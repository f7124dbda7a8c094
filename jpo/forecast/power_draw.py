"""Electric power of configurations, from the runs that measured their energy: it prices the energy of an hour.

The meters are on the GPUs, so a configuration that no run measured is assumed to use as much per GPU as the measured ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jpo.forecast.measurements import runs_at_candidates
from jpo.records import Candidates, Run

if TYPE_CHECKING:
    from jpo.records import Floats


def power_watts(candidates: Candidates, runs: Sequence[Run]) -> Floats:
    """Mean power at every candidate, (K,): of its own runs, else by GPU count from all runs; NaN where no run measured energy.

    Where no run has GPUs, a candidate without own runs has the mean of all.
    """
    outcomes = [(run.row, run.outcome) for run in runs_at_candidates(candidates, runs)]
    measured = [(row, outcome) for row, outcome in outcomes if outcome.energy_joules is not None and outcome.duration_seconds]
    rows, count = np.array([row for row, _ in measured], dtype=np.int64), len(candidates.values)
    joules, seconds = (
        np.bincount(rows, weights=[getattr(outcome, name) for _, outcome in measured], minlength=count)
        for name in ("energy_joules", "duration_seconds")
    )
    gpus = candidates.values[:, candidates.names.index("gpus")] if "gpus" in candidates.names else np.ones(count)
    size = gpus if (seconds * gpus).any() else np.ones(count)
    with np.errstate(invalid="ignore", over="ignore"):  # 0 / 0: no run measured it
        everywhere = joules[size > 0].sum() / (seconds * size).sum() * size
        return np.where(seconds > 0, joules / seconds, everywhere)
