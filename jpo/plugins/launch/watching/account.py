"""Adjustments of a launched run: kept beside it in the ledger, one decision at a time, and on the audit log.

    .jpo/launches/RUN_ID/watch/adjustments.json

Its lock is not that of launch.json, which the engine's own calls take.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from jpo.errors import LaunchError, words_of
from jpo.files.reading import contents, json_object
from jpo.history import AuditEvent
from jpo.plugins.launch.during.adjustment import Adjustment, as_json, from_json
from jpo.plugins.launch.ledger import folder_of, locked, put
from jpo.plugins.launch.project.engines import ledger_of
from jpo.project.load import LoadedSettings
from jpo.records import Identity

FILE = "adjustments.json"
LARGEST_BYTES = 2**20
MADE, SETTLED = "adjusted", "adjustment settled"
"""Kinds of the events on the audit log."""


@contextmanager
def deciding(ledger: Path, run_id: str) -> Iterator[list[Adjustment]]:
    """The adjustments of a run, oldest first, for one process at a time; what the list holds at the end is written down.

    Raises:
        LaunchError: JPO-E752, its folder cannot be written; JPO-E782, what stands there is damaged.
    """
    folder = folder_of(ledger, run_id) / "watch"
    with locked(folder):
        adjustments = read(ledger, run_id)
        before = [*adjustments]
        yield adjustments
        if adjustments != before:
            account = {"schema_version": 1, "adjustments": [as_json(each) for each in adjustments]}
            put(folder / FILE, json.dumps(account, indent=1).encode())


def read(ledger: Path, run_id: str) -> list[Adjustment]:
    """The adjustments of a run, oldest first; empty where there were none.

    Raises:
        LaunchError: JPO-E782, they are damaged.
    """
    file = folder_of(ledger, run_id) / "watch" / FILE
    if not file.exists():
        return []

    def refusal(finding: str) -> LaunchError:
        return LaunchError(str(file), finding, "move it away; what was decided stays on the audit log", code="JPO-E782")

    try:
        return [from_json(each) for each in json_object(contents(file, LARGEST_BYTES, refusal))["adjustments"]]
    except (ValueError, KeyError, TypeError) as error:
        raise refusal(f"is damaged ({type(error).__name__}: {words_of(error)})") from error


def adjustments_of_runs(settings: LoadedSettings, run_ids: Collection[str]) -> Iterator[tuple[str, Adjustment]]:
    """The adjustments of these runs, run by run; what is damaged is left out: whoever watches the run says so."""
    ledger = ledger_of(settings)
    for file in sorted(ledger.glob(f"*/watch/{FILE}")):
        run_id = file.parent.parent.name
        if run_id in run_ids:
            with suppress(LaunchError):
                yield from ((run_id, each) for each in read(ledger, run_id))


def events(run_id: str, identity: Identity, adjustments: Sequence[Adjustment], *, kind: str, now: float) -> Iterator[AuditEvent]:
    """What goes on the audit log of decisions that were made, or whose outcome became known."""
    for each in adjustments:
        yield AuditEvent(kind, now, identity, {"run_id": run_id, **as_json(each)})
