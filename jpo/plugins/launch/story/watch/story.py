"""The story of `jpo watch`: find the run, look at it again and again, say how it stands, decide, until it is over."""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from jpo.agent.horizon import horizon
from jpo.errors import JpoError, LaunchError, TelemetryError, UsageError
from jpo.plugins.launch.during.adjustment import Adjustment
from jpo.plugins.launch.during.release import releases, returns
from jpo.plugins.launch.during.stop import StopVerdict, verdict
from jpo.plugins.launch.engines import is_installed
from jpo.plugins.launch.job import RUN_ID, JobState, JobStatus, Needs
from jpo.plugins.launch.launcher import Launcher
from jpo.plugins.launch.ledger import Entry, entries, read
from jpo.plugins.launch.project.accounts import AWAY, accounted_for, looked_at
from jpo.plugins.launch.project.engines import launcher_of
from jpo.plugins.launch.project.finished import put_on_record
from jpo.plugins.launch.project.place import ledger_of
from jpo.plugins.launch.report.watch.launched import LaunchedRun, LaunchedRuns
from jpo.plugins.launch.report.watch.watched import WatchedRun
from jpo.plugins.launch.story.watch.deciding import Handle, WatchOptions, Window, decide, held_now, is_due, settle
from jpo.plugins.launch.story.watch.standing import ProjectTerms, progress_of, standing
from jpo.plugins.launch.watching import account
from jpo.plugins.launch.watching.observers import LaunchObserver, LogObserver, PrometheusObserver
from jpo.plugins.launch.watching.past import PastRuns, past_of
from jpo.plugins.launch.watching.seen import SeenRun
from jpo.project.load import LoadedSettings
from jpo.project.prices import currency_of, prices_of
from jpo.project.project import open_history, preference_of, targets_of
from jpo.project.running import running_now
from jpo.project.sources import own_names, prometheus_of
from jpo.project.workload import read_workload
from jpo.telemetry.contract import STALE_SECONDS
from jpo.telemetry.csv.follow import gone

SOONEST_SECONDS, LATEST_SECONDS = 1.0, 15.0
"""Between two looks at a run, the longer the less happens."""
UNKNOWN_RUN, NOT_OURS = "JPO-E780", "JPO-E781"


@dataclass(slots=True)
class RunWatch:
    """A run that is watched.

    Attributes:
        see: the run as it is at a moment; None: there is nothing of it yet.
        reach: None: JPO did not launch it, and cannot stop or resize it.
        log: the CSV log that is looked at; None: it is another observer.
        decided_at: the last epoch at the last decision.
    """

    see: Callable[[float], SeenRun | None]
    reach: Handle | None
    settings: LoadedSettings
    terms: ProjectTerms
    options: WatchOptions
    log: Path | None = None
    window: Window = field(default_factory=Window)
    past: PastRuns | None = None
    decided_at: float | None = None
    verdict: StopVerdict | None = None

    def observe(self, now: float, *, at_once: bool = False) -> WatchedRun | None:
        """How the run stands, and what was decided at this look, at once or when due; None: there is nothing of it yet."""
        seen = self.see(now)
        if seen is None:
            return None
        if self.past is None or seen.over or (self.past.samples_per_epoch is None and seen.samples_per_epoch is not None):
            with open_history(self.settings) as store:
                self.past = past_of(seen, store, self.settings, self.terms.prices, self.terms.preference)
        self.window.take(seen)
        progress = progress_of(seen, self.past, self.terms.prices)
        if seen.over:
            decisions = settle(seen, self.past, self.reach, self.terms.prices)
            return standing(seen, self.past, progress, self.terms, None, decisions)
        made: tuple[Adjustment, ...] = ()
        usual = self.past.usual_epochs or seen.epochs_planned
        asked = at_once or bool(progress and progress.diverged)
        if progress and seen.state is JobState.RUNNING and (asked or is_due(seen, self.decided_at, usual, self.options.every)):
            self.decided_at = seen.training.last_epoch or 0.0
            needed, serves = not self.options.trial, horizon(self.past.well, None)
            self.verdict = verdict(
                progress, self.past.rival, self.terms.preference, self.past.finished, needed=needed, horizon=serves
            )
            if self.verdict.stop:  # which releases all
                if not self.options.in_a_loop or progress.total_seconds or progress.diverged:
                    made = (Adjustment(seen.at, self.verdict.why, wins=self.verdict.wins, expected=self.verdict.saves),)
            elif not self.options.in_a_loop:
                before = account.read(self.reach.ledger, seen.run_id) if self.reach else []
                uses = self.window.uses(held_now(self._given(seen), before))
                made = tuple(returns(before, seen.epoch_times, now=seen.at))
                made = made or tuple(releases(uses, progress, seen.parameters, self.terms.prices, now=seen.at))
        decisions, held = decide(made, self.reach, self.options, now=now)
        return standing(seen, self.past, progress, self.terms, self.verdict, decisions, held)

    def _given(self, seen: SeenRun) -> Needs:
        if self.reach is not None:
            return self.reach.entry.job.needs
        cpus, memory = seen.parameters.get("cpus"), seen.parameters.get("memory_gib")
        return Needs(gpus=int(seen.parameters.get("gpus") or 0), cpus=cpus or None, memory_gib=memory or None)


