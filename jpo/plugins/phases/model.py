"""A fitted model: the phases of training traces and all that is known of them, as one record that a file holds.

Whatever method found the phases, what follows is the same chain over scaled samples: it filters a stream, says what comes next,
and from which futures an allocation is made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jpo.plugins.phases.best_path import viterbi
from jpo.plugins.phases.chain import Chain, Ints, forward, smooth
from jpo.plugins.phases.features import Scaler
from jpo.plugins.phases.requests.caution import MISSES, untried
from jpo.plugins.phases.requests.demand import Positions, positions_of, thinned
from jpo.plugins.phases.traces import CPU, MEMORY, Floats, Traces, intervals

HORIZON_SECONDS = 120.0
"""How long an allocation has to hold: between two resizes at 30 per hour."""
WINDOW = 10
"""Samples over whose mean density a trace is compared with training."""
STRANGE = 5.0
"""By how much the log density of a sample must fall below the least of training until the trace has drifted."""


class MostUsed(NamedTuple):
    """The most CPU and memory that training used, shape (2,) each: within the horizon of a start, and ever."""

    first: Floats
    ever: Floats


@dataclass(frozen=True, eq=False, slots=True)
class PhaseModel:
    """Phases and what is known of them.

    Attributes:
        method: by which the phases were found.
        scaler, chain: how samples are scaled, and the chain over them.
        needs: positions of training with their futures, of CPU and memory; None where these were not measured.
        caution: steps of caution for CPU and memory, found on executions that the model had not seen; where there were too few,
            the most careful by phases, or one that holds the peak.
        most: what training used at most.
        interval_seconds: median time between samples.
        least_density: lowest mean log density of WINDOW samples in training, or of all samples of a shorter execution.
        executions, samples: how much was seen.
        notes: what the user should know of the fit.
        weights: arrays of the method's own, named `method.*`.
        misses: share of the samples that may be missed.
    """

    method: str
    scaler: Scaler
    chain: Chain
    needs: Positions | None
    caution: tuple[int, int]
    most: MostUsed
    interval_seconds: float
    least_density: float
    executions: int
    samples: int
    notes: tuple[str, ...] = ()
    weights: Mapping[str, Floats] = field(default_factory=dict)
    misses: float = MISSES

    def densities(self, values: Floats) -> Floats:
        """Log densities of samples in each phase, shape (samples, k)."""
        return self.chain.log_emissions(self.scaler.transform(values))

    def predict(self, traces: Traces) -> Ints:
        """The most probable path of phases, shape (samples,)."""
        return viterbi(self.chain, self._densities_of(traces), traces.lengths)

    def filtered(self, traces: Traces) -> Floats:
        """Probabilities of the phases given the samples so far, shape (samples, k)."""
        return forward(self.chain, self._densities_of(traces), traces.lengths)[0]

    def smoothed(self, traces: Traces) -> Floats:
        """Probabilities of the phases given whole executions, shape (samples, k)."""
        return smooth(self.chain, self._densities_of(traces), traces.lengths)[0]

    def unlike(self, traces: Traces) -> float:
        """Share of the samples at which traces were unlike training, in 0..1."""
        densities = forward(self.chain, self._densities_of(traces), traces.lengths)[1]
        return float(np.mean(rolling_means(densities, traces.lengths)[0] < self.least_density - STRANGE))

    def _densities_of(self, traces: Traces) -> Floats:
        return self.densities(traces.narrowed(self.scaler.names).stacked)


def with_needs(method: str, scaler: Scaler, chain: Chain, traces: Traces) -> PhaseModel:
    """The model of a chain, with what its phases needed in these traces."""
    emissions = chain.log_emissions(scaler.transform(traces.narrowed(scaler.names).stacked))
    phases = viterbi(chain, emissions, traces.lengths)
    densities = forward(chain, emissions, traces.lengths)[1]
    means, full = rolling_means(densities, traces.lengths)
    both = traces.narrowed((CPU, MEMORY)) if {CPU, MEMORY} <= set(traces.features) else None
    begins = np.repeat(traces.times[traces.firsts], traces.lengths)
    early = traces.times <= begins + HORIZON_SECONDS
    careful = untried(len(traces.executions), traces.samples)
    return PhaseModel(
        method=method,
        scaler=scaler,
        chain=chain,
        needs=thinned(positions_of(both, phases, HORIZON_SECONDS)) if both else None,
        caution=(careful, careful),
        most=MostUsed(both.stacked[early].max(0), both.stacked.max(0)) if both else MostUsed(np.zeros(2), np.zeros(2)),
        interval_seconds=float(np.median(intervals(traces.times, traces.lengths))),
        least_density=float(means[full].min()),
        executions=len(traces.executions),
        samples=traces.samples,
        notes=scaler.notes,
    )


def rolling_means(densities: Floats, lengths: Sequence[int]) -> tuple[Floats, NDArray[np.bool_]]:
    """Means of the last WINDOW samples of each execution, fewer at its start; and where all are there that it has, shape (n,)."""
    total = np.r_[0.0, np.cumsum(densities)]
    each, n = np.asarray(lengths), np.arange(1, len(densities) + 1)
    within = n - np.repeat(np.cumsum(each) - each, each)  # 1 at the first sample of each
    window = np.minimum(within, WINDOW)
    means: Floats = (total[n] - total[n - window]) / window
    return means, within >= np.minimum(np.repeat(each, each), WINDOW)
