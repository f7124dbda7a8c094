"""Duration at every candidate, from durations, and where samples were counted from speed and work told apart.

duration = work x seconds per sample. A measured throughput says how fast a configuration is even if its run failed or was
stopped, and how many samples a run needed says how well it learns, whatever hardware it had. A job of fixed work takes equally
long with any learning rate: such candidates are one group here.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

import numpy as np

from jpo.forecast.curves.curve import FEWEST_EPOCHS
from jpo.forecast.discrepancy import TIME_TAU, AdjustedParticles, Discrepancy, adjusted
from jpo.forecast.evidence.groups import Groups, MeasuredQuantity, groups_without
from jpo.forecast.evidence.stopped import beyond, samples_needed
from jpo.forecast.evidence.work import Work, epochs_asked, samples_of, usual_samples_per_epoch
from jpo.forecast.measurements import (
    NO_MEASUREMENTS,
    CandidateRun,
    End,
    by_end,
    logs_by_row,
    lower_bounds_of,
    measurements_of,
    within_reach,
)
from jpo.records import Candidates, Draws, Floats, Ints

NOISE, NOISE_RUNS = 0.06, 4.0
"""Prior sd of ln duration between equal runs, and how many degrees of freedom it counts."""
_ROUNDS = 20
"""Of expectation maximisation: it changes nothing any more in the third digit."""
_LEAST_SHARE = 0.2
"""Share of the usual work from which on a run that did not end well says how fast it was: before, it was busy with starting."""
SLOW = 2.0
"""Times the longest epoch of any run that ended well, from which on one is slow."""
WITH_LOG = "csv"
"""Source of runs of which a log shows that they had begun to train."""
_STATISTICAL = "learning_rate"
"""The parameter that changes what is learnt, and no step's time."""


def groups_of(candidates: Candidates, work: Work) -> Groups:
    """Groups of candidates that take equally long: each its own time unless the work is fixed."""
    return groups_without(candidates, (_STATISTICAL,) if work is Work.FIXED else ())


def noise_of(
    succeeded: Sequence[CandidateRun],
    value: Callable[[CandidateRun], float | None],
    before: float = NOISE,
    longer: Sequence[CandidateRun] = (),
    *,
    freedom: float = NOISE_RUNS,
) -> float:
    """Standard deviation of the ln of a quantity between equal runs, pooled over candidates with a prior; a single odd run counts
    as in measurements.py.

    `before`: the prior's, which counts so many degrees of `freedom`. `longer`: runs that would have come to more than they did.
    Without them the noise would be that of the lucky ones.

    Source: Tobin, "Estimation of Relationships for Limited Dependent Variables", Econometrica 1958, by expectation maximisation.
    """
    logs, bounds = logs_by_row(succeeded, value), logs_by_row(longer, value)
    repeated = [
        (within_reach(known), bounds.get(row, [])) for row, known in logs.items() if len(known) + len(bounds.get(row, [])) > 1
    ]
    together = freedom + sum(len(known) + len(cut) - 1 for known, cut in repeated)
    noise = before
    for _ in range(_ROUNDS if bounds else 1):
        noise = math.sqrt((freedom * before**2 + sum(_squares(known, cut, noise) for known, cut in repeated)) / together)
    return noise


def _squares(known: Sequence[float], bounds: Sequence[float], noise: float) -> float:
    """Expected sum of squares around the mean of equal runs, of which some came to more than their bounds."""
    mean = fmean(known)
    for _ in range(_ROUNDS if bounds else 0):
        mean = fmean([*known, *(mean + noise * beyond((bound - mean) / noise) for bound in bounds)])
    apart = [(bound - mean) / noise for bound in bounds]
    return sum((log - mean) ** 2 for log in known) + noise**2 * sum(1 + each * beyond(each) for each in apart)


def seconds_of(run: CandidateRun) -> float | None:
    return run.outcome.duration_seconds


