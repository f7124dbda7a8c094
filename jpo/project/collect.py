"""Collection of evidence: every source of finished runs is asked, and what it reports goes on record.

The sources themselves are in sources.py. A source that cannot be read is no error unless `strict`; the report says so.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from jpo import config
from jpo.cost import Prices, lacks_energy, run_cost_usd
from jpo.errors import TelemetryError, UsageError
from jpo.forecast.calibration import track_record
from jpo.forecast.evidence.plausibility import CODE as IMPLAUSIBLE
from jpo.forecast.evidence.plausibility import plausible
from jpo.history import RecordedRun, Store, latest_start
from jpo.history.following.contradictions import LOOKED_BACK, behind, contradictions
from jpo.history.following.followers import followed_up, trials
from jpo.history.following.labelled_pods import counted_once
from jpo.history.following.other_histories import unknown_suggestions
from jpo.history.undo import on_probation, pin_notes
from jpo.http.endpoint import Endpoint
from jpo.inventory.idle_gpus import diagnose
from jpo.project.plugins.hooks import from_plugins
from jpo.project.project import Project
from jpo.project.sources import CSV, PROMETHEUS, caveats, logged, only_others, prometheus_of, why_nothing
from jpo.project.unreported import Placed, labelled_pod_notes, placed, unmeasured, unreported
from jpo.project.watermarks import Bookmark, read_on
from jpo.records import (
    FORECAST,
    Evidence,
    Finished,
    Identity,
    Known,
    Note,
    Preference,
    Run,
    Skipped,
    Suggestion,
    TrackRecord,
    Workload,
    codes_of,
)
from jpo.records.runs import Implausible, by_workload
from jpo.telemetry.diagnosis import near_identical
from jpo.telemetry.doubts import by_cause
from jpo.wording import numbers
from jpo.wording.contradictions import sentences

CLOCKS_DIFFER_SECONDS = 3600.0
"""Two machines that JPO runs on; waiting that long for a run to start is harmless."""
LEDGER_RUNS = 1000
"""Newest runs of a workload in which `jpo history` and `jpo explain` look for what its last forecasts came to."""
OTHER_RUNS = 1000
"""Newest runs on record among which those of other workloads are looked for."""
FORECASTS_COMPARED = 10
"""Newest followed suggestions whose forecasts are held against what came of them."""
MOST_DOUBTED = 3
"""Runs with implausible values that a note names."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Result of asking every source.

    Attributes:
        fresh: runs that are new on record.
        notes: what the report must say.
        silent: Prometheus answered, and reported nothing at all.
        elsewhere: how many runs of other workloads CSV logs hold.
    """

    fresh: tuple[Run, ...]
    skipped: tuple[Skipped, ...]
    notes: tuple[Note, ...]
    requests: int
    seconds: float
    silent: bool
    elsewhere: Mapping[Identity, int]


def collect(job: Project, *, offline: bool = True, strict: bool = False, again_seconds: float | None = None) -> Known:
    """Ask every source for finished runs, put them on record, and say what is known of the workload now.

    Args:
        offline: ask no server; the store and CSV logs alone.
        strict: a source that cannot be read completely is an error.
        again_seconds: as in watermarks.read_on.

    Raises UsageError: JPO-E306, there is no server to look at again; TelemetryError: JPO-E110, JPO-E117 or what the source
    raised, if `strict`.
    """
    store, identity = job.store, job.workload.identity
    server = None if offline else prometheus_of(job.settings)
    if again_seconds is not None and server is None:
        raise UsageError("--again", "asks Prometheus, and none is named", "name it with --prometheus-url", code="JPO-E306")
    asked = ask(server, job, strict=strict, again_seconds=again_seconds)
    on_file = on_record(store, job.workload)
    recorded, doubted, runs, siblings = on_file.own.recorded, on_file.doubted, on_file.runs, on_file.siblings
    notes = [*job.notes, *asked.notes, *on_other_hardware(on_file.on_hardware), *on_file.own.notes]
    if server and asked.silent and not runs:
        notes += why_nothing(server, identity, job.settings, now=job.now, seconds_spent=asked.seconds)
    if not runs:
        notes += only_others(asked.elsewhere, identity)
    if runs and (idle := diagnose(runs[-1], store.series_of(runs[-1]), runs)):
        notes.append(idle)
    notes += without_energy(runs, job.prices, job.preference)
    notes += labelled_pod_notes(job.settings.values, runs)
    notes += unreported(job.workload, runs)
    notes += unmeasured(job.settings.values, runs)
    respelt = near_identical.sentences(identity, Counter(run.identity for run in on_file.others), "on record")
    joined = {note.about for note in notes if note.code == near_identical.NEAR_IDENTICAL}
    notes += (note for note in respelt if note.about not in joined)
    contradicted = contradictions(store, identity, job.workload.current, recorded if job.workload.aliases else None)
    notes += sentences(contradicted, job.workload.current)
    skipped = by_cause(asked.skipped)
    of_runs = (*(run.code for run in skipped if run.code), *([IMPLAUSIBLE] if doubted else []))
    told = tuple(dict.fromkeys(notes))
    codes = tuple(dict.fromkeys((*codes_of(told), *of_runs)))
    return Known(
        runs=runs,
        others=on_file.others,
        fresh=asked.fresh,
        followed_up=followed_up(store, recorded),
        trials=trials(store, recorded),
        untried=untried(store, identity, runs, now=job.now),
        last=on_probation(store, job.workload, runs, contradicted.reaches),
        track=past_forecasts(store, recorded, job.prices),
        evidence=Evidence(len(runs), (*skipped, *doubted), asked.requests, asked.seconds, told, codes=codes),
        siblings=siblings,
        reaches=contradicted.reaches,
    )


@dataclass(frozen=True, slots=True)
class OnRecord:
    """Runs on record that count for a workload, oldest first, without what cannot be believed.

    Attributes:
        doubted: what was left out of them.
        on_hardware: newest ones of the same job on other hardware.
        own: its own, by what is known of their parameters; `runs` are those of which all is known.
        others: newest ones of other workloads.
    """

    doubted: tuple[Skipped, ...]
    on_hardware: tuple[Run, ...]
    own: Placed
    others: tuple[Run, ...]

    @property
    def siblings(self) -> tuple[Run, ...]:
        """Runs of the same job under other conditions."""
        return (*self.on_hardware, *self.own.elsewhere)

    @property
    def runs(self) -> tuple[Run, ...]:
        return tuple(entry.run for entry in self.own.recorded)


def on_record(store: Store, workload: Workload) -> OnRecord:
    """What suggesting and learning know of a workload, under each of its names: both must read the same, or the agent would learn
    it anew each time."""
    identity, aliases = workload.identity, workload.aliases
    recorded, doubted = believed(counted_once(under_all_names(store, identity, aliases)))
    siblings = siblings_of(store, identity, [entry.run for entry in recorded])
    own = placed(recorded, store, workload)
    job = (identity.dataset, identity.model, identity.framework)
    newest = ((run, run.identity) for run in newest_of_all(store))
    others = [run for run, of in newest if (of.dataset, of.model, of.framework) != job and of not in aliases]
    return OnRecord(doubted, siblings, own, tuple(others))


def newest_of_all(store: Store) -> tuple[Run, ...]:
    """The newest runs of all workloads that can be believed, oldest first; read once for several config.ini."""
    if "newest" not in store.derived:
        newest = [entry.run for entry in store.recorded_runs(limit=OTHER_RUNS)]
        kept = {(run.identity, run.run_id): run for some in by_workload(newest).values() for run in plausible(some)[0]}
        store.derived["newest"] = tuple(kept[key] for run in newest if (key := (run.identity, run.run_id)) in kept)
    return store.derived["newest"]  # type: ignore[no-any-return]


def under_all_names(store: Store, identity: Identity, aliases: Collection[Identity]) -> Sequence[RecordedRun]:
    """A workload's runs on record under each of its names, as its own, oldest first; one that is there under two counts once."""
    own = store.recorded_runs(identity)
    if not aliases:
        return own
    suggestions = store.suggestions_of(identity, limit=LOOKED_BACK)
    known = {entry.run.run_id for entry in own}
    joined = list(own)
    for alias in aliases:
        for entry in store.recorded_runs(alias):
            if entry.run.run_id not in known:
                known.add(entry.run.run_id)
                run = replace(entry.run, identity=identity)
                joined.append(replace(entry, run=run, suggestion_id=behind(run, suggestions)))
    return sorted(joined, key=lambda entry: (entry.run.ended_at, entry.run.run_id))


