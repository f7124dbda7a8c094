"""What [prices], [card] and a price catalogue say of the GPUs on which a job will run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jpo.plugins.estimates.arithmetic import rough_forecast
from jpo.plugins.estimates.fits import too_large
from jpo.plugins.estimates.planned_job import PlannedJob, planned
from jpo.project.load import LoadedSettings
from jpo.project.prices import prices_of
from jpo.records import Forecast, Note, Parameters, Run, Workload


@dataclass(frozen=True, slots=True)
class ByArithmetic:
    """Estimates of one job; see jpo/project/plugins/hooks.py."""

    job: PlannedJob

    def forecast(self, values: Parameters) -> tuple[Forecast, str] | None:
        return rough_forecast(self.job, values)

    def warnings(self, values: Parameters, runs: Sequence[Run]) -> tuple[Note, ...]:
        return too_large(self.job, values, runs)


def estimates_of(workload: Workload, settings: LoadedSettings) -> ByArithmetic:
    """The estimates for a workload, on the GPUs that [prices], [card] or config.ini name."""
    prices = settings.values.prices
    rented = max((instance.gpu_memory_gib for instance in prices_of(settings).instances), default=0.0)
    return ByArithmetic(planned(workload, prices.gpu_type, settings.values.card.memory_gib or rented or None))
