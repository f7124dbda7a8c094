"""What the commands know before they decide: the workload in config.ini, the guard's limits, and finished runs from every source.

What the sources (sources.py) bring goes into the store, and the account of it into the report.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path

import constraints
from constraints import Limits, names
from jpo import config
from jpo.cost import Instance, Prices, lacks_energy, read_catalogue, run_cost_usd
from jpo.cost.catalogue import SHIPPED, select
from jpo.cost.price import price_of_type
from jpo.errors import TelemetryError, UsageError
from jpo.forecast.track_record import track_record
from jpo.history import RecordedRun, Store, latest_start
from jpo.inventory.idle_gpus import diagnose
from jpo.inventory.machine import machine_here
from jpo.project.load import LoadedSettings
from jpo.project.sources import CSV, PROMETHEUS, caveats, look, prometheus_of, why_nothing
from jpo.records import Currency, Evidence, Forecast, Identity, Known, Run, Skipped, Suggestion, TrackRecord, Workload
from jpo.telemetry import PrometheusSource

MODEL = ("num_layers", "epochs")
NOT_FREED = "not freed in jpo.toml"
"""What the model is, and how long it trains, is the team's to say: these change only if [parameters] names them (or by --set)."""

CLOCKS_DIFFER_SECONDS = 3600.0
"""Two machines that JPO runs on; waiting so long for a run to start is harmless."""
LEDGER_RUNS = 1000
"""Newest runs of a workload in which `jpo history` and `jpo explain` look for what its last forecasts came to."""
OTHER_RUNS = 1000
"""Newest runs on record among which those of other workloads are looked for."""


def workload_of(path: Path, loaded: LoadedSettings, *, now: float) -> Workload:
    """Read config.ini with the names that guard and jpo.toml know."""
    tables = loaded.settings.parameters
    return config.read(
        path,
        names=config.OptionNames(
            known=names.WELL_KNOWN,
            known_identity=names.IDENTITY,
            keys={name: table.key for name, table in tables.items() if table.key},
            identity_keys={str(part): key for part, key in loaded.settings.workload.identity.items()},
        ),
        parse_value=names.parse_value,
        frozen={name: "frozen in jpo.toml" for name, table in tables.items() if table.freeze}
        | {name: NOT_FREED for name in MODEL if name not in tables},
        today=datetime.fromtimestamp(now, UTC).date(),
    )


def limits_in(loaded: LoadedSettings) -> Limits:
    """The guard's limits, which it reads from the same tables by rules of its own; with what this machine has, if it shall."""
    try:
        limits = constraints.limits_from(loaded.tables)
    except ValueError as error:
        raise UsageError(str(loaded.toml or "settings"), str(error), code="JPO-E302") from error
    if not loaded.settings.quota.this_machine:
        return limits
    return replace(limits, quota=limits.quota.within(machine_here(os.environ).most))


def prices_in(loaded: LoadedSettings) -> Prices:
    """[prices]; raises UsageError JPO-E801 or JPO-E802 for a GPU type, region or catalogue that is not there."""
    table, place = loaded.settings.prices, f"{loaded.toml or 'settings'} [prices]"
    per_gpu = table.usd_per_gpu_hour
    if table.usd_per_gpu_hour_of and table.gpu_type is not None:
        per_gpu = price_of_type(table.usd_per_gpu_hour_of, table.gpu_type, place=place)
    instances = (
        select(catalogue_in(loaded), region=table.region, gpu_type=table.gpu_type, place=place)
        if table.catalogue is not None
        else ()
    )
    return Prices(
        usd_per_gpu_hour=per_gpu,
        usd_per_cpu_hour=table.usd_per_cpu_hour,
        usd_per_gib_hour=table.usd_per_gib_hour,
        usd_per_kwh=table.usd_per_kwh,
        instances=instances,
        spot=table.spot,
        spot_share=table.spot_share,
    )


