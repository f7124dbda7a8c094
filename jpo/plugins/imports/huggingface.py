"""Hugging Face Trainer: trainer_state.json, and what lies beside it.

`Trainer.train()` adds an entry with train_runtime to log_history when it is done, and `save_state()` writes it; the state of a
checkpoint has none, and its run may go on. all_results.json (`save_metrics`), the arguments as JSON (`to_json_string`) and
config.json (the model's) add what they know. training_args.bin is a pickle and is never read.
"""

import math
from collections.abc import Mapping
from pathlib import Path

from jpo.files.reading import number_or_nan
from jpo.plugins.imports.foreign import ForeignColumn, ForeignRun, ForeignRuns, digest_of, flat, json_of, modified_at, unreadable
from jpo.records import Skipped
from jpo.telemetry.outcome import LARGEST, UNTOLD

STATE = "trainer_state.json"
BESIDE = ("config.json", "all_results.json", "training_args.json", "args.json")
"""Read where they are; the later win."""
LARGEST_BYTES = 256 * 2**20
LARGEST_BESIDE_BYTES = 2**20
CHANGING = {"learning_rate", "step", "loss_scale"}
"""In log_history, what is not the run's but the step's: the rate is that of a schedule."""
MOST_EPOCHS = 1e6
"""A data set without a length runs "for sys.maxsize epochs"."""
KNOWN = {
    "ended_at": ForeignColumn("(file modified)", "s", "huggingface"),
    "duration_seconds": ForeignColumn("train_runtime", "s", "huggingface"),
    "batch_size": ForeignColumn("(samples per step)", None, "huggingface"),
    "epochs": ForeignColumn("num_train_epochs", None, "huggingface"),
    "epochs_done": ForeignColumn("epoch", None, "huggingface"),
    "samples": ForeignColumn("(samples)", None, "huggingface"),
    "throughput_samples_per_second": ForeignColumn("train_samples_per_second", None, "huggingface"),
    "train_loss": ForeignColumn("loss", None, "huggingface"),
    "val_loss": ForeignColumn("eval_loss", None, "huggingface"),
    "val_accuracy": ForeignColumn("eval_accuracy", None, "huggingface"),
}
MODIFIED = "huggingface: no file says when a run ended; the time at which trainer_state.json was written counts"
UNKNOWN_BATCH = "huggingface: the global batch size follows from no file; add it with --set batch_size=N"
NO_RATE = (
    "huggingface: trainer_state.json has no initial learning rate; save args.to_json_string() as training_args.json, or add --set"
)


def read_trainer_state(path: Path) -> ForeignRuns:
    """The run of a trainer_state.json, or of the folder that holds it.

    Raises TelemetryError: JPO-E150, a file is not what the Trainer writes.
    """
    path = path / STATE if path.is_dir() else path
    state = json_of(path, LARGEST_BYTES)
    entries = state.get("log_history")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise unreadable(path, "has no log_history", "name the trainer_state.json that Trainer.save_state() wrote")
    logged: dict[str, str] = {}
    for entry in entries:
        logged |= {name: text for name, text in flat(entry, path).items() if name not in CHANGING}
    beside: dict[str, str] = {}
    for file in (path.parent / name for name in BESIDE):
        beside |= flat(json_of(file, LARGEST_BESIDE_BYTES), file) if file.exists() else {}
    scalars = {name: value for name, value in state.items() if name != "log_history"}
    cells = {**beside, **flat(scalars, path), **logged, "(file modified)": repr(modified_at(path))}
    numbers = {name: number_or_nan(cells.get(name, "")) for name in ("global_step", "max_steps", "num_train_epochs")}
    done = 0 < numbers["max_steps"] <= numbers["global_step"]
    if not (done or "train_runtime" in cells):
        why = "it is the state of a checkpoint: nothing says that its run is over; name the one that save_state() wrote"
        return ForeignRuns("huggingface", str(path), (), KNOWN, (Skipped(str(path), why, UNTOLD),))
    if not numbers["num_train_epochs"] < MOST_EPOCHS:
        cells.pop("num_train_epochs", None)
    derived = _samples_and_batch(cells, done=done)
    cells = {**{name: text for name, text in cells.items() if name != "train_batch_size"}, **derived}
    notes = [MODIFIED]
    notes += [] if "(samples per step)" in derived else [UNKNOWN_BATCH]
    notes += [] if "learning_rate" in cells else [NO_RATE]
    key = digest_of((f"{index}.{name}", text) for index, entry in enumerate(entries) for name, text in flat(entry, path).items())
    logs = ((entry.get("epoch"), entry.get("eval_loss")) for entry in entries)
    curve = [
        (float(epoch), float(loss)) for epoch, loss in logs if isinstance(epoch, int | float) and isinstance(loss, int | float)
    ]
    run = ForeignRun(str(path), key, cells, {"eval_loss": tuple(curve)})
    return ForeignRuns("huggingface", str(path), (run,), KNOWN, notes=tuple(notes))


def _samples_and_batch(cells: Mapping[str, str], *, done: bool) -> dict[str, str]:
    """Samples of a run that went through, and its global batch where only one is possible.

    The Trainer reports samples per second of all devices together, the state the batch of one process. Their quotient is the
    global batch but for the last, smaller batch of each epoch: of the multiples of a process' batch (devices times accumulation)
    it must be the only one in reach.
    """
    rate, runtime = (number_or_nan(cells.get(name, "")) for name in ("train_samples_per_second", "train_runtime"))
    steps, epochs = (number_or_nan(cells.get(name, "")) for name in ("max_steps", "num_train_epochs"))
    each = number_or_nan(cells.get("train_batch_size", ""))
    if not (done and 0 < rate <= LARGEST and 0 < runtime <= LARGEST and 1 <= steps <= LARGEST):
        return {}
    samples = rate * runtime
    known = {"(samples)": repr(float(round(samples)))}
    if not (1 <= each <= LARGEST and 1 <= epochs <= LARGEST):
        return known
    per_step, per_epoch, rounded = samples / steps, steps / epochs, 0.0005 / rate
    if per_epoch <= 1:
        return known
    least = per_step * (1 - rounded) * per_epoch / (per_epoch + 1)
    most = per_step * (1 + rounded) * per_epoch / (per_epoch - 1)
    possible = range(math.ceil(least / each), math.floor(most / each) + 1)
    return {**known, "(samples per step)": repr(possible[0] * each)} if len(possible) == 1 else known