@dataclass(frozen=True, eq=False, slots=True)
class MeasuredDurations:
    """What the runs say of the duration of each candidate.

    `seconds`: at groups of candidates that take equally long; `runs`: by their ends, with the rows of the groups.
    """

    seconds: MeasuredQuantity
    work: Work
    runs: Mapping[End, Sequence[CandidateRun]]

    @property
    def noise(self) -> float:
        """sd of ln duration between equal runs."""
        return self.seconds.discrepancy.noise

    @property
    def count(self) -> "Ints | None":
        """How many runs that ended well say how long each candidate takes, (K,); None: those that ran it."""
        groups = self.seconds.groups
        if groups.single:
            return None
        rows = [run.row for run in self.runs[End.WELL]]
        return np.bincount(np.array(rows, dtype=np.int64), minlength=len(groups.first))[groups.of].astype(np.int64)

    def adjusted(self, draws: Draws) -> AdjustedParticles:
        """Particles of the duration at every candidate, adjusted to the runs."""
        well = self.runs[End.WELL]
        timed = [run for run in well if seconds_of(run)]
        if draws.log_throughput is not None and timed and all(samples_of(run.run) for run in timed):
            return self.seconds.expanded(_by_speed_and_work(self, draws.log_time, draws.log_throughput))
        return self.seconds.adjusted(draws.log_time)


def measured_durations(candidates: Candidates, candidate_runs: Sequence[CandidateRun], work: Work) -> MeasuredDurations:
    groups = groups_of(candidates, work)
    runs = by_end(groups.runs(candidate_runs))
    seconds = measurements_of(runs[End.WELL], seconds_of)
    bounds = lower_bounds_of(censored(runs), seconds_of) if seconds.rows.size else NO_MEASUREMENTS
    longer = [run for run in (*runs[End.STOPPED], *runs[End.MISSED]) if run.run.missed]
    noise = noise_of(runs[End.WELL], seconds_of, longer=longer)
    return MeasuredDurations(MeasuredQuantity(groups, seconds, Discrepancy(TIME_TAU, noise), bounds), work, runs)


def censored(runs: Mapping[End, Sequence[CandidateRun]]) -> list[CandidateRun]:
    """Runs that would have taken longer than they did, newest first among those of one end.

    Where equal runs reached the target, one that did not is a failure alone: their time is what a run takes that ends well.
    """
    well = {run.row for run in runs[End.WELL]}
    return [*runs[End.STOPPED], *(run for run in runs[End.MISSED] if run.row not in well)]


def _by_speed_and_work(measured: MeasuredDurations, log_time: Floats, log_throughput: Floats) -> AdjustedParticles:
    """Particles of the duration at the groups, as the sum of ln work and ln seconds per sample, each adjusted to what says it."""
    groups, well = measured.seconds.groups, measured.runs[End.WELL]
    candidates, fixed = groups.candidates, measured.work is Work.FIXED
    tau = TIME_TAU if fixed else TIME_TAU / math.sqrt(2)
    today = candidates.parameters(candidates.current)
    usual = usual_samples_per_epoch((run.run for run in well), today) or 1.0
    pace = _paces(measured, tau, lambda run: usual * epochs_asked(run.run, today))
    speed = adjusted(-groups.grouped(log_throughput), pace.measurements, pace.lower_bounds, pace.discrepancy, candidates)
    if fixed:
        log_work, samples_today = log_epochs(candidates), usual * (today.get("epochs") or 1.0)
        return AdjustedParticles(speed.log + log_work, speed.level + math.log(samples_today), speed.log_likelihood)
    longer = censored(measured.runs)
    noise = noise_of(well, _samples, NOISE / math.sqrt(2), [run for run in longer if run.run.missed])
    guessed = samples_needed(well, longer, noise) if measured.work is Work.TO_TARGET else []
    by_id = {each.run.run.run_id: each.samples for each in guessed}
    unsure = [replace(each.run, count=each.run.count * min(1.0, noise / each.deviation) ** 2) for each in guessed]
    needed = adjusted(
        groups.grouped(log_time) + groups.grouped(log_throughput),
        measurements_of([*well, *unsure], lambda run: by_id.get(run.run.run_id) or _samples(run)),
        lower_bounds_of(longer, _samples),  # what a run had processed when it ended was not enough
        Discrepancy(tau, noise),
        candidates,
    )
    return AdjustedParticles(speed.log + needed.log, speed.level + needed.level, speed.log_likelihood + needed.log_likelihood)