@contextmanager
def watching(
    run: str | None, log: Path | None, config: Path, settings: LoadedSettings, options: WatchOptions, environ: Mapping[str, str]
) -> Iterator[RunWatch]:
    """The watch of a run, open as long as the context.

    Raises UsageError: JPO-E780, nothing is known of such a run; JPO-E781, --apply of one that JPO did not launch.
    """
    with open_history(settings):
        pass  # a store that cannot be used is reported now, not after hours
    entry = read(ledger_of(settings), run) if run is not None and RUN_ID.fullmatch(run) else None
    if log is None and entry is not None:
        with _launched(entry, launcher_for(entry, settings, environ), settings, options) as watch:
            yield watch
        return
    if options.apply:
        finding = "was not launched by JPO, which can neither stop it nor take anything from it"
        raise UsageError(str(log or run), finding, "leave out --apply, or start runs with `jpo run`", code=NOT_OURS)
    path = Path(run) if log is None and run is not None and (run.endswith(".csv") or "/" in run) else log
    observing = closing(LogObserver(path, own_names(settings))) if path else nullcontext(_measured(run or "", config, settings))
    with observing as observer:
        yield RunWatch(observer.observe, None, settings, _terms_of(settings), options, path)


@contextmanager
def _launched(entry: Entry, launcher: Launcher, settings: LoadedSettings, options: WatchOptions) -> Iterator[RunWatch]:
    ledger = ledger_of(settings)
    reach = Handle(entry, launcher, ledger, partial(open_history, settings))
    with closing(LaunchObserver(entry, launcher, ledger, settings)) as observer:
        yield RunWatch(observer.observe, reach, settings, _terms_of(settings), options)


@contextmanager
def trial(entry: Entry, launcher: Launcher, settings: LoadedSettings) -> Iterator[Callable[[float], WatchedRun | None]]:
    """Looks at a run that `jpo optimize` follows: nobody waits for its model, and all that is done to it is to stop it."""
    with _launched(entry, launcher, settings, WatchOptions(apply=True, trial=True, in_a_loop=True)) as watch:
        yield watch.observe


def _terms_of(settings: LoadedSettings) -> ProjectTerms:
    return ProjectTerms(prices_of(settings), currency_of(settings), targets_of(settings), preference_of(settings))


def launcher_for(entry: Entry, settings: LoadedSettings, environ: Mapping[str, str]) -> Launcher:
    """The engine on which a run was launched; LaunchError JPO-E753, there is none, or it cannot be used as it is set up."""
    place, finding = f"run {entry.job.run_id}", f"was launched on {entry.engine!r:.80}, an engine that"
    try:
        installed = is_installed(entry.engine)
    except UsageError as error:
        raise LaunchError(place, f"{finding} {error.finding}", error.remedy, code="JPO-E753") from error
    if not installed:
        finding += " this version of JPO does not have"
        raise LaunchError(place, finding, "watch it with the version that launched it", code="JPO-E753")
    return launcher_of(settings, entry.engine, environ=environ, detached=True)


def _measured(run: str, config: Path, settings: LoadedSettings) -> PrometheusObserver:
    """A run that Prometheus says goes on."""
    identity = read_workload(config, settings, now=0.0).identity
    server = prometheus_of(settings)
    with open_history(settings) as store:
        found = running_now(server, identity, settings, store)
    for running in found:
        if running.run_id == run:
            return PrometheusObserver(running, settings)
    named = ", ".join(each.run_id for each in found) or "none"
    where = f"Prometheus knows of {named} for {identity}" if server else "no Prometheus is named"
    finding = f"was not launched here, is not a CSV log, and {where}"
    raise UsageError(f"{run!r:.200}", finding, "`jpo watch` lists the runs; name a log with --csv", code=UNKNOWN_RUN)


def once(watch: RunWatch, *, now: float) -> WatchedRun:
    """How the run stands now; TelemetryError JPO-E111: there is no log yet, or no run in it."""
    found = watch.observe(now, at_once=True)
    if found is None:
        raise TelemetryError(str(watch.log), "has no run in it yet", "watch it without --once to wait for it", code="JPO-E111")
    return recorded(watch, found, now=now)


