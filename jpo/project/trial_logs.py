"""Small trials in CSV logs -> Trial: what each tells of the job's speed, and of what configuration and share of the data it was.

Not `jpo.telemetry`'s reading of runs: a trial need not have ended, or ended well, and is never a run of the history.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from jpo.errors import UsageError
from jpo.forecast.trials import Trial, TrialLog, trial_of
from jpo.records import LARGEST_VALUE, PARAMETERS, SMALLEST_VALUE, Identity
from jpo.telemetry.contract import DATA_FRACTION
from jpo.telemetry.csv.lines import Log
from jpo.telemetry.csv.log import CLOCKS_DIFFER_SECONDS, whole_lines

BYTES_PER_GIB = 2.0**30
MOST_COUNTED = 1e15
"""Epochs or samples of a run."""
SMALLEST_SHARE = 1e-4
"""Of the data: less than that is no trial."""


def read_trials(paths: Sequence[Path], identity: Identity, fraction: float | None, *, now: float) -> tuple[Trial, ...]:
    """The trials in CSV logs, which need not have ended, or ended well, to tell how fast they were.

    `identity`: the workload in config.ini. `fraction`: share of the data of those logs that do not say it themselves
    (`# data_fraction=0.1`); None: all.

    Raises UsageError: JPO-E821 a trial of another workload, JPO-E822 rows without a speed, JPO-E823 an impossible share or
    value; TelemetryError: a log that is empty or cannot be read.
    """
    trials = [_trial(path, identity, fraction, now) for path in paths]
    # A log that is named twice is no second trial.
    return tuple(trial for i, trial in enumerate(trials) if trial not in trials[:i])


def _trial(path: Path, identity: Identity, fraction: float | None, now: float) -> Trial:
    log = Log(path)
    rows = [_counted(row) for line in whole_lines(path) if (row := log.take(line))]
    if not identity.includes(log.identity):
        finding = f"is a trial of {log.identity}, but config.ini describes {identity}"
        raise UsageError(str(path), finding, "name trials of the same workload", code="JPO-E821")
    if any(row.get("time", 0.0) > now + CLOCKS_DIFFER_SECONDS for row in rows):
        raise UsageError(str(path), "has rows of the future", "write unix seconds, not milliseconds", code="JPO-E822")
    logged = log.number(DATA_FRACTION)
    share = logged if logged is not None else fraction or 1.0
    if not SMALLEST_SHARE <= share <= 1:
        finding = f"data_fraction = {share:g} is not a share of the data"
        raise UsageError(str(path), finding, "write e.g. 0.1", code="JPO-E823")
    memory = _finite(log, "memory_bytes")
    try:
        return trial_of(
            TrialLog(
                log.run_id,
                _parameters(log),
                rows,
                fraction=share,
                started_at=_finite(log, "start"),
                ended_at=_finite(log, "end"),
                memory_gib=memory / BYTES_PER_GIB if memory and memory > 0 else None,
                has_target="converged" in log.head,
            )
        )
    except ValueError as error:
        raise UsageError(str(path), str(error), "let a trial run for three epochs or more in one go", code="JPO-E822") from error


def _counted(row: Mapping[str, float]) -> dict[str, float]:
    """A row without counts that nobody counted; losses may be anything."""
    return {name: value for name, value in row.items() if name not in ("epoch", "samples") or abs(value) <= MOST_COUNTED}


def _finite(log: Log, key: str) -> float | None:
    """The number of a `# key=` line; None where it is absent or no number that can be measured."""
    value = log.number(key)
    return value if value is not None and abs(value) <= MOST_COUNTED else None


def _parameters(log: Log) -> dict[str, float]:
    values = {name: value for name in PARAMETERS if (value := log.number(name)) is not None}
    for name, value in values.items():
        if not (SMALLEST_VALUE <= value <= LARGEST_VALUE or (value == 0 and name == "gpus")):
            finding = f"{name} = {value:g} is not a value that a training job can use"
            raise UsageError(str(log.path), finding, "correct the script that writes the log", code="JPO-E823")
    return values