def _paces(measured: MeasuredDurations, tau: float, usual_samples: Callable[[CandidateRun], float]) -> MeasuredQuantity:
    """What the runs say of seconds per sample at the groups, however they ended."""
    well, longer = measured.runs[End.WELL], censored(measured.runs)
    # Of groups of which none ended well, failed runs count as one: what fails over and over, and may be slow because it is about
    # to, must not outvote what ended well.
    good, each = {run.row for run in well}, Counter(run.row for run in measured.runs[End.FAILED])
    failed = [replace(run, count=run.count / each[run.row]) for run in measured.runs[End.FAILED] if run.row not in good]
    halfway = [
        replace(run, count=run.count * min(share, 1.0))
        for run in (*failed, *longer)
        if _pace(run) and (share := (_samples(run) or 0.0) / usual_samples(run)) >= _LEAST_SHARE
    ]
    least = least_paces(well, longer)
    slowest = max(filter(None, map(_pace, well)), default=math.inf)
    slow = [run for run in longer if run not in halfway and least.get(run.run.run_id, 0.0) >= SLOW * slowest]
    silent = [run for run in longer if run not in slow and not _samples(run)]
    bounds, work = lower_bounds_of(silent, seconds_of), {run.row: math.log(usual_samples(run)) for run in silent}
    return MeasuredQuantity(
        measured.seconds.groups,
        measurements_of([*well, *halfway, *slow], lambda run: least[run.run.run_id] if run in slow else _pace(run)),
        Discrepancy(tau, measured.noise if measured.work is Work.FIXED else noise_of(well, _pace, NOISE / math.sqrt(2))),
        replace(bounds, mean=bounds.mean - np.array([work[int(row)] for row in bounds.rows])),
    )


def _samples(run: CandidateRun) -> float | None:
    return samples_of(run.run)


def _pace(run: CandidateRun) -> float | None:
    """Seconds per sample."""
    seconds, samples = seconds_of(run), _samples(run)
    return seconds / samples if seconds and samples else None


def least_paces(well: Sequence[CandidateRun], missed: Sequence[CandidateRun]) -> dict[str, float]:
    """Seconds per sample, at least, of runs that missed their target, by their ids: as if the epoch in which they were stopped
    had been about to end. Of those in their first or second alone: later ones were not stopped since an epoch took long, and what
    their start took is not known. A log without any epoch is that of a run in its first."""
    in_epoch = [samples / run.outcome.epochs for run in well if run.outcome.epochs and (samples := samples_of(run.run))]
    if not in_epoch:
        return {}
    return {
        run.run.run_id: seconds / ((samples or 0.0) + median(in_epoch))
        for run in missed
        if run.run.missed
        and (run.outcome.epochs or 0.0) < FEWEST_EPOCHS
        and (seconds := seconds_of(run))
        and ((samples := samples_of(run.run)) or run.run.source == WITH_LOG)
    }


def log_epochs(candidates: Candidates) -> Floats:
    """ln of the epochs relative to today's, (K,); zeros where they are no parameter."""
    if "epochs" not in candidates.names:
        return np.zeros(len(candidates.values))
    epochs = np.maximum(candidates.values[:, candidates.names.index("epochs")], 1.0)
    return np.asarray(np.log(epochs / epochs[candidates.current]))