def follow(watch: RunWatch, *, clock: Callable[[], float], sleep: Callable[[float], None]) -> Iterator[WatchedRun]:
    """How the run stands, look by look, until it is over, once there is anything; TelemetryError JPO-E130: no log appeared."""
    pause, began = SOONEST_SECONDS, clock()
    before: WatchedRun | None = None
    while True:
        found = watch.observe(clock())
        if found is not None:
            found = recorded(watch, found, now=clock())
            yield found
            if found.seen.over:
                return
            pause = SOONEST_SECONDS if is_step(found, before) else min(LATEST_SECONDS, pause * 1.5)
            before = found
        elif watch.log is not None and clock() - began > STALE_SECONDS:
            raise gone(watch.log)
        sleep(pause)


def is_step(now: WatchedRun, before: WatchedRun | None) -> bool:
    """Whether there is something new to say: an epoch, a state, words, a decision, a verdict on the SLA."""
    return before is None or _news(now) != _news(before)


def _news(run: WatchedRun) -> tuple[object, ...]:
    seen = run.seen
    verdicts = [check.verdict for check in run.sla]
    return seen.state, seen.words, math.floor(seen.epochs_done or 0), run.decisions, run.held, verdicts


def recorded(watch: RunWatch, found: WatchedRun, *, now: float) -> WatchedRun:
    """A launched run that is over goes on record, if it is not yet; what is amiss with its log is among the warnings."""
    if watch.reach is None or found.seen.state is not JobState.ENDED:
        return found
    entry = read(watch.reach.ledger, found.seen.run_id)
    if entry is None or entry.recorded or entry.end is None:
        return found
    with open_history(watch.settings) as store:
        ended = put_on_record(entry, watch.reach.ledger, watch.settings, store, now=now)
    return replace(found, warnings=tuple(dict.fromkeys((*found.warnings, *ended.notes))))


def listed(config: Path | None, settings: LoadedSettings, environ: Mapping[str, str], *, now: float) -> LaunchedRuns:
    """The runs of the ledger, and those of config.ini's workload (None: of none) that Prometheus says go on; what has ended goes
    on record.

    An engine, server or entry that cannot be read is a note, no error.
    """
    notes, ledger = list[str](), ledger_of(settings)
    found_now = _looked_at(ledger, settings, environ, notes)
    try:
        if any(entry.end is not None and not entry.recorded for entry, _ in found_now):
            with open_history(settings) as store:
                accounted_for(settings, store, environ, now=now, engines=())
    except JpoError as error:
        notes.append(error.in_short)
    runs = [_line(read(ledger, entry.job.run_id) or entry, status) for entry, status in found_now]
    launched = {run.run_id for run in runs}
    try:
        with open_history(settings, read_only=True) as store:
            identity = read_workload(config, settings, now=0.0).identity if config else None
            found = running_now(prometheus_of(settings), identity, settings, store) if identity else ()
        runs += [
            LaunchedRun(run.run_id, run.identity, "prometheus", "running", run.started_at, share_done=run.share_done)
            for run in found
            if run.run_id not in launched
        ]
    except (TelemetryError, UsageError) as error:
        notes.append(error.in_short)
    return LaunchedRuns(tuple(runs), tuple(dict.fromkeys(notes)))


def _looked_at(
    ledger: Path, settings: LoadedSettings, environ: Mapping[str, str], notes: list[str]
) -> list[tuple[Entry, JobStatus | None]]:
    """Launched runs, the newest last, each with how it goes, if its engine says; one that cannot be asked is asked once."""
    launchers, found = dict[str, Launcher | None](), list[tuple[Entry, JobStatus | None]]()
    known = entries(ledger, lambda error: notes.append(error.in_short))
    for entry in sorted(known, key=lambda entry: entry.asked_at):
        status = entry.end
        try:
            if status is None and entry.engine not in launchers:
                launchers[entry.engine] = None
                launchers[entry.engine] = launcher_for(entry, settings, environ)
            launcher = launchers.get(entry.engine)
            if status is None and launcher is not None:
                entry, status = looked_at(entry, launcher, ledger)
        except (LaunchError, UsageError) as error:
            notes.append(error.in_short)
            if error.code in AWAY:
                launchers[entry.engine] = None
        found.append((entry, status))
    return found


def _line(entry: Entry, status: JobStatus | None) -> LaunchedRun:
    """A launched run: as the ledger has it, or, if it goes on, as its engine says."""
    state, words, job = "launched", "", entry.job
    if entry.end is not None:
        state = f"ended: {entry.end.ended_as.replace('_', ' ')}" if entry.end.ended_as else entry.end.state.value
        words = entry.end.reason
    elif status is not None:
        state, words = status.state.value, status.reason
    elif entry.engine_id is None:
        words = "never submitted, or the process that submitted it was killed"
    return LaunchedRun(job.run_id, job.identity, entry.engine, state, entry.asked_at, words, recorded=entry.recorded)
