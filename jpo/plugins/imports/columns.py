"""Columns: which cell of a foreign run is what, and in which unit.

jpo.toml says it ([imports.columns]), or the format does, or it is guessed from names that many use and from the values, and the
guess is shown. What nothing fits stays unknown.
"""

import difflib
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from jpo.errors import TelemetryError, quoted
from jpo.plugins.imports.foreign import ForeignColumn, ForeignRuns
from jpo.plugins.imports.units import SPELT, UNITS, Kind, unit_by_values, value_of
from jpo.records import PARAMETERS
from jpo.telemetry.outcome import NONE_OWN, Own

FIELDS: Mapping[str, Kind] = {
    **dict.fromkeys(("run_id", "dataset", "model", "framework", "hardware", "status"), "text"),
    **dict.fromkeys(("started_at", "ended_at"), "moment"),
    "duration_seconds": "duration",
    **{name: "size" if name == "memory_gib" else "number" for name in PARAMETERS},
    **dict.fromkeys(("batch_size_per_device", "gradient_accumulation_steps", "devices", "nodes", "gpus_per_node"), "number"),
    **dict.fromkeys(("samples", "epochs_done", "train_loss", "val_loss"), "number"),
    "val_accuracy": "accuracy",
    "throughput_samples_per_second": "number",
    **dict.fromkeys(("gpu_utilisation", "cpu_utilisation"), "share"),
    "cpu_seconds": "duration",
    "peak_memory_gib": "size",
    "gpu_memory_gib": "size",
    "energy_joules": "energy",
    "cost_usd": "money",
    "converged": "truth",
}
"""What can be read of a run, by JPO's name. `batch_size` is global; `memory_gib` is what the job asks for, `peak_memory_gib` what
it used; `epochs` are those it is to run, `epochs_done` those it has run."""
USUAL: Mapping[str, tuple[str, ...]] = {
    "run_id": ("run_id", "run_uuid", "run_name", "name", "id", "run"),
    "dataset": ("dataset", "dataset_name", "data_set"),
    "model": ("model", "model_name", "model_name_or_path", "architecture", "arch"),
    "framework": ("framework",),
    "hardware": ("hardware", "gpu_type", "instance_type"),
    "status": ("status", "state"),
    "started_at": ("started_at", "start_time", "start", "started", "begin", "created_at", "created"),
    "ended_at": ("ended_at", "end_time", "end", "ended", "finished_at", "finished", "timestamp", "datetime", "date"),
    "duration_seconds": (
        "duration", "runtime", "run_time", "train_runtime", "train_time", "training_time", "elapsed", "elapsed_time", "wall_time",
        "walltime", "wallclock", "wall_clock", "wallclock_time", "total_time", "time_taken",
    ),
    "batch_size": (
        "batch_size", "global_batch_size", "total_train_batch_size", "effective_batch_size", "batchsize", "bs", "bsz", "batch",
    ),
    "learning_rate": ("learning_rate", "lr", "base_lr", "init_lr", "initial_lr", "learningrate", "eta"),
    "num_layers": ("num_layers", "n_layers", "num_hidden_layers", "n_layer", "layers", "depth"),
    "epochs": ("epochs", "num_epochs", "max_epochs", "num_train_epochs", "n_epochs"),
    "gpus": ("gpus", "num_gpus", "n_gpus", "n_gpu", "gpu_count", "ngpus"),
    "cpus": ("cpus", "num_cpus", "n_cpus", "cpu_count"),
    "memory_gib": ("memory", "mem", "ram", "memory_request", "memory_limit"),
    "batch_size_per_device": (
        "batch_size_per_device", "per_device_train_batch_size", "batch_size_per_gpu", "per_gpu_batch_size",
        "per_gpu_train_batch_size", "micro_batch_size", "train_micro_batch_size_per_gpu", "local_batch_size",
    ),
    "gradient_accumulation_steps": (
        "gradient_accumulation_steps", "accumulate_grad_batches", "grad_accum_steps", "accumulation_steps",
    ),
    "devices": ("devices", "num_devices", "world_size"),
    "nodes": ("nodes", "num_nodes", "n_nodes", "nnodes"),
    "gpus_per_node": ("gpus_per_node", "num_gpus_per_node", "nproc_per_node"),
    "samples": ("samples", "samples_seen", "num_samples", "examples_seen"),
    "epochs_done": ("epochs_done", "epoch", "last_epoch", "final_epoch"),
    "train_loss": ("train_loss", "training_loss", "loss_train", "loss", "train_loss_epoch", "train_loss_step"),
    "val_loss": ("val_loss", "valid_loss", "validation_loss", "eval_loss", "loss_val", "dev_loss", "val_loss_epoch", "test_loss"),
    "val_accuracy": (
        "val_accuracy", "val_acc", "valid_accuracy", "valid_acc", "validation_accuracy", "validation_acc", "eval_accuracy",
        "eval_acc", "dev_accuracy", "dev_acc", "accuracy_val", "acc_val", "val_accuracy_epoch", "val_acc_epoch", "val_acc1",
        "val_top1", "test_accuracy", "test_acc", "accuracy", "acc",
    ),
    "throughput_samples_per_second": ("throughput", "samples_per_second", "samples_per_sec", "train_samples_per_second"),
    "gpu_utilisation": ("gpu_utilisation", "gpu_utilization", "gpu_util", "gpu_usage"),
    "cpu_utilisation": ("cpu_utilisation", "cpu_utilization", "cpu_util", "cpu_usage"),
    "cpu_seconds": ("cpu_time", "cpu_seconds"),
    "peak_memory_gib": ("peak_memory", "memory_peak", "max_memory", "memory_used", "mem_used", "peak_ram", "max_rss"),
    "gpu_memory_gib": ("gpu_memory", "peak_gpu_memory", "gpu_memory_peak", "max_gpu_memory", "gpu_mem", "gpu_memory_used"),
    "energy_joules": ("energy", "gpu_energy", "energy_consumed"),
    "cost_usd": ("cost", "price", "total_cost"),
    "converged": ("converged", "reached_target"),
}  # fmt: skip
"""Names that many use, in lower case and without a unit; the first is the likeliest."""
GIVEN = (*PARAMETERS, "batch_size_per_device", "gradient_accumulation_steps", "devices", "nodes", "gpus_per_node")
"""What a run was given: never what a tracker measured (metrics.learning_rate is the last of a schedule)."""
MEASURED_GROUP = re.compile(r"^(?:metrics?|summary)[./|]")
GROUPS = re.compile(r"^(?:params?|config|metrics?|summary|tags?|hparams?|hyperparameters|args)[./|]")
"""What trackers write before a name."""
NESTED = re.compile(r"[./]")
IN_BRACKETS = re.compile(r"[\[(]([^\[\]()]*)[\])]$")
EVALUATION = {
    "val_loss": re.compile(r"(?:val|valid|validation|eval|dev)_(?:\d+_)?loss"),
    "val_accuracy": re.compile(r"(?:val|valid|validation|eval|dev)_(?:\d+_)?(?:accuracy|acc)"),
}
TABLE = "table"
"""The format of files whose columns anybody may call anything."""
OWN = "metrics."
"""Before the name of a metric of the user's own, among JPO's names."""
OF_NO_PARAMETER = re.compile(r"(?:metrics?|summary|tags?|\()[./|]?")
"""Cells of trackers that were not given to a run."""
TOO_SHORT = {"name", "id", "run", "end", "start", "state", "begin", "begins", "loss", "acc", "mem", "ram", "batch", "date"}
"""Usual names that many other names contain."""
MOST_NAMED = 12
"""Columns that nothing reads."""
GIVEN_OWN = "parameters."
"""The same before a parameter of the team's own."""
BETTER = {"val_loss": "less", "train_loss": "less", "val_accuracy": "more"}
"""Which direction is better of what is read of a model."""


