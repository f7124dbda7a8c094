"""Outcome of a run: measured values -> records.Run, with how it ended, in JPO's units.

One set of rules for Prometheus and CSV logs. It does not decide whether a run is over; the sources know that.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from jpo.errors import quoted
from jpo.files.reading import number_or_nan
from jpo.records import COUNTS, PARAMETERS, WHOLE, Identity, Outcome, Quality, Run, RunStatus, Terms, Word
from jpo.telemetry.contract import DATA_FRACTION

BYTES_PER_GIB = 2.0**30
LARGEST = 1e12
"""No parameter of a training job is larger: what jpo/optimizer/question.py takes."""
LONGEST_WORD = 64
"""Characters; a longer text is no choice of a config.ini."""


@dataclass(frozen=True, slots=True)
class Own:
    """Names of the team's own: of parameters, with whether their values are words, and of metrics of the model, as qualities.
    `spelt`: JPO's parameter -> what config.ini may call it, since scripts hand on what they read there (bs, lr)."""

    parameters: Mapping[str, bool] = field(default_factory=dict)
    metrics: Mapping[str, Quality] = field(default_factory=dict)
    spelt: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


NONE_OWN = Own()
QUOTED = re.compile(r"""(["'])(.*)\1""")
COUNT = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
POSITIVE = ("batch_size", "learning_rate", "epochs")
"""Parameters without which nothing is trained; of the others, 0 is none of it (no GPUs)."""
IMPOSSIBLE, CONTRADICTORY, UNTIMELY, UNTOLD, NO_SECONDS = "JPO-W121", "JPO-W122", "JPO-W123", "JPO-W124", "JPO-W126"
"""Why a run is no evidence: values that cannot be, contradictions, times that cannot be, nothing that could be learnt, and times
in another unit."""


class NoEvidence(ValueError):
    """A run from which nothing can be learnt: the reason, and the code of its kind (docs/codes.md)."""

    def __init__(self, reason: str, code: str) -> None:
        self.code = code
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class MeasuredValues:
    """Values of a run over its whole length; None where nothing was measured. What jobs report is described in contract.py.

    Attributes:
        samples, cpu_seconds: totals.
        train_loss, val_loss, val_accuracy: the last values, NaN included; `metrics`: the same of the user's own.
        memory_bytes: the highest.
        cpu_cores_mean, cpu_cores_p95, memory_mean_bytes, memory_p95_bytes: over the run.
        cpus_requested: what its containers requested together; for a run in one pod its own parameter takes precedence.
        pods: how many it named, one after the other or together.
        pods_of_job: how many its Job had; a run may be reported by only one of them.
        gpus_seen: how many GPUs were measured; gpu_utilisation: mean ratio over them; energy_joules: of all of them.
        gpu_memory_bytes: the highest of one GPU.
    """

    samples: float | None = None
    train_loss: float | None = None
    val_loss: float | None = None
    epoch: float | None = None
    converged: float | None = None
    cpu_seconds: float | None = None
    memory_bytes: float | None = None
    cpu_cores_mean: float | None = None
    cpu_cores_p95: float | None = None
    memory_mean_bytes: float | None = None
    memory_p95_bytes: float | None = None
    cpus_requested: float | None = None
    pods: float | None = None
    pods_of_job: float | None = None
    gpus_seen: float | None = None
    gpu_utilisation: float | None = None
    gpu_memory_bytes: float | None = None
    energy_joules: float | None = None
    loss_slope: float | None = None
    loss_slope_error: float | None = None
    val_accuracy: float | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """An ended run as its source measured it.

    Attributes:
        parameters: the run's configuration as text, by parameter name; of a trial also DATA_FRACTION.
        closed: the job itself reported its end; False when it only fell silent.
        statuses: how it ended as the job reports it; empty where it does not, several where it contradicts itself.
        seen_to_end: how the cluster saw its process end, or None; it counts where the job reports nothing.
        labelled: the job reports nothing at all; the labels of its pods say what it is.
        pods, container: its pods by namespace (empty where it is not reported) and name, and its trainer's container if known.
    """

    run_id: str
    identity: Identity
    parameters: Mapping[str, str]
    started_at: float | None
    ended_at: float
    closed: bool
    statuses: frozenset[str]
    values: MeasuredValues
    seen_to_end: RunStatus | None = None
    labelled: bool = False
    pods: tuple[tuple[str, str], ...] = ()
    container: str | None = None

    @property
    def begin(self) -> float:
        """Unix seconds from which on it is known to have run."""
        return self.ended_at if self.started_at is None else self.started_at


