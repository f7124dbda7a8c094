"""Electric power of configurations, from the runs that measured their energy: what a priced kWh adds to an hour of each.

Meters stand at the GPUs, so a configuration that no run measured is taken to use as much per GPU as those that did.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jpo.forecast.measurements import place
from jpo.records import Candidates, Run

if TYPE_CHECKING:
    from jpo.records import Floats


def power_watts(candidates: Candidates, runs: Sequence[Run]) -> Floats:
    """Mean power at every candidate, (K,): of its own runs, else per GPU of all runs; NaN where no run measured its energy.

    Without GPUs to count by, a candidate without runs of its own has the mean of all.
    """
    outcomes = [(one.row, one.run.outcome.energy_joules, one.run.outcome.duration_seconds) for one in place(candidates, runs)]
    measured = [(row, joules, seconds) for row, joules, seconds in outcomes if joules is not None and seconds]
    rows, count = [row for row, _, _ in measured], len(candidates.values)
    joules, seconds = (
        np.bincount(np.array(rows, dtype=np.int64), weights=column, minlength=count)
        for column in ([one[1] for one in measured], [one[2] for one in measured])
    )
    gpus = candidates.values[:, candidates.names.index("gpus")] if "gpus" in candidates.names else np.ones(count)
    size = gpus if (seconds * gpus).any() else np.ones(count)
    with np.errstate(invalid="ignore", over="ignore"):  # 0 / 0: no run measured it
        everywhere = joules[size > 0].sum() / (seconds * size).sum() * size
        return np.where(seconds > 0, joules / seconds, everywhere)
