"""Usage of a workload's last run: what it left idle, how its speed, loss and data have moved, how near its SLA it came; and
the phases that the last runs went through.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from jpo.agent.context import NOT_MEASURED, NOT_SEEN, PhaseSummary, Usage, log_ratio
from jpo.cost.sla import slack
from jpo.optimizer.request import Request
from jpo.records import Outcome, PhaseNeeds, Run


def usage_of(runs: Sequence[Run], request: Request) -> Usage:
    """Usage of the last run that ended well, against the first."""
    ended = [run for run in runs if run.ended_well]
    if not ended:
        return NOT_MEASURED
    first, last = ended[0].outcome, ended[-1].outcome
    was, now = (request.wanted.quality.error_of(request.wanted.quality.measured(outcome)) for outcome in (first, last))
    asked = ended[-1].completed(request.current).parameters.get("memory_gib")
    return Usage(
        last.gpu_utilisation,
        last.cpu_utilisation,
        last.memory_gib / asked if last.memory_gib is not None and asked else None,
        log_ratio(last.throughput_samples_per_second, first.throughput_samples_per_second),
        log_ratio(now, was),
        log_ratio(_samples(last), _samples(first)),
        slack(request.wanted.targets, ended[-1], request.prices),
    )


def _samples(outcome: Outcome) -> float | None:
    """Samples of a run, counted or from its speed."""
    if outcome.samples is not None or outcome.duration_seconds is None or outcome.throughput_samples_per_second is None:
        return outcome.samples
    return outcome.duration_seconds * outcome.throughput_samples_per_second


def phases_of(needs: PhaseNeeds | None) -> PhaseSummary:
    """Phases of the last runs, as far as they were measured."""
    if needs is None:
        return NOT_SEEN
    return PhaseSummary(math.log(needs.phases), math.log(needs.stay_share), math.log(needs.peak_to_mean), needs.drifted)