def believed(recorded: Sequence[RecordedRun]) -> tuple[tuple[RecordedRun, ...], tuple[Skipped, ...]]:
    """Runs of one workload as evidence: without values that cannot be, or that its other runs contradict; and what that was. It
    stays on record."""
    runs, doubted = plausible([entry.run for entry in recorded])
    if not doubted:
        return tuple(recorded), ()
    kept = {run.run_id: run for run in runs}
    return tuple(replace(entry, run=kept[entry.run.run_id]) for entry in recorded if entry.run.run_id in kept), doubted


def siblings_of(store: Store, identity: Identity, runs: Sequence[Run]) -> tuple[Run, ...]:
    """The newest runs of the same job on other hardware, those that can be believed; one that is on record as this workload's,
    too, is no sibling's."""
    own = {run.run_id for run in runs}
    believable, _ = plausible([run for run in store.siblings_of(identity, limit=OTHER_RUNS) if run.run_id not in own])
    return tuple(believable)


def on_other_hardware(siblings: Sequence[Run]) -> tuple[Note, ...]:
    """How many runs of the same job on which hardware count as well."""
    if not siblings:
        return ()
    counted = Counter(run.identity.hardware or "hardware that is not named" for run in siblings)
    where = " and ".join(f"{numbers.counted(number, 'run')} on {hardware}" for hardware, number in counted.most_common())
    return (Note("JPO-I119", f"The same job on other hardware counts, too: {where}"),)