def catalogue_in(loaded: LoadedSettings) -> tuple[Instance, ...]:
    """All instances of the catalogue that [prices] names: one that came with JPO, else a file beside jpo.toml; () without one."""
    name = loaded.settings.prices.catalogue
    return () if name is None else read_catalogue(SHIPPED.get(name) or loaded.root / name)


def currency_in(loaded: LoadedSettings) -> Currency:
    """What [prices] wants amounts to be shown in."""
    table = loaded.settings.prices
    return Currency(table.currency, table.per_usd or 1.0)


def limits_of(workload: Workload, loaded: LoadedSettings) -> Limits:
    """The guard's limits with what is pinned."""
    return with_pins(limits_in(loaded), workload)


def with_pins(limits: Limits, workload: Workload) -> Limits:
    """The limits with the workload's pinned values held; what is only not freed may be set by hand."""
    for p in workload.parameters:
        if p.held and p.held != NOT_FREED:
            limits = limits.holding([p.name], p.held)
    return limits


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking every source.

    Attributes:
        fresh: runs that are new on record.
        notes: what the report must say, sentence -> reason code.
        silent: Prometheus answered, and told of nothing at all.
    """

    fresh: tuple[Run, ...]
    skipped: tuple[Skipped, ...]
    notes: Mapping[str, str]
    requests: int
    seconds: float
    silent: bool


def gather(store: Store, identity: Identity, loaded: LoadedSettings, *, now: float, offline: bool, strict: bool) -> Known:
    """Ask every source for finished runs, put them on record, and say what is known now.

    A source that cannot be read is an error only if `strict`; otherwise the history goes without it, and the report says so.
    Where Prometheus answers and there is no run at all, the report says why.
    """
    server = None if offline else prometheus_of(loaded)
    asked = ask(server, store, identity, loaded, now=now, strict=strict)
    recorded = store.recorded_runs(identity)
    runs = tuple(one.run for one in recorded)
    others = tuple(one.run for one in store.recorded_runs(limit=OTHER_RUNS) if one.run.identity != identity)
    notes = dict(asked.notes)
    if server and asked.silent and not runs:
        notes |= why_nothing(server, identity, loaded, now=now, seconds_spent=asked.seconds)
    if runs and (idle := diagnose(runs[-1], store.series_of(runs[-1]), runs)):
        notes[str(idle)] = idle.code
    notes |= without_energy(runs, prices_in(loaded))
    return Known(
        runs=runs,
        others=others,
        fresh=asked.fresh,
        followed_up=followed_up(store, recorded),
        untried=untried(store, identity, runs, now=now),
        track=past_forecasts(store, recorded, prices_in(loaded)),
        evidence=Evidence(len(runs), asked.skipped, asked.requests, asked.seconds, tuple(notes)),
        codes=tuple(dict.fromkeys(notes.values())),
    )


def without_energy(runs: Sequence[Run], prices: Prices) -> Mapping[str, str]:
    """That costs are too low where a kWh has a price and runs did not measure their energy: sentence -> reason code."""
    if prices.usd_per_kwh is None:
        return {}
    if all(run.outcome.energy_joules is None for run in runs):
        return {"Cost is without energy, which has a price: no run has measured it": "JPO-W802"}
    lacking = sum(lacks_energy(run, prices) for run in runs)
    told = f"Energy has a price: {lacking} of {len(runs)} runs have not measured theirs and cost what they did without it"
    return {f"{told}; forecasts count what the others used per GPU": "JPO-W802"} if lacking else {}


def ask(
    server: PrometheusSource | None, store: Store, identity: Identity, loaded: LoadedSettings, *, now: float, strict: bool
) -> Asked:
    """One look at each source; what it brings goes on record before the next one is asked."""
    fresh: list[Run] = []
    skipped: list[Skipped] = []
    notes = dict(caveats(server))
    requests, seconds, silent = 0, 0.0, False
    for source in (CSV, PROMETHEUS):
        try:
            finished = look(source, server, store, identity, loaded, now=now)
            if strict and not finished.complete:
                unreadable = "; ".join(one.reason for one in finished.skipped)
                raise TelemetryError(source, f"a log cannot be read: {unreadable}", "mend or remove it", code="JPO-E110")
        except TelemetryError as error:
            if strict:
                raise
            notes[f"History not refreshed from {source} ({age(store, identity, now)}): {error} [{error.code}]"] = "JPO-W113"
            continue
        fresh += store.record(finished, now=now, identity=identity, source=source)
        skipped += finished.skipped
        if finished.unread:
            notes |= cut_short(source, finished.unread, strict=strict)
        silent = bool(finished.requests) and not (finished.runs or finished.skipped or finished.unread)
        requests, seconds = requests + finished.requests, seconds + finished.seconds
    return Asked(tuple(fresh), tuple(skipped), notes, requests, seconds, silent)


def cut_short(source: str, unread: str, *, strict: bool) -> Mapping[str, str]:
    """What the report says of a look that did not come to its end: sentence -> reason code.

    Raises:
        TelemetryError: JPO-E117, if `strict`; what was read is on record, and the next look goes on from there.
    """
    if strict:
        raise TelemetryError(source, unread, "run again, or raise --timeout", code="JPO-E117")
    return {f"{source.capitalize()} was {unread}": "JPO-W117"}


def followed_up(store: Store, recorded: Sequence[RecordedRun], *, last: int = 20) -> tuple[tuple[Run, Mapping[str, float]], ...]:
    """The last runs that followed a change which the agent suggested, with the values before it, oldest first.

    What a rollback put back is no new step of the agent's: it had been found there, or belongs to an earlier suggestion.
    """
    followers = [one for one in recorded if one.suggestion_id][-last:]
    pairs = [(one.run, store.suggestion(one.suggestion_id)) for one in followers if one.suggestion_id]
    return tuple(
        (run, one.current) for run, one in pairs if one.status == "changed" and one.decided_by not in ("user", "rollback")
    )


def untried(store: Store, identity: Identity, runs: tuple[Run, ...], *, now: float) -> Suggestion | None:
    """The newest suggestion that changed something, if no run has started and ended since.

    One that a clock far ahead of ours has dated is left aside: no run would start after it before that date.
    """
    newest = store.newest_change(identity)
    if newest is None or newest.created_at > now + CLOCKS_DIFFER_SECONDS:
        return None
    return None if any(latest_start(run) >= newest.created_at for run in runs) else newest


def age(store: Store, identity: Identity, now: float) -> str:
    """How old the newest run on record is, in words."""
    runs = store.runs_of(identity)
    return f"newest run on record: {(now - runs[-1].ended_at) / 86400:.1f} days old" if runs else "no run on record"


def past_forecasts(store: Store, recorded: Sequence[RecordedRun], prices: Prices, *, last: int = 10) -> tuple[TrackRecord, ...]:
    """How the last forecasts turned out: each held against the first run that followed its suggestion and ended well.

    Forecasts are of runs that end well: what failed is no miss of theirs. A cost that was not measured is the run's time at the
    prices of today; what the run does not report of its parameters was as suggested.
    """
    first: dict[str, Run] = {}
    for one in recorded:
        if one.suggestion_id and one.run.ended_well:
            first.setdefault(one.suggestion_id, one.run)
    newest = [
        (made.next, replace(run.outcome, cost_usd=run_cost_usd(run.completed(made.suggested), prices)))
        for made, run in ((store.suggestion(suggestion_id), run) for suggestion_id, run in list(first.items())[-last:])
    ]
    records = []
    for quantity in (f.name for f in fields(Forecast)):
        pairs = [(getattr(forecast, quantity), getattr(outcome, quantity)) for forecast, outcome in newest]
        records.append(track_record(quantity, [(forecast, measured) for forecast, measured in pairs if forecast and measured]))
    return tuple(record for record in records if record)
