"""Adjustments of launched runs as events of `jpo history`."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from jpo.plugins.launch.during.adjustment import as_json
from jpo.plugins.launch.report.watch.watched import decision
from jpo.plugins.launch.watching.account import adjustments_of_runs
from jpo.project.load import LoadedSettings
from jpo.records import RunEvent


def adjustments(settings: LoadedSettings, run_ids: Collection[str]) -> Iterator[RunEvent]:
    """What was decided about these runs while they went on."""
    for run_id, made in adjustments_of_runs(settings, run_ids):
        yield RunEvent(run_id, "adjustments", decision(made), {"run_id": run_id, **as_json(made)})
