"""Collection of evidence: every source of finished runs is asked, and what it reports goes on record.

The sources themselves are in sources.py. A source that cannot be read is no error unless `strict`; the report says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from jpo import config
from jpo.cost import Prices, lacks_energy, run_cost_usd
from jpo.errors import TelemetryError, UsageError
from jpo.forecast.evidence.plausibility import CODE as IMPLAUSIBLE
from jpo.forecast.evidence.plausibility import plausible
from jpo.forecast.track_record import track_record
from jpo.history import RecordedRun, Store, latest_start
from jpo.history.followed import followed_up
from jpo.history.undo import on_probation, pin_notes
from jpo.inventory.idle_gpus import diagnose
from jpo.project.left_out import by_cause
from jpo.project.project import Project
from jpo.project.sources import CSV, PROMETHEUS, caveats, logged, prometheus_of, why_nothing
from jpo.project.watermarks import Bookmark, read_on
from jpo.records import Evidence, Forecast, Identity, Known, Run, Skipped, Suggestion, TrackRecord
from jpo.telemetry import PrometheusSource
from jpo.wording import numbers

CLOCKS_DIFFER_SECONDS = 3600.0
"""Two machines that JPO runs on; waiting that long for a run to start is harmless."""
LEDGER_RUNS = 1000
"""Newest runs of a workload in which `jpo history` and `jpo explain` look for what its last forecasts came to."""
OTHER_RUNS = 1000
"""Newest runs on record among which those of other workloads are looked for."""

MOST_DOUBTED = 3
"""Runs with implausible values that a note names."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Result of asking every source.

    Attributes:
        fresh: runs that are new on record.
        notes: what the report must say, sentence -> reason code.
        silent: Prometheus answered, and reported nothing at all.
    """

    fresh: tuple[Run, ...]
    skipped: tuple[Skipped, ...]
    notes: Mapping[str, str]
    requests: int
    seconds: float
    silent: bool


def collect(job: Project, *, offline: bool = True, strict: bool = False, again_seconds: float | None = None) -> Known:
    """Ask every source for finished runs, put them on record, and say what is known of the workload now.

    Where Prometheus answers and there is no run at all, the report says why.

    Args:
        offline: ask no server; the store and CSV logs alone.
        strict: a source that cannot be read completely is an error.
        again_seconds: as in watermarks.read_on.

    Raises:
        UsageError: JPO-E306, there is no server to look at again.
        TelemetryError: JPO-E110, JPO-E117 or what the source raised, if `strict`.
    """
    store, identity = job.store, job.workload.identity
    server = None if offline else prometheus_of(job.settings)
    if again_seconds is not None and server is None:
        raise UsageError("--again", "asks Prometheus, and none is named", "name it with --prometheus-url", code="JPO-E306")
    asked = ask(server, job, strict=strict, again_seconds=again_seconds)
    on_file = on_record(store, identity)
    recorded, doubted, runs, siblings = on_file.recorded, on_file.doubted, on_file.runs, on_file.siblings
    notes = {**job.notes, **asked.notes, **on_other_hardware(siblings)}
    if server and asked.silent and not runs:
        notes |= why_nothing(server, identity, job.settings, now=job.now, seconds_spent=asked.seconds)
    if runs and (idle := diagnose(runs[-1], store.series_of(runs[-1]), runs)):
        notes[str(idle)] = idle.code
    notes |= without_energy(runs, job.prices)
    skipped = by_cause(asked.skipped)
    return Known(
        runs=runs,
        others=on_file.others,
        fresh=asked.fresh,
        followed_up=followed_up(store, recorded),
        untried=untried(store, identity, runs, now=job.now),
        last=on_probation(store, job.workload, runs),
        track=past_forecasts(store, recorded, job.prices),
        evidence=Evidence(len(runs), (*skipped, *doubted), asked.requests, asked.seconds, tuple(notes)),
        codes=tuple(
            dict.fromkeys((*notes.values(), *(run.code for run in skipped if run.code), *([IMPLAUSIBLE] if doubted else [])))
        ),
        siblings=siblings,
    )


@dataclass(frozen=True, slots=True)
class OnRecord:
    """Runs on record that count for a workload, oldest first, without what cannot be believed.

    Attributes:
        recorded: its own; `runs` are the same without what they followed.
        doubted: what was left out of them.
        siblings: newest ones of the same job on other hardware.
        others: newest ones of other workloads.
    """

    recorded: tuple[RecordedRun, ...]
    doubted: tuple[Skipped, ...]
    siblings: tuple[Run, ...]
    others: tuple[Run, ...]

    @property
    def runs(self) -> tuple[Run, ...]:
        return tuple(entry.run for entry in self.recorded)


def on_record(store: Store, identity: Identity) -> OnRecord:
    """What suggesting and learning know of a workload: both must read the same, or the agent would learn it anew each time."""
    recorded, doubted = believed(store.recorded_runs(identity))
    siblings = siblings_of(store, identity, [entry.run for entry in recorded])
    newest = [
        entry
        for entry in store.recorded_runs(limit=OTHER_RUNS)
        if entry.run.identity != identity and not entry.run.identity.is_sibling_of(identity)
    ]
    return OnRecord(recorded, doubted, siblings, tuple(entry.run for entry in believed(newest)[0]))


def believed(recorded: Sequence[RecordedRun]) -> tuple[tuple[RecordedRun, ...], tuple[Skipped, ...]]:
    """Runs on record as evidence: without values that cannot be, or that the other runs of their workload contradict; and what
    that was. It stays on record."""
    by_workload: dict[Identity, list[Run]] = {}
    for entry in recorded:
        by_workload.setdefault(entry.run.identity, []).append(entry.run)
    checked = {identity: plausible(runs) for identity, runs in by_workload.items()}
    doubted = tuple(skipped for _, some in checked.values() for skipped in some)
    if not doubted:
        return tuple(recorded), ()
    kept = {(run.identity, run.run_id): run for runs, _ in checked.values() for run in runs}
    entries = ((entry, kept.get((entry.run.identity, entry.run.run_id))) for entry in recorded)
    return tuple(replace(entry, run=run) for entry, run in entries if run), doubted


def siblings_of(store: Store, identity: Identity, runs: Sequence[Run]) -> tuple[Run, ...]:
    """The newest runs of the same job on other hardware, those that can be believed; one that is on record as this workload's,
    too, is no sibling's."""
    own = {run.run_id for run in runs}
    believable, _ = plausible([run for run in store.siblings_of(identity, limit=OTHER_RUNS) if run.run_id not in own])
    return tuple(believable)


