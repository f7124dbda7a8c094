"""What earlier runs say about one that goes on: the run to beat, the baseline, what runs like it took, their learning curves."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from statistics import fmean, median

import numpy as np

from jpo.agent.preference import scalarise
from jpo.cost import Prices, run_cost_usd
from jpo.errors import TelemetryError
from jpo.forecast.curves.curve import Curve, curve_of
from jpo.forecast.evidence.work import ALIKE
from jpo.history import Store, latest_start
from jpo.history.figures import usual_values
from jpo.history.undo import in_effect, last_in_force
from jpo.plugins.launch.during.progress import Rival
from jpo.plugins.launch.project.place import ledger_of
from jpo.plugins.launch.watching.seen import SeenRun
from jpo.project.load import LoadedSettings
from jpo.project.request import qualities_of, quality_of
from jpo.project.running import PAST_RUNS
from jpo.project.sources import own_names
from jpo.records import Preference, Quality, Run, RunStatus, Suggestion, same
from jpo.telemetry.csv.folder import log_files
from jpo.telemetry.csv.lines import Log
from jpo.telemetry.csv.log import parsed

BASELINE_RUNS = 3
"""Newest runs before the change, or with the same configuration, that are the baseline: one may have been unlucky."""
NEWEST_WELL = 20
"""Newest runs that ended well, by which it is told whether a target ends them."""
SAME_DATA = 1.05
"""Ratio of samples in an epoch up to which the data are the same: a last batch that is left out is no change."""
MOST_LOGS, MOST_TRIED = 60, 300
"""Newest logs of the workload whose learning curves are read, among so many of all."""


@dataclass(frozen=True, slots=True)
class PastRuns:
    """What earlier runs of its workload say about a run.

    Attributes:
        quality: by which its models are judged.
        rival: the run to beat; None: none ended well.
        baseline: the runs that it is compared with, oldest first, each with its cost; empty: there are none.
        basis: which these are, in words.
        alike: seconds and epochs of runs with the same configuration that ended well, oldest first.
        finished: learning curves of runs that came to their end; `baseline_curve`: that of the newest run of the baseline.
        well: how many runs ended well.
        has_target: runs of the job end before their last epoch, at a target of its own.
        samples_per_epoch: how large the data of the run are, to which all times and costs are scaled; None: not known yet.
    """

    quality: Quality
    rival: Rival | None = None
    baseline: tuple[tuple[Run, float | None], ...] = ()
    basis: str = ""
    alike: tuple[tuple[float, float | None], ...] = ()
    finished: tuple[Curve, ...] = ()
    baseline_curve: tuple[tuple[float, float], ...] = ()
    well: int = 0
    has_target: bool = False
    samples_per_epoch: float | None = None

    @property
    def usual_epochs(self) -> float | None:
        """After how many epochs runs reach the target that ends them; None: they have none, or no curve tells."""
        return median(curve.epochs[-1] for curve in self.finished) if self.has_target and self.finished else None


def past_of(seen: SeenRun, store: Store, settings: LoadedSettings, prices: Prices, preference: Preference) -> PastRuns:
    """What is on record of the workload of a run, and in the logs that settings and the ledger name."""
    recorded = [entry for entry in store.recorded_runs(seen.identity, limit=PAST_RUNS) if entry.run.run_id != seen.run_id]
    usual = usual_values([entry.run for entry in recorded]).get(seen.identity, {})
    runs = [entry.run.completed(usual) for entry in recorded]
    qualities = qualities_of(settings, runs)
    quality = quality_of(settings, runs, qualities)
    if not any(quality.judges(run.outcome) for run in runs) and not seen.curve(quality):
        quality = next((each for each in qualities if seen.curve(each)), quality)
    well = [run for run in runs if run.ended_well]
    samples, from_zero = seen.samples_per_epoch, seen.epochs.from_zero
    data = {run.run_id: data_ratio(samples, run, from_zero=from_zero) for run in well}
    costs = {run.run_id: None if (usd := run_cost_usd(run, prices)) is None else usd * data[run.run_id] for run in well}
    baseline, basis = _baseline(seen, well, last_in_force(in_effect(store, seen.identity, recorded)))
    logs = {log.run_id: log for log in islice(_logs(seen, settings), MOST_LOGS)}
    curves = {run_id: quality.errors_of(log.curves.get(quality.name, ())) for run_id, log in logs.items()}
    known = [run for run in well if run.run_id in curves and 1 / ALIKE <= data[run.run_id] <= ALIKE]
    as_now = [_as_of(run, data) for run in well]
    rival = best_of(as_now, costs, quality, preference)
    return PastRuns(
        quality,
        rival and replace(rival, usual=usual_of(as_now, costs, rival, preference)),
        tuple((_as_of(run, data), costs[run.run_id]) for run in baseline),
        f"{basis}, scaled to the data of this one" if any(data[run.run_id] != 1 for run in baseline) else basis,
        tuple(
            (seconds * data[run.run_id], run.outcome.epochs)
            for run in _alike(seen, well)
            if (seconds := run.outcome.duration_seconds)
        ),
        tuple(curve for run in known if (curve := curve_of(curves[run.run_id]))),
        tuple(logs[baseline[-1].run_id].curves.get(quality.name, ())) if baseline and baseline[-1].run_id in logs else (),
        len(well),
        any(_ended_early(run) for run in well[-NEWEST_WELL:]),
        samples,
    )


def data_ratio(samples_per_epoch: float | None, run: Run, *, from_zero: bool) -> float:
    """How many times as large the data of a run that goes on are as an earlier one's were; 1 also where nobody knows.

    An epoch over twice the data takes twice as long and teaches as much as two: that is no slower configuration.
    """
    then, epochs = run.outcome.samples, (run.outcome.epochs or 0.0) + from_zero
    ratio = samples_per_epoch * epochs / then if samples_per_epoch and then and epochs else 1.0
    return 1.0 if 1 / SAME_DATA < ratio < SAME_DATA else ratio


def _as_of(run: Run, data: Mapping[str, float]) -> Run:
    """The run as it would have been with as much data as the one that goes on: its time is scaled."""
    seconds, ratio = run.outcome.duration_seconds, data[run.run_id]
    return run if seconds is None or ratio == 1 else replace(run, outcome=replace(run.outcome, duration_seconds=seconds * ratio))


def _ended_early(run: Run) -> bool:
    done, planned = run.outcome.epochs, run.parameters.get("epochs")
    return done is not None and planned is not None and done < planned - 1  # where the first is epoch 0, the last is one less


def best_of(runs: Sequence[Run], costs: dict[str, float | None], quality: Quality, preference: Preference) -> Rival | None:
    """The run to beat: the best of those that ended well, by the agent's objective, against the first of them.

    Where energy counts, time stands for it: the energy of a run that still goes is not known.
    """
    rivals = [
        Rival(
            run.run_id, seconds, None if preference.energy else costs[run.run_id], quality.error_of(run.outcome.of(quality.name))
        )
        for run in runs
        if (seconds := run.outcome.duration_seconds)
    ]
    rivals = [rival for rival in rivals if rival.error is not None] or rivals  # how good the others are nobody knows
    if not rivals:
        return None
    first = rivals[0]
    time = np.array([math.log(rival.seconds / first.seconds) for rival in rivals])
    cost = np.array([_log_ratio(rival.usd, first.usd) for rival in rivals])
    loss = np.array([_log_ratio(rival.error, first.error) for rival in rivals])
    cost, loss = np.where(np.isnan(cost), time, cost), np.where(np.isnan(loss), 0.0, loss)
    return rivals[int(np.argmin(scalarise(time, cost, np.zeros_like(time), loss, preference)))]


def usual_of(runs: Sequence[Run], costs: dict[str, float | None], rival: Rival, preference: Preference) -> float:
    """What runs of the best configuration take and cost on average, in runs of the rival, as the preference weighs the two."""
    weight = preference.time + preference.cost
    share = preference.cost / weight if weight else 0.0
    spent: dict[tuple[tuple[str, float], ...], list[float]] = {}
    for run in runs:
        time, money = _log_ratio(run.outcome.duration_seconds, rival.seconds), _log_ratio(costs[run.run_id], rival.usd)
        if math.isfinite(time):
            spent.setdefault(tuple(sorted(run.parameters.items())), []).append(
                (1 - share) * time + share * (time if math.isnan(money) else money)
            )
    return math.exp(min(map(fmean, spent.values()), default=0.0))


def _log_ratio(ours: float | None, theirs: float | None) -> float:
    return math.log(ours / theirs) if ours and theirs and ours > 0 and theirs > 0 else math.nan


def _alike(seen: SeenRun, runs: Sequence[Run]) -> list[Run]:
    """Those with the configuration of the run, as far as both report it."""
    return [run for run in runs if run.parameters and seen.parameters and same(run.parameters, seen.parameters)]


def _baseline(seen: SeenRun, runs: Sequence[Run], change: Suggestion | None) -> tuple[list[Run], str]:
    """The last runs before the change with which the run began, else the last with its configuration, else the last of all."""
    if change is not None and change.created_at <= (seen.times.started_at or seen.at):
        before = [run for run in runs if latest_start(run) < change.created_at]
        if before:
            return before[-BASELINE_RUNS:], "the last runs before the change"
    if alike := _alike(seen, runs):
        return alike[-BASELINE_RUNS:], "the last runs with the same configuration"
    return [*runs[-1:]], "the last run" if runs else ""


def _logs(seen: SeenRun, settings: LoadedSettings) -> Iterator[Log]:
    """Logs of finished runs of the same workload, those that were written last first."""
    folders = [Path(pattern) for pattern in settings.csv_logs]
    paths = [*log_files([*folders, str(ledger_of(settings) / "*" / "runs" / "*.csv")])]
    newest = sorted((path for path in paths if path.is_file()), key=lambda path: -path.stat().st_mtime)
    for path in newest[:MOST_TRIED]:
        try:
            log = parsed(path, own_names(settings).metrics)
            if log.identity == seen.identity and log.closed and log.head["status"] == RunStatus.SUCCEEDED:
                yield log
        except TelemetryError:
            continue  # whoever records runs says what is wrong with it
