"""`jpo observe`: close the loop by putting outcomes of finished runs on record. Observing a run twice changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from jpo.errors import UsageError
from jpo.evidence import refresh, workload_of
from jpo.history import Store, open_store
from jpo.layers import Loaded
from jpo.records import Finished, Outcome, Run, RunStatus
from jpo.telemetry import read_log


def observe(
    config: Path,
    loaded: Loaded,
    *,
    run_id: str | None,
    logs: Sequence[Path],
    metrics: Mapping[str, str],
    status: RunStatus,
    now: float,
    offline: bool,
) -> str:
    """Record CSV logs, or one run by hand, or whatever the configured sources know; returns what was new, for people."""
    with open_store(loaded.store_url, timeout_seconds=loaded.settings.store.timeout) as store:
        if logs:
            return told(store.record(Finished(tuple(read_log(path, now=now) for path in logs)), now=now))
        if run_id is None and metrics:
            raise UsageError("--metric", "names no run", "write `jpo observe RUN --metric ...`", code="JPO-E306")
        if run_id is None:
            return refreshed(store, config, loaded, now=now, offline=offline)
        return told(store.record(Finished((by_hand(run_id, config, loaded, metrics, status, now),)), now=now))


def refreshed(store: Store, config: Path, loaded: Loaded, *, now: float, offline: bool) -> str:
    """Ask all configured sources about the workload of config.ini; trouble with one is an error here."""
    identity = workload_of(config, loaded, today=datetime.fromtimestamp(now, UTC).date()).identity
    found = refresh(store, identity, loaded, now=now, offline=offline, strict=True)
    skipped = "".join(f"skipped {one.run_id}: {one.reason}\n" for one in found.evidence.runs_skipped)
    return told(found.fresh) + skipped


def by_hand(run_id: str, config: Path, loaded: Loaded, metrics: Mapping[str, str], status: RunStatus, now: float) -> Run:
    """A run that just ended with the values of config.ini and the outcome given on the command line."""
    workload = workload_of(config, loaded, today=datetime.fromtimestamp(now, UTC).date())
    known = Outcome.__dataclass_fields__
    values: dict[str, float | bool] = {}
    for name, text in metrics.items():
        if name not in known:
            raise UsageError("--metric", f"{name} is not a metric", f"known are {', '.join(known)}", code="JPO-E306")
        try:
            values[name] = text.lower() == "true" if name == "converged" else float(text)
        except ValueError as error:
            finding = f"{name} = {text!r} is not a number"
            raise UsageError("--metric", finding, f"write e.g. {name}=0.4", code="JPO-E306") from error
    try:
        outcome = Outcome(**values)  # type: ignore[arg-type]
    except ValueError as error:
        raise UsageError("--metric", str(error), "give what was measured", code="JPO-E306") from error
    started = now - outcome.duration_seconds if outcome.duration_seconds is not None else None
    return Run(run_id, workload.identity, workload.current, status, started, now, outcome, "observe")


def told(runs: Sequence[Run]) -> str:
    """One line per run that was new."""
    lines = [f"recorded {run.run_id}: {run.identity}, {run.status.value}" for run in runs]
    return "\n".join(lines or ["nothing new: all runs were on record"]) + "\n"
