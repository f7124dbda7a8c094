"""Runs of a workload that go on, as the server of runs has them. None of them is evidence."""

from dataclasses import replace

from jpo.history import Store
from jpo.history.following.labelled_pods import values_in_force
from jpo.history.undo import in_effect
from jpo.http.endpoint import Endpoint
from jpo.project.load import LoadedSettings
from jpo.project.sources import names_of
from jpo.records import KUBERNETES, Identity, Running
from jpo.telemetry.running.ask import going_on
from jpo.telemetry.running.work_done import with_progress

MOST_SECONDS = 5.0
"""To find out what runs now: somebody waits for an answer that is about something else."""
PAST_RUNS = 200
"""Newest runs by which it is told how far a run is."""


def running_now(server: Endpoint | None, identity: Identity, settings: LoadedSettings, store: Store) -> tuple[Running, ...]:
    """The runs of a workload that go on, each with the values that it has and how far it is; none without a server.

    For `jpo explain`, `jpo doctor` and whoever watches; nothing of it goes on record. TelemetryError: JPO-E101 to E109, E113.
    """
    if server is None:
        return ()
    brief = replace(server, timeout_seconds=min(server.timeout_seconds, MOST_SECONDS))
    found = going_on(brief, identity, names=names_of(settings))
    if not found:
        return ()
    recorded = store.recorded_runs(identity, limit=PAST_RUNS)
    effective, past = in_effect(store, identity, recorded), [entry.run for entry in recorded]
    runs = []
    for run in found:
        added = values_in_force(run.parameters, run.started_at or run.seen_at, effective) if run.source == KUBERNETES else {}
        complete = replace(run, parameters={**run.parameters, **added}, assumed=tuple(sorted(added)))
        runs.append(with_progress(complete, past))
    return tuple(runs)