def columns_of(source: ForeignRuns, given: Mapping[str, ForeignColumn], own: Own = NONE_OWN) -> dict[str, ForeignColumn]:
    """Where each quantity of these runs stands, by JPO's name; what is not there is missing.

    `given`: as jpo.toml says it; an empty name: nowhere, whatever a column is called. `own`: parameters and metrics of the
    team's own, which are known by their names alone.

    Raises TelemetryError: JPO-E151, a column that jpo.toml names is in no row of a table; JPO-E159, its map reads what has two
    directions from one column, or accuracies may be ratios or percentages.
    """
    _refuse_two_directions(source.place, given)
    cells: dict[str, list[str]] = {}
    for run in source.runs:
        for name, text in run.cells.items():
            if text:
                cells.setdefault(name, []).append(text)
    found = {}
    for field, column in given.items():
        if column.name and column.name not in cells:
            if source.format != TABLE:  # the map is of tables, and what this tool writes is known
                continue
            has = ", ".join(list(cells)[:30])
            where = "--set" if column.origin == "--set" else "[imports.columns]"
            finding = f"has no column {quoted(column.name)}, which {where} {field.removeprefix(GIVEN_OWN)} names"
            raise TelemetryError(source.place, finding, f"it has {has}"[:400], code="JPO-E151")
        found[field] = column
    found = {**{field: column for field, column in source.known.items() if not column.name or column.name in cells}, **found}
    taken = {column.name for column in found.values()}
    for field, column in (*_guessed(cells, len(source.runs), taken), *_called_so(cells, taken, own)):
        found.setdefault(field, column)
    return {field: _with_unit(source.place, field, column, cells[column.name]) for field, column in found.items() if column.name}


