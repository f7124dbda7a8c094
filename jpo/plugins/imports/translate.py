"""Foreign runs -> records.Run: cells by a map of columns, in JPO's units, by the same rules as JPO's own logs (outcome.py)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from jpo.errors import TelemetryError, quoted
from jpo.plugins.imports.columns import GIVEN_OWN, OWN, kind_of
from jpo.plugins.imports.foreign import ForeignColumn, ForeignRun, ForeignRuns, digest_of
from jpo.plugins.imports.units import value_of
from jpo.records import PARAMETERS, WHOLE, Identity, Outcome, Run, RunStatus, Skipped
from jpo.telemetry.contract import STALE_SECONDS
from jpo.telemetry.learning_curve import loss_slope
from jpo.telemetry.outcome import (
    BYTES_PER_GIB,
    IMPOSSIBLE,
    NONE_OWN,
    UNTIMELY,
    UNTOLD,
    MeasuredRun,
    MeasuredValues,
    NoEvidence,
    Own,
    to_run,
)

ENDED = {
    **dict.fromkeys(("succeeded", "success", "finished", "completed", "complete", "done", "ok"), RunStatus.SUCCEEDED),
    **dict.fromkeys(("failed", "failure", "crashed", "error", "errored"), RunStatus.FAILED),
    **dict.fromkeys(("killed", "stopped", "canceled", "cancelled", "aborted", "preempted", "interrupted"), RunStatus.STOPPED),
    **dict.fromkeys(("oom_killed", "oomkilled", "oom", "out_of_memory"), RunStatus.OOM_KILLED),
    "diverged": RunStatus.DIVERGED,
}
"""How a run ended, as tools say it in lower case."""
NOT_OVER = {"running", "scheduled", "pending", "queued", "waiting"}
CLOCKS_DIFFER_SECONDS = 86400.0
DISAGREE = 2.0
"""Factor between a duration and end - start that only another unit explains; evaluation and waiting are less."""
DATES = {"started_at", "ended_at"}
IDENTITY = ("dataset", "model", "framework", "hardware")


@dataclass(frozen=True, slots=True)
class Said:
    """What the reader of files says of all their runs.

    Attributes:
        identity: dataset, model, framework and hardware that are certain, whatever a file says.
        otherwise: the same for runs that do not say it.
        values: parameters that no file holds.
        own: names of the team's own.
        finished: logs that were written minutes ago are over.
    """

    identity: Mapping[str, str] = field(default_factory=dict)
    otherwise: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    own: Own = NONE_OWN
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Translated:
    """Runs of one source, those that cannot be learnt from, and what a reader must know of them."""

    runs: tuple[Run, ...]
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...]


def translated(source: ForeignRuns, columns: Mapping[str, ForeignColumn], said: Said, *, now: float) -> Translated:
    """The finished runs of a source, in its order.

    Raises TelemetryError: JPO-E152, a cell is not what its column says; JPO-E153, a run does not say when it ended or whose it
    is; JPO-E154, two of its runs have the same id.
    """
    runs: dict[str, Run] = {}
    places: dict[str, str] = {}
    skipped, notes, alike = list(source.skipped), list(source.notes), dict[str, int]()
    parents = {foreign.parent for foreign in source.runs}
    for foreign in source.runs:
        if foreign.key in parents:
            skipped.append(Skipped(foreign.place, "it is the parent of other runs, not a run of the job", UNTOLD))
            continue
        row = _Row(foreign, columns)
        name = row.text("run_id") or row.derived_id(source.format, alike)
        try:
            run = _run(row, name, source.format, said, now)
        except NoEvidence as why:
            skipped.append(Skipped(foreign.place, str(why), why.code))
            continue
        if name in runs:
            finding = f"has the same run id {quoted(name)} as {places[name]}"
            remedy = 'map run_id to a column that tells runs apart, or to none: run_id = ""'
            raise TelemetryError(foreign.place, finding, remedy, code="JPO-E154")
        runs[name], places[name] = run, foreign.place
        notes += row.notes
    return Translated(tuple(runs.values()), tuple(skipped), tuple(dict.fromkeys(notes)))


class _Row:
    """The cells of one run by JPO's names."""

    def __init__(self, run: ForeignRun, columns: Mapping[str, ForeignColumn]) -> None:
        self.run = run
        self.columns = columns
        self.notes: list[str] = []

    def text(self, name: str) -> str:
        """The text of a quantity; empty where it is not known."""
        column = self.columns.get(name)
        return self.run.cells.get(column.name, "").strip() if column else ""

    def number(self, name: str) -> float | None:
        """The number of a quantity in JPO's unit, None: not known; TelemetryError JPO-E152 where it is no number of its unit."""
        text = self.text(name)
        if not text:
            return None
        column = self.columns[name]
        try:
            return value_of(kind_of(name), column.unit, text)
        except ValueError as error:
            unit = f" in {column.unit}" if column.unit else ""
            finding = f"{column.name} is read as {name}{unit}, and {error}"
            remedy = "correct the cell, or the map in [imports.columns]"
            raise TelemetryError(self.run.place, finding, remedy, code="JPO-E152") from error

    def finite(self, name: str) -> float | None:
        """The same; None for NaN and infinity, which only losses may be."""
        value = self.number(name)
        return value if value is not None and math.isfinite(value) else None

    def derived_id(self, form: str, alike: dict[str, int]) -> str:
        """An id that stays the same wherever the file lies, and whatever rows or columns are added to it, or names declared.

        `alike`: how many runs so far look like each; two rows that agree in everything are two runs.
        """
        mapped = ((name, self.text(name)) for name in self.columns if not name.startswith((GIVEN_OWN, OWN)))
        digest = self.run.key or digest_of((name, text) for name, text in mapped if text)
        alike[digest] = alike.get(digest, 0) + 1
        return f"{form}-{digest}" + (f"-{alike[digest]}" if alike[digest] > 1 else "")