def on_other_hardware(siblings: Sequence[Run]) -> dict[str, str]:
    """How many runs of the same job on which hardware count as well: sentence -> reason code."""
    if not siblings:
        return {}
    counted = Counter(run.identity.hardware or "hardware that is not named" for run in siblings)
    where = " and ".join(f"{numbers.counted(number, 'run')} on {hardware}" for hardware, number in counted.most_common())
    return {f"The same job on other hardware counts, too: {where}": "JPO-I119"}


def with_doubts_noted(known: Known) -> Known:
    """What is known, with a note for the runs of which something was left out: for reports that do not list skipped runs."""
    doubted = [run for run in known.evidence.runs_skipped if IMPLAUSIBLE in run.reason]
    if not doubted:
        return known
    more = f"; and {len(doubted) - MOST_DOUBTED} more runs" if len(doubted) > MOST_DOUBTED else ""
    note = "; ".join(f"run {run.run_id}: {run.reason}" for run in doubted[:MOST_DOUBTED]) + more
    return replace(known, evidence=replace(known.evidence, notes=(*known.evidence.notes, note)))


def with_file_noted(known: Known, job: Project) -> Known:
    """What is known, with a note for each value that a rollback pins, and for what else a change of this config.ini means."""
    notes = dict.fromkeys(pin_notes(job.workload), "JPO-I846") | dict(config.caveats(job.workload.path))
    evidence = replace(known.evidence, notes=(*known.evidence.notes, *notes))
    return replace(known, evidence=evidence, codes=(*known.codes, *dict.fromkeys(notes.values())))


def without_energy(runs: Sequence[Run], prices: Prices) -> Mapping[str, str]:
    """That costs are too low where a kWh has a price and runs did not measure their energy: sentence -> reason code."""
    if prices.usd_per_kwh is None:
        return {}
    if all(run.outcome.energy_joules is None for run in runs):
        return {"Cost is without energy, which has a price: no run has measured it": "JPO-W802"}
    lacking = sum(lacks_energy(run, prices) for run in runs)
    note = f"Energy has a price: {lacking} of {len(runs)} runs have not measured theirs and cost what they did without it"
    return {f"{note}; forecasts count what the others used per GPU": "JPO-W802"} if lacking else {}


def ask(server: PrometheusSource | None, job: Project, *, strict: bool, again_seconds: float | None) -> Asked:
    """Ask each source once; what it reports goes on record before the next one is asked."""
    store, identity, now = job.store, job.workload.identity, job.now
    fresh: list[Run] = []
    skipped: list[Skipped] = []
    notes = dict(caveats(server, job.settings))
    requests, seconds, silent = 0, 0.0, False
    for source in (CSV, PROMETHEUS) if server else (CSV,):
        mark = Bookmark(source)
        try:
            if source == PROMETHEUS and server:
                finished, mark = read_on(server, job, again_seconds=again_seconds)
            else:
                finished = logged(identity, job.settings, now=now)
            if strict and not finished.complete:
                unreadable = "; ".join(log.reason for log in finished.skipped)
                raise TelemetryError(source, f"a log cannot be read: {unreadable}", "fix or remove it", code="JPO-E110")
        except TelemetryError as error:
            if strict:
                raise
            notes[f"History not refreshed from {source} ({age(store, identity, now)}): {error} [{error.code}]"] = "JPO-W113"
            continue
        if mark.takes_over:
            store.take_over(identity, mark.takes_over, mark.source)
        recorded = store.record(finished, now=now, identity=identity, source=mark.source)
        fresh += [run for run in recorded if run.identity == identity]
        skipped += finished.skipped
        notes |= mark.notes
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
    for entry in recorded:
        if entry.suggestion_id and entry.run.ended_well:
            first.setdefault(entry.suggestion_id, entry.run)
    newest = [
        (made.next, replace(run.outcome, cost_usd=run_cost_usd(run.completed(made.suggested), prices)))
        for made, run in ((store.suggestion(suggestion_id), run) for suggestion_id, run in list(first.items())[-last:])
    ]
    records = []
    for quantity in (f.name for f in fields(Forecast)):
        pairs = [(getattr(forecast, quantity), getattr(outcome, quantity)) for forecast, outcome in newest]
        records.append(track_record(quantity, [(forecast, measured) for forecast, measured in pairs if forecast and measured]))
    return tuple(record for record in records if record)