def to_run(measured: MeasuredRun, source: str, own: Own = NONE_OWN) -> Run:
    """The record of an ended run; NoEvidence, the reason for Skipped, where nothing can be learnt from it."""
    start, end = measured.started_at, measured.ended_at
    if not 0 <= end < math.inf or (start is not None and not 0 <= start <= end):
        raise NoEvidence(f"it ends before it starts, or has no time ({start} to {end})", UNTIMELY)
    share = measured.parameters.get(DATA_FRACTION)
    if share is not None and _number(DATA_FRACTION, share) != 1:
        raise NoEvidence(f"it is a trial on a part of the data ({share}), not a run", UNTOLD)
    parameters = {**configuration(measured.parameters), **own_values(measured.parameters, own.parameters)}
    if measured.values.epoch is not None and not 0 <= measured.values.epoch < math.inf:
        raise NoEvidence(f"epoch = {measured.values.epoch:g} cannot be", IMPOSSIBLE)
    if measured.values.converged not in (None, 0, 1) and not math.isnan(measured.values.converged or 0.0):
        raise NoEvidence(f"converged = {measured.values.converged:g} is neither 1 nor 0", IMPOSSIBLE)
    status = _status(measured, parameters)
    try:
        return Run(
            run_id=measured.run_id,
            identity=measured.identity,
            parameters=parameters,
            status=status,
            started_at=start,
            ended_at=end,
            outcome=_outcome(measured, _without_partial_totals(measured.values, parameters), parameters.get("cpus")),
            source=source,
            fell_silent=not (measured.closed or measured.statuses or measured.seen_to_end),
        )
    except (ValueError, OverflowError) as error:  # of the records: a negative number of samples
        raise NoEvidence(str(error), IMPOSSIBLE) from error


def configuration(texts: Mapping[str, str]) -> dict[str, float]:
    """The run's parameters; batch and GPUs in all where it reports them per device and per node, and those are counts.

    Raises NoEvidence: one is no number that a config.ini could hold.
    """
    values = {name: _number(name, text) for name, text in texts.items() if name in PARAMETERS}
    counts = {name: float(texts[name]) for name in COUNTS if COUNT.fullmatch(texts.get(name, ""))}
    terms = Terms(
        "batch_size" not in values and "batch_size_per_device" in counts,
        "gpus" not in values and "gpus_per_node" in counts,
        counts.get("gradient_accumulation_steps"),
        counts.get("nodes"),
    )
    if terms.batch_per_device:
        values["batch_size"] = counts["batch_size_per_device"]
    if terms.gpus_per_node:
        values["gpus"] = counts["gpus_per_node"]
    return terms.in_all(values)


def own_values(texts: Mapping[str, str], own: Mapping[str, bool]) -> dict[str, float]:
    """Parameters of the team's own; what is no value of its kind (a dropout "none") is not known.

    Quotes belong to config.ini: a script that hands on what configparser reads reports them, too.
    """
    values: dict[str, float] = {}
    for name in own.keys() & texts.keys():
        quoted = QUOTED.fullmatch(text := texts[name].strip())
        text = quoted[2].strip() if quoted else text
        if own[name] and text and len(text) <= LONGEST_WORD and text.isprintable():
            values[name] = Word(text)
        elif not own[name] and math.isfinite(value := number_or_nan(text)):
            values[name] = value
    return {name: values[name] for name in own if name in values}


def _without_partial_totals(values: MeasuredValues, parameters: Mapping[str, float]) -> MeasuredValues:
    """The values without totals of fewer GPUs (else pods) than the run had: in distributed training one pod may report alone."""
    gpus = parameters.get("gpus")
    if gpus and values.gpus_seen is not None:
        measured, existing = values.gpus_seen, gpus
    else:
        measured, existing = values.pods or 0.0, values.pods_of_job or 0.0
    if measured >= existing:
        return values
    return replace(values, cpu_seconds=None, cpu_cores_mean=None, cpu_cores_p95=None, energy_joules=None)


