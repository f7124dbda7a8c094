"""What a source measured of one ended run -> records.Run: how it ended, and its outcome in JPO's units.

One set of rules for Prometheus and CSV logs. It does not decide whether a run is over; the sources know that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from jpo.records import PARAMETERS, WHOLE, Identity, Outcome, Run, RunStatus

BYTES_PER_GIB = 2.0**30


@dataclass(frozen=True, slots=True)
class Values:
    """The numbers of a run over its whole length; None where nothing was measured.

    Attributes:
        samples, cpu_seconds: totals.
        train_loss, val_loss: the last values, NaN included.
        epoch: number of finished epochs.
        converged: 1 if the job reached its own target, else 0.
        memory_bytes: the highest.
    """

    samples: float | None = None
    train_loss: float | None = None
    val_loss: float | None = None
    epoch: float | None = None
    converged: float | None = None
    cpu_seconds: float | None = None
    memory_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that is known of an ended run, as its source gave it.

    Attributes:
        parameters: the run's configuration as text, by parameter name.
        closed: the job itself said that it ended; False when it only fell silent.
        status: the job's own word for how it ended, or None.
    """

    run_id: str
    identity: Identity
    parameters: Mapping[str, str]
    started_at: float | None
    ended_at: float
    closed: bool
    status: str | None
    values: Values


def to_run(measured: Measured, source: str) -> Run:
    """The record of an ended run.

    Raises:
        ValueError: the reason why nothing can be learnt from this run, for Skipped.
    """
    start, end = measured.started_at, measured.ended_at
    if not math.isfinite(end) or (start is not None and not start <= end):
        raise ValueError(f"it ends before it starts, or has no time ({start} to {end})")
    parameters = {name: _number(name, text) for name, text in measured.parameters.items() if name in PARAMETERS}
    return Run(
        run_id=measured.run_id,
        identity=measured.identity,
        parameters=parameters,
        status=_status(measured, parameters),
        started_at=start,
        ended_at=end,
        outcome=_outcome(measured.values, start, end, parameters.get("cpus")),
        source=source,
    )


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0 or (name in WHOLE and value != int(value)):
        raise ValueError(f"{name} = {text!r} is not a usable {'whole ' if name in WHOLE else ''}number")
    return value


def _status(measured: Measured, parameters: Mapping[str, float]) -> RunStatus:
    """The job's own word; NaN in a loss overrides it; without a word, an end that was announced or reached counts as success."""
    known = {s.value: s for s in RunStatus}
    if measured.status is not None and measured.status not in known:
        raise ValueError(f"status {measured.status!r} is none of {', '.join(known)}")
    if measured.status == RunStatus.OOM_KILLED:
        return RunStatus.OOM_KILLED
    losses = (measured.values.train_loss, measured.values.val_loss)
    if any(loss is not None and not math.isfinite(loss) for loss in losses):
        return RunStatus.DIVERGED
    if measured.status is not None:
        return known[measured.status]
    if measured.closed:
        return RunStatus.SUCCEEDED
    if measured.values.epoch is None or "epochs" not in parameters:
        raise ValueError("it fell silent without an end, a status or an epoch count: how it ended is unknown")
    return RunStatus.SUCCEEDED if measured.values.epoch >= parameters["epochs"] else RunStatus.FAILED


def _outcome(values: Values, started_at: float | None, ended_at: float, cpus: float | None) -> Outcome:
    duration = None if started_at is None else ended_at - started_at
    samples, cpu_seconds, memory_bytes = _finite(values.samples), _finite(values.cpu_seconds), _finite(values.memory_bytes)
    converged = _finite(values.converged)
    return Outcome(
        duration_seconds=duration,
        samples=samples,
        throughput_samples_per_second=samples / duration if samples is not None and duration else None,
        train_loss=_loss(values.train_loss, values.epoch),
        val_loss=_loss(values.val_loss, values.epoch),
        # More than was asked for (a burst) is still fully busy: ratios lie in 0..1.
        cpu_utilisation=min(1.0, cpu_seconds / duration / cpus) if cpu_seconds is not None and duration and cpus else None,
        memory_gib=None if memory_bytes is None else memory_bytes / BYTES_PER_GIB,
        converged=None if converged is None else converged == 1,
    )


def _loss(value: float | None, epoch: float | None) -> float | None:
    """A finite loss; None for the 0.0 that a gauge shows before anything was measured (a perfect loss for the agent)."""
    if value == 0 and not (epoch is not None and epoch >= 1):
        return None
    return _finite(value)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
