"""`jpo observe`: close the loop by putting outcomes of finished runs on record. Observing a run twice changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jpo.errors import UsageError
from jpo.evidence import gather, workload_of
from jpo.history import Store, open_store
from jpo.layers import Loaded
from jpo.records import MEASURED, Finished, Outcome, Run, RunStatus
from jpo.telemetry import read_log

TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


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
    if logs and (run_id is not None or metrics):
        raise UsageError(
            "--csv", "and a run given by hand exclude each other", "observe them one after the other", code="JPO-E306"
        )
    if run_id is not None and not run_id.strip():
        raise UsageError("RUN", "is empty", "give the run a name", code="JPO-E306")
    with open_store(loaded.store_url, timeout_seconds=loaded.settings.store.timeout) as store:
        if logs:
            return told(store.record(Finished(tuple(read_log(path, now=now) for path in logs)), now=now))
        if run_id is None and metrics:
            raise UsageError("--metric", "names no run", "write `jpo observe RUN --metric ...`", code="JPO-E306")
        if run_id is None:
            return refreshed(store, config, loaded, now=now, offline=offline)
        run = by_hand(run_id, config, loaded, metrics, status, now)
        if store.run(run_id):  # config.ini may have changed since: what the run ran with is on record, or unknown
            run = replace(run, parameters={})
        return told(store.record(Finished((run,)), now=now))


def refreshed(store: Store, config: Path, loaded: Loaded, *, now: float, offline: bool) -> str:
    """Ask all configured sources about the workload of config.ini; trouble with one is an error here."""
    identity = workload_of(config, loaded, now=now).identity
    found = gather(store, identity, loaded, now=now, offline=offline, strict=True)
    skipped = "".join(f"skipped {one.run_id}: {one.reason}\n" for one in found.evidence.runs_skipped)
    return told(found.fresh) + skipped


def by_hand(run_id: str, config: Path, loaded: Loaded, metrics: Mapping[str, str], status: RunStatus, now: float) -> Run:
    """A run that just ended with the values of config.ini and the outcome given on the command line."""
    workload = workload_of(config, loaded, now=now)
    values: dict[str, float | bool] = {}
    for name, text in metrics.items():
        if name not in MEASURED:
            raise UsageError("--metric", f"{name} is not a metric", f"known are {', '.join(MEASURED)}", code="JPO-E306")
        try:
            values[name] = TRUTH[text.lower()] if name == "converged" else float(text)
        except (ValueError, KeyError) as error:
            finding, example = ("neither true nor false", "true") if name == "converged" else ("not a number", "0.4")
            raise UsageError(
                "--metric", f"{name} = {text!r} is {finding}", f"write e.g. {name}={example}", code="JPO-E306"
            ) from error
    try:
        outcome = Outcome(**values)  # type: ignore[arg-type]
    except ValueError as error:
        raise UsageError("--metric", str(error), "give what was measured", code="JPO-E306") from error
    started = now - outcome.duration_seconds if outcome.duration_seconds is not None else None
    return Run(run_id, workload.identity, workload.current, status, started, now, outcome, "observe")


def told(runs: Sequence[Run]) -> str:
    """One line per run that was new."""
    lines = [f"recorded {run.run_id}: {run.identity}, {run.status.value}" for run in runs]
    return (
        "\n".join(lines or ["nothing new: all runs were on record, and a later report of a run only adds what was unknown"])
        + "\n"
    )
