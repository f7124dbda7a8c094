"""Measurement of all new runs in a scope at once: what they report (reported.py) and what the cluster measures of their pods.

The number of requests does not depend on the number of runs. Where cluster and job both measured something (CPU, memory), the
cluster's value counts: it includes all processes of the container.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from jpo.records import Skipped
from jpo.tables.units import time_unit_in_words
from jpo.telemetry import contract, outcome
from jpo.telemetry.outcome import MeasuredRun, MeasuredValues, NoEvidence
from jpo.telemetry.prometheus import cluster, discovery, joined, pod_lifetimes, queries, reported
from jpo.telemetry.prometheus.answers import strange
from jpo.telemetry.prometheus.cluster import Labelling
from jpo.telemetry.prometheus.discovery import Marks, NewRuns, RunBounds
from jpo.telemetry.prometheus.joined import ClusterFacts
from jpo.telemetry.prometheus.pods.labelled import labelled_runs
from jpo.telemetry.prometheus.reported import Description
from jpo.telemetry.prometheus.scope import Scope

MOST_VALUES = 3
"""Values of a parameter that a reason names."""


def new_runs(scope: Scope) -> NewRuns:
    """Runs that ended in a scope, discovered and measured; TelemetryError as the client raises it."""
    marks, pods, going = discovery.seen(scope)
    return _reporting_runs(scope, marks) + labelled_runs(scope, pods, going)


def _reporting_runs(scope: Scope, seen: Mapping[str, Marks]) -> NewRuns:
    marks_of, going = discovery.new(seen, scope), discovery.running(seen, scope.until)
    if not marks_of:
        return NewRuns(open_ids=tuple(going))
    described = reported.descriptions(scope, list(marks_of))
    if any(not described[run_id].configurations for run_id in marks_of):
        raise strange(scope.client.place, "answered with runs, and then without what they ran with")
    labellings = cluster.labellings(scope, {pod for run_id in marks_of for pod in described[run_id].pods})
    lifetimes = pod_lifetimes.lifetimes(scope, labellings)
    for run in described.values():
        gateways = {pod for pod in run.pods if (lifetime := cluster.of(lifetimes, pod)) and lifetime.gateway}
        run.pods = {pod: name for pod, name in run.pods.items() if pod not in gateways}
    facts = ClusterFacts(lifetimes, shared=joined.shared(run.pods for run in described.values()))
    alone = [run_id for run_id in marks_of if not facts.shared & described[run_id].pods.keys()]
    pod_times = {run_id: joined.bounds(described[run_id].pods, lifetimes, scope.until) for run_id in alone}
    over, undecided = discovery.bounds(scope, marks_of, pod_times)
    reasons = {run_id: _why_not(run_id, bounds, described[run_id], scope) for run_id, bounds in over.items()}
    unusable = {run_id: why for run_id, why in reasons.items() if why}
    whole = {run_id: bounds for run_id, bounds in over.items() if run_id not in unusable}
    return NewRuns(
        runs=tuple(_measure(scope, whole, described, facts, labellings) if whole else ()),
        skipped=tuple(Skipped(run_id or "(no run_id)", str(why), why.code) for run_id, why in unusable.items()),
        over=tuple(over.values()),
        undecided=tuple(undecided.values()),
        open_ids=(*going, *undecided),
        labellings=labellings,
    )


def _why_not(run_id: str, bounds: RunBounds, described: Description, scope: Scope) -> NoEvidence | None:
    """The reason why nothing can be learnt from a run, for Skipped."""
    if not run_id:
        return NoEvidence(f"{scope.names.metric(contract.RUN_INFO)} has no {scope.names.label('run_id')} label", outcome.UNTOLD)
    for metric, time in ((contract.START, bounds.started_at), (contract.END, bounds.ended_at)):
        if time is not None and (unit := time_unit_in_words(time)):
            finding = f"{scope.names.metric(metric)} is in {unit} ({time:.0f}); it must be unix seconds"
            return NoEvidence(finding, outcome.NO_SECONDS)
    if not bounds.ended_at <= scope.until:  # nor is NaN
        finding = f"{scope.names.metric(contract.END)} is in the future; it must be unix seconds of a correct clock"
        return NoEvidence(finding, outcome.UNTIMELY)
    if bounds.started_at is None or not scope.begin <= bounds.started_at:
        return NoEvidence("it started before the window, so its values would be partial", outcome.UNTOLD)
    if bounds.started_at > bounds.ended_at:
        return NoEvidence(f"it ends before it starts ({bounds.started_at} to {bounds.ended_at})", outcome.UNTIMELY)
    if different := described.disagreement:
        name, values = different
        found = f"it reports {len(described.configurations)} different configurations; a run id must belong to one run"
        said = f"{name} is {' and '.join(map(repr, values[:MOST_VALUES]))}, in the middle of it or in another of its pods"
        return NoEvidence(f"{found}: {said}", outcome.CONTRADICTORY)
    return None


def _measure(
    scope: Scope,
    whole: Mapping[str, RunBounds],
    described: Mapping[str, Description],
    facts: ClusterFacts,
    labellings: tuple[Labelling, ...],
) -> Iterator[MeasuredRun]:
    """Values of whole runs, with what the facts of the cluster lack so far."""
    narrow = scope.since_start_of(bounds.started_at for bounds in whole.values())
    lifetimes = (cluster.of(facts.lifetimes, pod) for run_id in whole for pod in described[run_id].pods)
    jobs = {lifetime.job for lifetime in lifetimes if lifetime and lifetime.job}
    of_runs = queries.quantities(scope.names, scope.chosen(list(whole)), queries.window(narrow.begin, narrow.until))
    of_pods, of_jobs = cluster.usage_queries(narrow, labellings), pod_lifetimes.sizes(narrow, labellings, jobs)
    rows = narrow.ask_all({**of_runs, **of_pods, **of_jobs})
    reported_values = reported.values(narrow, [(key, row) for key, row in rows if key in of_runs])
    endings = reported.endings(narrow, {run_id: described[run_id].endings for run_id in whole})
    usage = cluster.usage((key, row) for key, row in rows if key in of_pods)
    job_sizes = {pod_lifetimes.job_of(row.labels): row.value for key, row in rows if key in of_jobs}
    facts = replace(facts, usage=usage, job_sizes=job_sizes, since=narrow.begin)
    for run_id, bounds in whole.items():
        run = described[run_id]
        of_cluster = joined.joined(run.pods, bounds, facts, container=scope.names.container)
        values = {**reported_values.get(run_id, {}), **of_cluster.values}
        own = values.pop(queries.OWN, None)
        metrics = {} if own is None or scope.names.own_metric is None else {scope.names.own_metric.name: own}
        if len(run.pods) > 1:
            values.pop("cpu_cores_p95", None)  # of one pod (recording_rules.yml)
        yield MeasuredRun(
            run_id=run_id,
            identity=scope.identity,
            parameters=run.configuration,
            started_at=bounds.started_at,
            ended_at=bounds.ended_at,
            closed=bounds.closed,
            statuses=frozenset(endings.get(run_id, ())),
            values=MeasuredValues(**values, metrics=metrics),
            seen_to_end=of_cluster.seen_to_end,
            pods=tuple(run.pods),
            container=of_cluster.container,
        )
