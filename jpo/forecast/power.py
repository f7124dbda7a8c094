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
    outcomes = [
        (run.row, run.outcome.energy_joules, run.outcome.duration_seconds) for run in runs_at_candidates(candidates, runs)
    ]
    measured = [(row, joules, seconds) for row, joules, seconds in outcomes if joules is not None and seconds]
    rows, count = [row for row, _, _ in measured], len(candidates.values)
    joules, seconds = (
        np.bincount(np.array(rows, dtype=np.int64), weights=column, minlength=count)
        for column in ([run[1] for run in measured], [run[2] for run in measured])
    )
    gpus = candidates.values[:, candidates.names.index("gpus")] if "gpus" in candidates.names else np.ones(count)
    size = gpus if (seconds * gpus).any() else np.ones(count)
    with np.errstate(invalid="ignore", over="ignore"):  # 0 / 0: no run measured it
        everywhere = joules[size > 0].sum() / (seconds * size).sum() * size
        return np.where(seconds > 0, joules / seconds, everywhere)
