"""Lightning's CSVLogger: metrics.csv with a row per logging step, and hparams.yaml.

A row holds only what was logged at its step. Neither file has a time: a run ended when metrics.csv was last written, and how long
it took is unknown where it logged no such metric.
"""

import math
from collections.abc import Mapping
from pathlib import Path

from jpo.errors import UsageError, words_of
from jpo.files.reading import number_or_nan as number
from jpo.plugins.imports.foreign import (
    ForeignColumn,
    ForeignRun,
    ForeignRuns,
    contents,
    digest_of,
    flat,
    is_of_a_step,
    modified_at,
    unreadable,
)
from jpo.plugins.imports.table import read_table

METRICS, HPARAMS = "metrics.csv", "hparams.yaml"
LARGEST_HPARAMS_BYTES = 256 * 2**10
"""PyYAML reads about 100 KiB in a second; hyperparameters are a few lines."""
KNOWN = {
    "ended_at": ForeignColumn("(file modified)", "s", "lightning"),
    "epochs_done": ForeignColumn("(epochs)", None, "lightning"),
}
MODIFIED = (
    "lightning: no file says when a run ended, or how; the time at which metrics.csv was written counts, and it as succeeded"
)
NO_DURATION = "lightning: no file says how long a run took; log a metric train_time in seconds, or --format tensorboard"


def read_lightning(path: Path) -> ForeignRuns:
    """The run of a metrics.csv, or of the folder that holds it.

    Raises TelemetryError: JPO-E150, a file is not what Lightning writes; UsageError: JPO-E156, PyYAML is not installed.
    """
    path = path / METRICS if path.is_dir() else path
    rows = read_table(path).runs
    if "step" not in rows[0].cells:
        finding = "has no step: these are not the metrics of a CSVLogger"
        raise unreadable(rows[0].place, finding, "or is it a table? --format table")
    last: dict[str, str] = {}
    for row in rows:
        last |= row.cells
    measured = {name: text for name, text in last.items() if not is_of_a_step(name)}
    hparams_file = path.with_name(HPARAMS)
    hparams = flat(yaml_of(hparams_file, LARGEST_HPARAMS_BYTES), hparams_file) if hparams_file.exists() else {}
    curves = {
        name: tuple(
            (number(row.cells["epoch"]) + 1, number(row.cells[name])) for row in rows if {"epoch", name} <= row.cells.keys()
        )
        for name in last.keys() - {"epoch", "step"}
    }
    epoch = number(last.pop("epoch", "nan"))
    cells = {**measured, **hparams, "(file modified)": repr(modified_at(path))}
    cells.pop("epoch", None)
    if math.isfinite(epoch):
        cells["(epochs)"] = repr(epoch + 1)
    first = {**{f"row {name}": text for name, text in rows[0].cells.items()}, **hparams, "folder": path.absolute().parent.name}
    notes = (
        (MODIFIED,) if any("time" in name.lower() or "duration" in name.lower() for name in measured) else (MODIFIED, NO_DURATION)
    )
    run = ForeignRun(str(path), digest_of(first.items()), cells, curves, silent=True)
    return ForeignRuns("lightning", str(path), (run,), KNOWN, notes=notes)


def yaml_of(path: Path, most_bytes: int) -> Mapping[str, object]:
    """The mapping of a YAML file, its values as the texts that they are: nothing in it is called, whatever its tags say.

    Raises TelemetryError: JPO-E150, it is none; UsageError: JPO-E156, PyYAML is not installed.
    """
    try:
        import yaml
    except ImportError as error:
        raise UsageError(str(path), "needs PyYAML", 'pip install "jpo[imports]"', code="JPO-E156") from error
    data = contents(path, most_bytes)
    try:
        document = yaml.load(data, Loader=yaml.BaseLoader) or {}  # noqa: S506 - it knows texts, lists and mappings alone
    except (yaml.YAMLError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        place = str(path) if line is None else f"{path}:{line + 1}"
        finding = f"is not plain YAML ({words_of(getattr(error, 'problem', None) or type(error).__name__)})"
        raise unreadable(place, finding, "keep numbers, texts, lists and mappings") from error
    if not isinstance(document, dict):
        raise unreadable(path, "is not a mapping of names to values")
    return document