def _run(row: _Row, name: str, form: str, said: Said, now: float) -> Run:
    statuses = _status(row)
    started, ended = _times(row, now, finished=said.finished)
    epochs_done, samples = row.finite("epochs_done"), row.finite("samples")
    loss = row.columns.get("val_loss")
    curve = row.run.curves.get(loss.name, ()) if loss else ()
    slope, error = loss_slope(curve) or (None, None)
    peak, gpu_peak = row.finite("peak_memory_gib"), row.finite("gpu_memory_gib")
    measured = MeasuredRun(
        run_id=name,
        identity=_identity(row, said),
        parameters={
            **{key: repr(value) for key, value in _parameters(row, said).items()},
            **{name: text for name in said.own.parameters if (text := row.text(f"{GIVEN_OWN}{name}"))},
            **{name: str(value) for name, value in said.values.items() if name in said.own.parameters},
        },
        started_at=started,
        ended_at=ended,
        closed=True,
        statuses=statuses,
        values=MeasuredValues(
            samples=samples,
            train_loss=row.number("train_loss"),
            val_loss=row.number("val_loss"),
            epoch=epochs_done,
            converged=row.number("converged"),
            cpu_seconds=row.finite("cpu_seconds"),
            memory_bytes=None if peak is None else peak * BYTES_PER_GIB,
            gpu_utilisation=row.finite("gpu_utilisation"),
            gpu_memory_bytes=None if gpu_peak is None else gpu_peak * BYTES_PER_GIB,
            energy_joules=row.finite("energy_joules"),
            loss_slope=slope,
            loss_slope_error=error,
        ),
    )
    run = to_run(measured, f"{form}: {row.run.place}", said.own)
    known = {name: value for name, value in said.values.items() if name in said.own.parameters}
    outcome, parameters = _measured_too(run.outcome, row), {**run.parameters, **known}
    return replace(run, fell_silent=row.run.silent, outcome=outcome, parameters=parameters)


def _measured_too(outcome: Outcome, row: _Row) -> Outcome:
    """The outcome of a run with what JPO's own logs do not hold."""
    known = outcome.throughput_samples_per_second
    throughput, busy = row.finite("throughput_samples_per_second"), row.finite("cpu_utilisation")
    numbers = {name.removeprefix(OWN): row.finite(name) for name in row.columns if name.startswith(OWN)}
    try:
        return replace(
            outcome,
            cost_usd=row.finite("cost_usd"),
            val_accuracy=row.finite("val_accuracy"),
            metrics={name: value for name, value in numbers.items() if value is not None},
            throughput_samples_per_second=throughput if known is None else known,
            cpu_utilisation=outcome.cpu_utilisation if busy is None else min(1.0, busy),
        )
    except ValueError as why:
        raise NoEvidence(str(why), IMPOSSIBLE) from why


