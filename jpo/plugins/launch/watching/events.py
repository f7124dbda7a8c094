"""Adjustments of launched runs as events of `jpo history`."""

from collections.abc import Collection, Iterator
from contextlib import suppress

from jpo.errors import LaunchError
from jpo.plugins.launch.during.adjustment import as_json
from jpo.plugins.launch.project.place import ledger_of
from jpo.plugins.launch.report.watch.watched import decision
from jpo.plugins.launch.watching import account
from jpo.project.load import LoadedSettings
from jpo.records import RunEvent


def adjustments(settings: LoadedSettings, run_ids: Collection[str]) -> Iterator[RunEvent]:
    """What was decided about these runs while they went on; what is damaged is left out: whoever watches the run says so."""
    ledger = ledger_of(settings)
    for file in sorted(ledger.glob(f"*/watch/{account.FILE}")):
        run_id = file.parent.parent.name
        if run_id in run_ids:
            with suppress(LaunchError):
                for made in account.read(ledger, run_id):
                    yield RunEvent(run_id, "adjustments", decision(made), {"run_id": run_id, **as_json(made)})
