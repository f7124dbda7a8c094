"""Work of a run: how many samples it processed, and whether that is fixed or depends on when a target is reached.

A job of fixed epochs processes epochs x data with any learning rate and batch size: only its speed can change its duration. A job
with a target of its own processes what it needs. Simulated jobs are of both kinds until the runs say which one this is.
"""

from collections.abc import Iterable, Sequence
from enum import Enum, auto
from statistics import median

from jpo.forecast.measurements import FEWEST
from jpo.records import RESOURCES, SAME, Parameters, Run

ALIKE = 1.1
"""Runs did the same work if their samples differ by no more than this factor: the last scrape, a batch that was cut off."""
_EQUAL = 1.01
"""The same of repeated runs: a target is reached after another number of samples each time, unless it is checked seldom."""


class Work(Enum):
    """Kind of a job, by when its runs end."""

    UNKNOWN = auto()
    FIXED = auto()
    TO_TARGET = auto()


def samples_of(run: Run) -> float | None:
    """Samples that a run processed, as reported, or from throughput and duration; None: unknown, or none."""
    outcome = run.outcome
    if outcome.samples:
        return outcome.samples
    return (outcome.throughput_samples_per_second or 0.0) * (outcome.duration_seconds or 0.0) or None


def samples_per_epoch(run: Run) -> float | None:
    """Samples for each epoch that a run says it was to train; of all epochs where it says none."""
    samples = samples_of(run)
    return None if samples is None else samples / (run.parameters.get("epochs") or 1.0)


def epochs_asked(run: Run, today: Parameters) -> float:
    """Epochs that a run was to train, as config.ini counts them: today's where it does not report any, and 1, for all of them,
    where the file has none."""
    return run.parameters.get("epochs", today["epochs"]) or 1.0 if "epochs" in today else 1.0


def usual_samples_per_epoch(runs: Iterable[Run], today: Parameters) -> float | None:
    """Samples for each epoch that was asked for, the median over the runs that ended well; None where none is known."""
    known = [samples / epochs_asked(run, today) for run in runs if run.ended_well and (samples := samples_of(run))]
    return median(known) if known else None


def _finished(run: Run) -> bool | None:
    """Whether a run finished just the epochs that it was to train; None: one of the two numbers is unknown."""
    did, asked = run.outcome.epochs, run.parameters.get("epochs")
    return None if did is None or asked is None else abs(did - asked) <= SAME * asked


def work_of(runs: Sequence[Run]) -> Work:
    """What the runs of a workload say of its kind.

    A run that reports `converged` has a target. Else the work is fixed where every run that ended well finished just the epochs
    that it was to train; where none reports epochs, if at least three did the same samples for each epoch they were to train,
    whatever else they were given; or, in one configuration, exactly the same.
    """
    if any(run.outcome.converged is not None for run in runs):
        return Work.TO_TARGET
    finished = [whole for run in runs if run.ended_well and (whole := _finished(run)) is not None]
    if finished:
        return Work.FIXED if all(finished) else Work.UNKNOWN
    done = [(run, per_epoch) for run in runs if run.ended_well and (per_epoch := samples_per_epoch(run))]
    if len(done) < FEWEST:
        return Work.UNKNOWN
    spread = max(each for _, each in done) / min(each for _, each in done)
    if spread > ALIKE:
        return Work.UNKNOWN
    varied = {frozenset((name, value) for name, value in run.parameters.items() if name not in RESOURCES) for run, _ in done}
    return Work.FIXED if len(varied) > 1 or spread <= _EQUAL else Work.UNKNOWN
