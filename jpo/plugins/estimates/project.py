"""The estimates for a project: on the GPUs that [prices], [card] or config.ini name."""

from collections.abc import Callable
from dataclasses import replace

from jpo.plugin import offered
from jpo.plugins.estimates.arithmetic import rough_forecast
from jpo.plugins.estimates.fits import too_large
from jpo.plugins.estimates.planned_job import planned, setup_of
from jpo.plugins.estimates.shape import named
from jpo.project.load import LoadedSettings
from jpo.project.prices import prices_of
from jpo.records import FirstRun, Parameters, Workload


def estimates_of(workload: Workload, settings: LoadedSettings) -> Callable[[Parameters], FirstRun]:
    """What the first run of each configuration of a workload takes."""
    tables = settings.values
    rented = max((instance.gpu_memory_gib for instance in prices_of(settings).instances), default=0.0)
    job = planned(workload, tables.prices.gpu_type, tables.card.memory_gib or rented or None)
    if not named(workload.identity.model) and (facts := offered("model facts")):
        job = replace(job, facts=facts(workload, settings))

    def estimate(values: Parameters) -> FirstRun:
        setup = setup_of(job, values)
        return FirstRun(*rough_forecast(job, values, setup), too_large(job, values, setup) if setup else ())

    return estimate