def _number(name: str, text: str) -> float:
    """The value of a parameter as its config.ini could hold it."""
    value = number_or_nan(text)
    least = math.nextafter(0.0, 1.0) if name in POSITIVE else 0.0
    if not least <= value <= LARGEST or (name in WHOLE and value != int(value)):
        raise NoEvidence(f"{name} = {quoted(text)} is not a usable {'whole ' if name in WHOLE else ''}number", IMPOSSIBLE)
    return value


BY_WORD = {status.value: status for status in RunStatus}


def _status(measured: MeasuredRun, parameters: Mapping[str, float]) -> RunStatus:
    """How a run ended: out of memory, NaN in a loss, the job's own status, the cluster's; last, an end reported or reached."""
    if len(measured.statuses) > 1:
        raise NoEvidence(f"it says that it ended as {' and as '.join(sorted(measured.statuses))}", CONTRADICTORY)
    if unknown := measured.statuses - BY_WORD.keys():
        raise NoEvidence(f"status {quoted(min(unknown))} is none of {', '.join(BY_WORD)}", CONTRADICTORY)
    reported = next((BY_WORD[word] for word in measured.statuses), None)
    if RunStatus.OOM_KILLED in (reported, measured.seen_to_end) and reported is not RunStatus.SUCCEEDED:
        return RunStatus.OOM_KILLED
    losses = (measured.values.train_loss, measured.values.val_loss)
    if any(loss is not None and not math.isfinite(loss) for loss in losses):
        return RunStatus.DIVERGED
    if reported or measured.seen_to_end:
        return reported or measured.seen_to_end or RunStatus.FAILED
    if measured.closed:
        return RunStatus.SUCCEEDED
    if measured.labelled:  # its pod was deleted before anybody saw how it ended: it took this long at least
        return RunStatus.STOPPED
    if measured.values.epoch is None or "epochs" not in parameters:
        raise NoEvidence("it fell silent without an end, a status or an epoch count: how it ended is unknown", UNTOLD)
    return RunStatus.SUCCEEDED if measured.values.epoch >= parameters["epochs"] else RunStatus.FAILED


def _outcome(measured: MeasuredRun, values: MeasuredValues, cpus: float | None) -> Outcome:
    start = measured.started_at
    duration = None if start is None else measured.ended_at - start
    samples, cpu_seconds, converged = _finite(values.samples), _finite(values.cpu_seconds), _finite(values.converged)
    cores = _finite(values.cpu_cores_mean)
    if cpu_seconds is not None and duration:
        cores = cpu_seconds / duration
    # The CPUs that a run in several pods reports may be those of each pod, or of all.
    allotted = (None if (values.pods or 0.0) > 1 else cpus) or _finite(values.cpus_requested)
    return Outcome(
        duration_seconds=duration,
        energy_joules=_finite(values.energy_joules),
        samples=samples,
        throughput_samples_per_second=samples / duration if samples is not None and duration else None,
        train_loss=_loss(values.train_loss, values.epoch),
        val_loss=_loss(values.val_loss, values.epoch),
        gpu_utilisation=_ratio(_finite(values.gpu_utilisation)),
        cpu_utilisation=_ratio(cores / allotted) if cores is not None and duration and allotted else None,
        memory_gib=_gib(values.memory_bytes),
        gpu_memory_gib=_gib(values.gpu_memory_bytes),
        cpu_cores_mean=cores,
        cpu_cores_p95=_finite(values.cpu_cores_p95),
        memory_mean_gib=_gib(values.memory_mean_bytes),
        memory_p95_gib=_gib(values.memory_p95_bytes),
        converged=None if converged is None else converged == 1,
        loss_slope=values.loss_slope,
        loss_slope_error=values.loss_slope_error,
        epochs=_finite(values.epoch),
        val_accuracy=_loss(values.val_accuracy, values.epoch),
        metrics={name: value for name, given in values.metrics.items() if (value := _loss(given, values.epoch)) is not None},
    )


def _ratio(value: float | None) -> float | None:
    """A ratio of at most 1: more than was requested (a burst) counts as fully busy."""
    return None if value is None else min(1.0, value)


def _gib(count: float | None) -> float | None:
    return None if count is None or not math.isfinite(count) else count / BYTES_PER_GIB


def _loss(value: float | None, epoch: float | None) -> float | None:
    """A finite loss, accuracy or metric; None for the 0.0 that a gauge shows before anything was measured (a perfect loss)."""
    if value == 0 and not (epoch is not None and epoch >= 1):
        return None
    return _finite(value)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
