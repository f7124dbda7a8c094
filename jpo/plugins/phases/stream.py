"""A stream of samples: the phase, its probabilities and what the next sample may need, as each sample comes.

The filter is the one of `PhaseModel.filtered`, a sample at a time. What may be needed next is the mixture of the phases' needs
under the probabilities of the next sample's phase, as quantiles of CPU and memory; each update takes some ten microseconds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jpo.errors import UsageError
from jpo.plugins.phases.chain import step
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.requests.demand import RESOURCES
from jpo.plugins.phases.traces import CPU, MEMORY, Floats

QUANTILES = (0.5, 0.95, 0.99)
GRID = 64
"""Levels at which the distribution of a need is kept."""


@dataclass(frozen=True, eq=False, slots=True)
class Update:
    """What a sample says.

    Attributes:
        phase: the most probable one.
        probabilities: shape (k,), of the phases given the samples so far.
        next_quantiles: shape (2, len(QUANTILES)), needs of CPU and memory at the next sample; None where they were not measured.
    """

    phase: int
    probabilities: Floats
    next_quantiles: Floats | None


class Stream:
    """The filter of one execution; `quantiles`: levels at which the next need is asked for."""

    def __init__(self, model: PhaseModel, quantiles: Sequence[float] = QUANTILES) -> None:
        self._model = model
        self._expected = model.chain.start
        self._time = -np.inf
        self._quantiles = np.asarray(quantiles, dtype=np.float64)
        self._levels, self._below = _distributions(model)

    def update(self, t: float, sample: Mapping[str, float] | Floats) -> Update:
        """Take note of a sample at `t`, Unix seconds: values by feature, or in the order of the model's features.

        Raises UsageError: JPO-E730, time goes back, or a value cannot be a measurement.
        """
        names = self._model.scaler.names
        values = np.array([sample[name] for name in names]) if isinstance(sample, Mapping) else np.asarray(sample, np.float64)
        if not t > self._time:
            raise UsageError("stream", f"time goes back, from {self._time:.15g} to {t:.15g}", "sort the samples", code="JPO-E730")
        if values.shape != (len(names),) or not (np.isfinite(values).all() and (values >= 0).all()):
            finding = f"{values!r:.80} is not a sample of {', '.join(names)}"
            raise UsageError("stream", finding, "give finite numbers that are not negative", code="JPO-E730")
        self._time = t
        densities = self._model.densities(values)
        probabilities, _ = step(self._expected, np.exp(densities - densities.max()))
        self._expected = probabilities @ self._model.chain.transitions
        return Update(int(probabilities.argmax()), probabilities, self._next(self._expected))

    def _next(self, expected: Floats) -> Floats | None:
        if self._levels is None or self._below is None:
            return None
        below = expected @ self._below  # (2, k, grid) -> (2, grid)
        at = [np.searchsorted(below[resource], self._quantiles) for resource in range(RESOURCES)]
        return np.stack([self._levels[resource][np.minimum(at[resource], GRID - 1)] for resource in range(RESOURCES)])


def _distributions(model: PhaseModel) -> tuple[Floats | None, Floats | None]:
    """Levels, shape (2, GRID), and the share of each phase's needs at or below them, shape (2, k, GRID)."""
    needs = model.needs
    if needs is None or not {CPU, MEMORY} <= set(model.scaler.names):
        return None, None
    used = np.concatenate([needs.level, needs.next_need])
    levels = np.quantile(used, np.linspace(0, 1, GRID), axis=0).T
    below = np.ones((RESOURCES, model.chain.phases, GRID))
    stays = needs.next_stays
    for phase in range(model.chain.phases):
        inside = needs.next_need[stays & (needs.phase == phase)]
        for resource in range(RESOURCES):
            if len(inside):
                count = np.searchsorted(np.sort(inside[:, resource]), levels[resource], side="right")
                below[resource, phase] = count / len(inside)
    return levels, below