def not_read(source: ForeignRuns, columns: Mapping[str, ForeignColumn], own: Own) -> Iterator[str]:
    """What nothing reads, in words: columns that may be a missing quantity with what reads them; of a table also the others.

    Of other tools, which have hundreds of cells, only parameters are missed.
    """
    table = source.format == TABLE
    read = {column.name for column in columns.values()}
    cells: dict[str, list[str]] = {}
    for run in source.runs:
        for name, text in run.cells.items():
            if text and name not in read and (table or not OF_NO_PARAMETER.match(name.lower())):
                cells.setdefault(name, []).append(text)
    known = {field.removeprefix(GIVEN_OWN).removeprefix(OWN) for field in columns}
    missing = [field for field in (*own.parameters, *(FIELDS if table else GIVEN)) if field not in known]
    for name in list(cells):
        if meant := next((field for field in missing if _may_be(field, name, cells[name])), None):
            missing.remove(meant)
            del cells[name]
            yield f"{name}: not read; did you mean --set {shlex.quote(f'{meant}={name}')}?"
    if table and cells:
        more = f" and {len(cells) - MOST_NAMED} more" if len(cells) > MOST_NAMED else ""
        yield f"not read: {', '.join(list(cells)[:MOST_NAMED])}{more}; where one is a quantity: --set NAME=COLUMN"


def _may_be(field: str, name: str, cells: Sequence[str]) -> bool:
    """Whether a column may be a quantity, by words in its name or a similar one, and by what is in it."""
    kind = FIELDS.get(field, "text")
    try:
        for cell in cells if kind != "text" else ():
            value_of(kind, unit_by_values(kind, cells), cell)
    except ValueError:
        return False
    base = _plain(name)[0]
    words = set(base.split("_"))
    usual = [one for one in (field, *USUAL.get(field, ())) if one not in TOO_SHORT]
    alike = any(set(one.split("_")) <= words or (len(one) > 3 and base.startswith(one)) for one in usual)
    return alike or bool(difflib.get_close_matches(base, usual, 1, 0.8))