def _status(row: _Row) -> frozenset[str]:
    word = row.text("status").lower().replace(" ", "_")
    if not word:
        return frozenset()
    if word in NOT_OVER:
        raise NoEvidence(f"it is {word}: its run is not over", UNTOLD)
    if word not in ENDED:
        finding = f"{row.columns['status'].name} = {quoted(row.text('status'))} does not say how a run ends"
        remedy = f"known are {', '.join(ENDED)}; or map status to none"
        raise TelemetryError(row.run.place, finding, remedy, code="JPO-E152")
    return frozenset({ENDED[word].value})


def _times(row: _Row, now: float, *, finished: bool) -> tuple[float | None, float]:
    """Unix seconds of start (None: not known) and end."""
    started, ended, duration = row.finite("started_at"), row.finite("ended_at"), row.finite("duration_seconds")
    if duration is not None and duration < 0:
        raise NoEvidence(f"its duration is negative ({duration:g} s)", UNTIMELY)
    if ended is None and started is not None and duration is not None:
        ended = started + duration
    if not row.columns.keys() & DATES:
        ended = row.run.row_at
    if ended is None and started is not None and not row.columns.keys() & {"ended_at", "duration_seconds"}:
        started, ended = None, started  # a date alone: how long it took is not known
    if ended is None:
        if any(name in row.columns for name in ("ended_at", "duration_seconds")):
            raise NoEvidence("it does not say when it ended", UNTIMELY)
        remedy = "name the column of its end, or of start and duration, in [imports.columns]"
        raise TelemetryError(row.run.place, "does not say when its run ended", remedy, code="JPO-E153")
    if started is None and duration is not None:
        started = ended - duration
    if ended > now + CLOCKS_DIFFER_SECONDS:
        raise NoEvidence(f"it ends in the future ({ended:g}); unix seconds, or milliseconds?", UNTIMELY)
    if row.run.silent and now - ended < STALE_SECONDS and not finished:
        raise NoEvidence("its file was written minutes ago: it may still be running; --finished says that it is over", UNTOLD)
    if started is not None and duration and (ran := ended - started) > 0 and not 1 / DISAGREE <= duration / ran <= DISAGREE:
        finding = f"says {duration:g} s of duration, and {ran:g} s from start to end"
        remedy = 'give the right unit in [imports.columns] duration_seconds, or "" to go by start and end'
        raise TelemetryError(row.run.place, finding, remedy, code="JPO-E152")
    return started, ended


def _identity(row: _Row, said: Said) -> Identity:
    parts = {name: said.identity.get(name) or row.text(name) or said.otherwise.get(name, "") for name in IDENTITY}
    for name in IDENTITY[:3]:
        if not parts[name].strip():
            finding, remedy = f"does not say its {name}", f"add --{name} NAME, or [imports.columns] {name}"
            raise TelemetryError(row.run.place, finding, remedy, code="JPO-E153")
    return Identity(parts["dataset"], parts["model"], parts["framework"], parts["hardware"] or None)


def _parameters(row: _Row, said: Said) -> dict[str, float]:
    """The parameters that are known, the global batch size among them where it is."""
    values = {name: value for name in PARAMETERS if (value := row.number(name)) is not None}
    nodes, on_each = row.number("nodes"), row.number("gpus_per_node")
    if "gpus" not in values and on_each is not None:
        values["gpus"] = on_each * (nodes or 1)
    values = {**values, **said.values}
    if "batch_size" not in values:
        values |= _global_batch(row, values.get("gpus"))
    for name in WHOLE & values.keys():
        if math.isfinite(values[name]) and abs(values[name] - round(values[name])) < 1e-9 * max(1.0, abs(values[name])):
            values[name] = float(round(values[name]))  # "3.0" of a table, and products
    return {name: values[name] for name in PARAMETERS if name in values}


def _global_batch(row: _Row, gpus: float | None) -> dict[str, float]:
    """The batch over all devices, from the one of each; nothing, and a note, where the number of devices is not known."""
    each = row.number("batch_size_per_device")
    if each is None:
        return {}
    devices = row.number("devices")
    if devices is None and gpus is not None:
        devices = max(1.0, gpus)
    if devices is None:
        note = "batch size of each device known, and not how many there were: the global batch is unknown; add --set gpus=N"
        row.notes.append(note)
        return {}
    accumulated = row.number("gradient_accumulation_steps")
    return {"batch_size": each * devices * (1.0 if accumulated is None else accumulated)}