def with_doubts_noted(known: Known) -> Known:
    """What is known, with a note for the runs of which something was left out: for reports that do not list skipped runs."""
    doubted = [run for run in known.evidence.runs_skipped if isinstance(run, Implausible)]
    if not doubted:
        return known
    more = f"; and {len(doubted) - MOST_DOUBTED} more runs" if len(doubted) > MOST_DOUBTED else ""
    note = "; ".join(f"run {run.run_id}: {run.reason}" for run in doubted[:MOST_DOUBTED]) + more
    return with_notes(known, [Note("doubted runs", note)])


def with_file_noted(known: Known, job: Project) -> Known:
    """What is known, with a note for each value that a rollback pins, and for what else a change of this config.ini means."""
    return with_notes(known, (*pin_notes(job.workload), *config.caveats(job.workload.path)))


def with_notes(known: Known, notes: Iterable[Note]) -> Known:
    """What is known, with what the report must say besides."""
    return replace(known, evidence=known.evidence.noting(notes))


def without_energy(runs: Sequence[Run], prices: Prices, preference: Preference) -> tuple[Note, ...]:
    """That costs are too low where a kWh has a price and runs did not measure their energy, or that it is weighed unseen."""
    if preference.energy and all(run.outcome.energy_joules is None for run in runs):
        return (Note("JPO-W802", "Energy is weighed, and no run has measured it: hours, GPUs and CPUs count instead"),)
    if prices.usd_per_kwh is None:
        return ()
    if all(run.outcome.energy_joules is None for run in runs):
        return (Note("JPO-W802", "Cost is without energy, which has a price: no run has measured it"),)
    lacking = sum(lacks_energy(run, prices) for run in runs)
    note = f"Energy has a price: {lacking} of {len(runs)} runs have not measured theirs and cost what they did without it"
    return (Note("JPO-W802", f"{note}; forecasts count what the others used per GPU"),) if lacking else ()