def field_of(name: str, own: Own) -> str | None:
    """What JPO calls a quantity that somebody names: its own name, or one that many use; None: nobody knows it."""
    if name in own.parameters or name in own.metrics:
        return f"{GIVEN_OWN if name in own.parameters else OWN}{name}"
    return name if name in FIELDS else next((field for field, usual in USUAL.items() if name.lower() in usual), None)


def not_there(source: ForeignRuns, given: Mapping[str, ForeignColumn]) -> str:
    """The columns that jpo.toml names and this source lacks, in words; empty where it has all."""
    there = {name for run in source.runs for name, text in run.cells.items() if text}
    missing = [
        f"{quoted(column.name)} ({field.removeprefix(OWN).removeprefix(GIVEN_OWN)})"
        for field, column in given.items()
        if column.name and column.name not in there
    ]
    if not source.runs or not missing:
        return ""
    return f"{source.place} has no {', '.join(missing)}, named in [imports] of jpo.toml: read as if they were not named"


def kind_of(field: str) -> Kind:
    """What a quantity is; a metric of the user's own is a number, a parameter of the team's own may be a word."""
    return "number" if field.startswith(OWN) else "text" if field.startswith(GIVEN_OWN) else FIELDS[field]


def _refuse_two_directions(place: str, given: Mapping[str, ForeignColumn]) -> None:
    """A loss that is read from accuracies would make the worst run the best."""
    read: dict[str, str] = {}
    for field, column in given.items():
        other = {"less": "val_accuracy", "more": "val_loss"}.get(BETTER.get(field, ""))
        if other and usual_for(other, column.name):
            name = quoted(column.name)
            finding = f"of {field} {BETTER[field]} is better, and {name} is called like what should be {BETTER[other]}"
            remedy = f"[imports.columns] {other} reads it; rename the column if it is a {field}"
            raise TelemetryError(place, finding, remedy, code="JPO-E159")
        if not column.name or not (field in BETTER or field.startswith(OWN)):
            continue
        if column.name in read and BETTER.get(read[column.name]) != BETTER.get(field):
            finding = f"[imports] reads {read[column.name]} and {field} from one column, {quoted(column.name)}"
            raise TelemetryError(place, finding, "a metric has one direction: keep one of them", code="JPO-E159")
        read[column.name] = field


def _guessed(cells: Mapping[str, Sequence[str]], runs: int, taken: set[str]) -> Iterator[tuple[str, ForeignColumn]]:
    """Columns whose names many use, and units that their names end with."""
    plain = {name: _plain(name) for name in cells if name not in taken}
    for field, usual in USUAL.items():
        kind = FIELDS[field]
        fits = []
        for name, (base, bracketed) in plain.items():
            stem, _, last = base.rpartition("_")
            unit = SPELT.get(last) if stem in usual else None
            if field == "duration_seconds" and _is_a_duration(base, bracketed):
                fits.append((len(usual), name, bracketed or SPELT.get(last)))
            elif base in usual and (bracketed is None or bracketed in UNITS.get(kind, {})):
                fits.append((usual.index(base), name, bracketed))
            elif unit in UNITS.get(kind, {}):
                fits.append((usual.index(stem), name, unit))
            elif field in EVALUATION and EVALUATION[field].fullmatch(base):
                fits.append((len(usual), name, None))
        if field in GIVEN:
            nested = (name for name in plain if NESTED.search(GROUPS.sub("", name.lower())))
            inner = [name for name in nested if _plain(NESTED.split(name)[-1])[0] in usual]
            fits = fits or [(len(usual), name, None) for name in inner if len(inner) == 1]  # optimizer.lr, where no other is
            fits = [fit for fit in fits if not MEASURED_GROUP.match(fit[1].strip().lower())]
        if field == "run_id":  # of every run, each once, and no numbers, which the next table begins anew
            once = [fit for fit in fits if len(cells[fit[1]]) == runs == len(set(cells[fit[1]]))]
            fits = [fit for fit in once if not any(cell.isdecimal() and len(cell) < 8 for cell in cells[fit[1]])]
        if fits:
            _, name, unit = min(fits, key=lambda fit: fit[0])
            yield field, ForeignColumn(name, unit)


def _called_so(cells: Mapping[str, Sequence[str]], taken: set[str], own: Own) -> Iterator[tuple[str, ForeignColumn]]:
    """Columns that are called as parameters and metrics of the team's own."""
    plain = {name: _plain(name)[0] for name in cells if name not in taken}
    for group, names in ((GIVEN_OWN, own.parameters), (OWN, own.metrics)):
        for wanted in names:
            fits = [name for name, base in plain.items() if base == _plain(wanted)[0]]
            fits = [name for name in fits if group == OWN or not MEASURED_GROUP.match(name.strip().lower())]
            if fits:
                yield f"{group}{wanted}", ForeignColumn(fits[0])


def _is_a_duration(base: str, bracketed: str | None) -> bool:
    """Whether a name is one by its unit alone: "time (min)", "time_h", "minutes"; "time" itself may be a moment."""
    stem, _, last = base.rpartition("_")
    unit = bracketed or SPELT.get(last)
    if bracketed:
        return base == "time" and bracketed in UNITS["duration"]
    return unit in UNITS["duration"] and (stem == "time" or (not stem and base in ("seconds", "minutes", "hours", "days")))


def usual_for(field: str, name: str) -> bool:
    """Whether a column is called as many call a quantity."""
    base, _ = _plain(name)
    return base in USUAL[field] or (field in EVALUATION and bool(EVALUATION[field].fullmatch(base)))


def _plain(name: str) -> tuple[str, str | None]:
    """A name as USUAL has it, and the unit that stands in brackets behind it."""
    name = name.strip()
    bracketed = IN_BRACKETS.search(name)
    unit = SPELT.get(bracketed[1].strip().lower()) if bracketed else None
    text = name[: bracketed.start()] if bracketed and unit else name
    text = GROUPS.sub("", text.rstrip().lower())
    return re.sub(r"[^a-z0-9%]+", "_", text).strip("_"), unit


def _with_unit(place: str, field: str, column: ForeignColumn, cells: Sequence[str]) -> ForeignColumn:
    try:
        base, bracketed = _plain(column.name)
        named = bracketed or SPELT.get(base.rpartition("_")[2])
        unit = column.unit or (named if named in UNITS.get(kind_of(field), {}) else unit_by_values(kind_of(field), cells))
    except ValueError as error:
        remedy = f'say which: [imports.columns] {field} = {{ column = "{column.name:.80}", unit = "percent" }}, or "ratio"'
        raise TelemetryError(place, f"{quoted(column.name)}, read as {field}, {error}", remedy, code="JPO-E159") from error
    return ForeignColumn(column.name, unit, column.origin)


def as_toml(columns: Mapping[str, ForeignColumn]) -> list[str]:
    """The map as jpo.toml would have it, a line each; what a format always has at its place is a comment."""
    lines = ["[imports.columns]", *(_line(field, columns[field]) for field in FIELDS if field in columns)]
    own = [_line(field.removeprefix(OWN), column) for field, column in columns.items() if field.startswith(OWN)]
    given = [_line(field.removeprefix(GIVEN_OWN), column) for field, column in columns.items() if field.startswith(GIVEN_OWN)]
    return [*lines, *given, *(["[imports.metrics]", *own] if own else [])]


def _line(field: str, column: ForeignColumn) -> str:
    always = "" if column.origin in ("guessed", "jpo.toml", "--set") else "# "
    name = '"' + column.name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    where = f'{{ column = {name}, unit = "{column.unit}" }}' if column.unit else name
    return f"{always}{field} = {where}  # {column.origin}"