def ask(server: Endpoint | None, job: Project, *, strict: bool, again_seconds: float | None) -> Asked:
    """Ask each source once; what it reports goes on record before the next one is asked, of many logs part by part."""
    store, identity, now = job.store, job.workload.identity, job.now
    names = (identity, *job.workload.aliases)
    of_plugins = from_plugins(job.settings, store, now=now, keep=job.keeps)
    fresh = [run for run in of_plugins.runs if run.identity in names]
    notes = [*caveats(server, job.settings), *of_plugins.doubts]
    skipped, elsewhere = list[Skipped](), Counter[Identity]()
    requests, seconds, answers = 0, 0.0, list[bool]()
    for source, name in [(CSV, identity), *((PROMETHEUS, name) for name in names if server)]:
        mark = Bookmark(source)
        try:
            if source == PROMETHEUS and server:
                answer, mark = read_on(server, job.under(name), again_seconds=again_seconds)
                parts: Iterable[Finished] = (answer,)
            else:
                parts = logged(job.workload, job.settings, store, now=now, strict=strict, keep=job.keeps)
        except TelemetryError as error:
            if strict:
                raise
            runs = store.runs_of(name)
            age = f"newest run on record: {(now - runs[-1].ended_at) / 86400:.1f} days old" if runs else "no run on record"
            finding = f"History not refreshed from {source} ({age}): {error} [{error.code}]"
            notes.append(Note("JPO-W113", finding, source))
            continue
        if mark.takes_over:
            store.take_over(name, mark.takes_over, mark.source)
        notes += mark.notes
        for finished in parts:
            recorded = store.record(finished, now=now, identity=name, source=mark.source)
            fresh += [run for run in recorded if run.identity in names]
            notes += unknown_suggestions(store, recorded)
            skipped += finished.skipped
            elsewhere.update(finished.elsewhere)
            notes += finished.doubts
            if finished.unread:
                notes.append(cut_short(source, finished.unread, strict=strict))
            answers += [bool(finished.runs or finished.skipped or finished.unread)] if finished.requests else []
            requests, seconds = requests + finished.requests, seconds + finished.seconds
    silent = bool(answers) and not any(answers)
    return Asked(tuple(fresh), tuple(skipped), tuple(notes), requests, seconds, silent, elsewhere)


def cut_short(source: str, unread: str, *, strict: bool) -> Note:
    """What the report says of a look that did not come to its end; if `strict`, that is TelemetryError JPO-E117.

    What was read is on record, and the next look goes on from there.
    """
    if strict:
        raise TelemetryError(source, unread, "run again, or raise --timeout", code="JPO-E117")
    return Note("JPO-W117", f"{source.capitalize()} was {unread}", source)


def untried(store: Store, identity: Identity, runs: tuple[Run, ...], *, now: float) -> Suggestion | None:
    """The newest suggestion that changed something, if no run has started and ended since, by its node's clock, or has its name.

    One that a clock far ahead of ours has dated is left aside: no run would start after it before that date.
    """
    newest = store.newest_change(identity)
    if newest is None or newest.created_at > now + CLOCKS_DIFFER_SECONDS:
        return None
    return None if any(newest.suggestion_id == run.run_id or latest_start(run) >= newest.created_at for run in runs) else newest


def past_forecasts(store: Store, recorded: Sequence[RecordedRun], prices: Prices) -> tuple[TrackRecord, ...]:
    """How the last forecasts turned out: each held against the first run that followed its suggestion and ended well.

    Forecasts are of runs that end well: what failed is no miss of theirs. A cost that was not measured is the run's time at the
    prices of today; what the run does not report of its parameters was as suggested.
    """
    first: dict[str, Run] = {}
    for entry in recorded:
        if entry.suggestion_id and entry.run.ended_well:
            first.setdefault(entry.suggestion_id, entry.run)
    followed = [(store.suggestion(made), run) for made, run in list(first.items())[-FORECASTS_COMPARED:]]
    newest = [
        (made.next, replace(run.outcome, cost_usd=run_cost_usd(run.completed(made.values.suggested), prices)))
        for made, run in followed
    ]
    records = []
    for quantity in dict.fromkeys((*FORECAST, *(name for forecast, _ in newest for name in forecast.metrics))):
        pairs = [(forecast.of(quantity), outcome.of(quantity)) for forecast, outcome in newest]
        records.append(track_record(quantity, [(forecast, measured) for forecast, measured in pairs if forecast and measured]))
    return tuple(record for record in records if record)
