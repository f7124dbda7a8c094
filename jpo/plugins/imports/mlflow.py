"""MLflow's own stores: the folders of a file store (mlruns/EXPERIMENT/RUN), and the tables of its SQLite database.

Cells are called as the columns of `mlflow.search_runs()`: params.*, metrics.* (the last value), tags.*. GPU utilisation is the
mean of the system metrics, where they were logged. Runs that were deleted, and parents of other runs, are no runs of a job.
"""

import math
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from urllib.parse import quote

from jpo.errors import TelemetryError, quoted, words_of
from jpo.files import reading
from jpo.files.reading import number
from jpo.plugins.imports.foreign import (
    LONGEST_CELL,
    MOST_CELLS,
    ForeignColumn,
    ForeignRun,
    ForeignRuns,
    as_text,
    is_of_a_step,
    text_of,
    unreadable,
)
from jpo.plugins.imports.lightning import yaml_of
from jpo.records import Skipped
from jpo.telemetry.outcome import UNTOLD

META = "meta.yaml"
LARGEST_META_BYTES, LARGEST_METRIC_BYTES = 64 * 2**10, 64 * 2**20
STATUSES = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
"""RunStatus of MLflow's protocol, as meta.yaml has it."""
MOST_POINTS = 10_000
"""Of the curve of a loss; a run of weeks logs fewer validations."""
MOST_SECONDS, AT_ONCE = 20.0, 10**6
"""CPU time that one database may take (a store of 10,000 runs: two seconds), looked at after so many instructions of SQLite."""
TABLES = ("runs", "params", "tags", "latest_metrics", "metrics")
BUSY, MEMORY = "utilization_percentage", "memory_usage_megabytes"
LARGEST_DOUBLE = sys.float_info.max
GPU_BUSY, GPU_MEMORY = "(system: mean gpu utilisation)", "(system: highest gpu memory)"
PARENT = "tags.mlflow.parentRunId"
KNOWN = {
    "run_id": ForeignColumn("run_id", None, "mlflow"),
    "status": ForeignColumn("status", None, "mlflow"),
    "started_at": ForeignColumn("start_time", "ms", "mlflow"),
    "ended_at": ForeignColumn("end_time", "ms", "mlflow"),
    "duration_seconds": ForeignColumn("", None, "mlflow"),  # from start to end
    "gpu_utilisation": ForeignColumn(GPU_BUSY, "percent", "mlflow"),
    "gpu_memory_gib": ForeignColumn(GPU_MEMORY, "MB", "mlflow"),
}
DELETED = "it was deleted in MLflow"
Points = list[tuple[float, float]]
"""Step and value, as they were logged."""


def read_mlflow(path: Path) -> ForeignRuns:
    """The runs of the folder of one, or of a database; raises as `read_run_folder`."""
    return read_run_folder(path) if path.is_dir() else read_database(path)


def read_run_folder(path: Path) -> ForeignRuns:
    """The run of a folder of a file store.

    Raises TelemetryError: JPO-E150, it is not what MLflow writes; UsageError: JPO-E156, PyYAML is not installed.
    """
    meta = {name: as_text(value) for name, value in yaml_of(path / META, LARGEST_META_BYTES).items() if isinstance(value, str)}
    if not meta.get("run_id"):
        raise unreadable(path / META, "has no run_id", "name the folder of a run, or mlruns")
    if meta.get("lifecycle_stage") == "deleted":
        return ForeignRuns("mlflow", str(path), (), KNOWN, (Skipped(str(path), DELETED, UNTOLD),))
    own = {name: meta[name] for name in ("run_id", "run_name", "start_time", "end_time") if meta.get(name)}
    own["status"] = STATUSES.get(meta.get("status", ""), meta.get("status", ""))
    texts = {f"{kind}.{name}": text for kind in ("params", "tags") for name, text in _texts(path / kind)}
    run = run_of(str(path), {**own, **texts}, {name: _points(file) for name, file in _files(path / "metrics")})
    return ForeignRuns("mlflow", str(path), (run,), KNOWN)


def read_database(path: Path) -> ForeignRuns:
    """The runs of an SQLite database of MLflow, which is only read.

    Raises TelemetryError: JPO-E150, it is none, is locked or damaged, or reading it would take too long.
    """
    reading.opened(path, partial(unreadable, path)).close()
    until = time.process_time() + MOST_SECONDS
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True, timeout=5.0)) as database:
            database.set_progress_handler(lambda: time.process_time() > until, AT_ONCE)
            database.execute("PRAGMA trusted_schema = OFF")
            kinds = database.execute("SELECT lower(name), type FROM sqlite_schema WHERE type IN ('table', 'view')")
            if views := [name for name, kind in kinds if kind == "view" and name in TABLES]:
                raise unreadable(path, f"has a view in place of the table {views[0]}", "name MLflow's own database")
            runs, skipped = [], []
            for run_id, name, status, start, end, stage in database.execute(
                "SELECT run_uuid, name, status, start_time, end_time, lifecycle_stage FROM runs ORDER BY start_time, run_uuid"
            ).fetchall():
                place = f"{path}: run {run_id}"
                if not (isinstance(run_id, str) and run_id.strip()):
                    raise unreadable(path, f"has a run without an id ({quoted(run_id)})", "is it MLflow's database, whole?")
                if stage == "deleted":
                    skipped.append(Skipped(place, DELETED, UNTOLD))
                    continue
                own = {"run_id": run_id, "run_name": name, "status": status, "start_time": start, "end_time": end}
                cells = {key: as_text(value) for key, value in own.items() if value is not None}
                runs.append(run_of(place, {**cells, **_rows_of(database, run_id)}, _metrics_of(database, run_id)))
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:  # the last: of a message that quotes the file
        finding = f"cannot be read as a database of MLflow ({words_of(error)})"
        raise unreadable(path, finding, "name the file of MLflow's --backend-store-uri") from error
    return ForeignRuns("mlflow", str(path), tuple(runs), KNOWN, tuple(skipped))


def is_database(path: Path) -> bool:
    """Whether a file is one of SQLite; False where it cannot be read, which its reader says."""
    try:
        return reading.beginning(path, 16, partial(unreadable, path)) == b"SQLite format 3\0"
    except TelemetryError:
        return False


def run_of(place: str, texts: Mapping[str, str], metrics: Mapping[str, Points]) -> ForeignRun:
    """A run of MLflow: its texts by the names of `mlflow.search_runs()`, and the points of its metrics, oldest first.

    Raises TelemetryError: JPO-E150, it has more than MOST_CELLS values.
    """
    cells = {name: text for name, given in texts.items() if (text := as_text(given))}
    last = {f"metrics.{name}": max(reversed(points), key=lambda point: point[0])[1] for name, points in metrics.items() if points}
    cells |= {name: repr(_unbounded(value)) for name, value in last.items() if not is_of_a_step(name)}
    if len(cells) > MOST_CELLS:
        raise unreadable(place, f"contains more than {MOST_CELLS} values", "keep those of the run")
    busy = list(_values(metrics, BUSY))
    memory = list(_values(metrics, MEMORY))
    cells |= {GPU_BUSY: repr(math.fsum(busy) / len(busy))} if busy else {}
    cells |= {GPU_MEMORY: repr(max(memory))} if memory else {}
    curves = {f"metrics.{name}": tuple(sorted(points)) for name, points in metrics.items() if "loss" in name.lower()}
    return ForeignRun(place, cells["run_id"], cells, curves, parent=cells.get(PARENT, ""))


def is_of_a_gpu(metric: str, *kinds: str) -> bool:
    """Whether it is a system metric of a GPU that counts for a run: system/gpu_0_utilization_percentage and so on."""
    return metric.startswith("system/gpu_") and metric.endswith(kinds or (BUSY, MEMORY))


def _unbounded(value: float) -> float:
    """The value that was logged: MLflow's databases hold the largest double for infinity."""
    return math.copysign(math.inf, value) if abs(value) == LARGEST_DOUBLE else value


def _values(metrics: Mapping[str, Points], kind: str) -> Iterator[float]:
    """All that was measured of the GPUs."""
    for name, points in metrics.items():
        if is_of_a_gpu(name, kind):
            yield from (value for _, value in points if math.isfinite(value))


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The files below a folder by their names there; a name with a slash is in a folder."""
    for count, file in enumerate(sorted(folder.rglob("*")) if folder.is_dir() else ()):
        if count > MOST_CELLS:
            raise unreadable(folder, f"contains more than {MOST_CELLS} files", "keep those of the run")
        if not file.is_dir():
            yield file.relative_to(folder).as_posix(), file


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Parameters or tags; long ones (a model's signature, the history of a notebook) are no values."""
    for name, file in _files(folder):
        if file.stat().st_size <= LONGEST_CELL:
            yield name, text_of(file, LONGEST_CELL).strip()


def _points(file: Path) -> Points:
    """The lines of a metric: milliseconds, value, step."""
    points = []
    for line, text in enumerate(text_of(file, LARGEST_METRIC_BYTES).splitlines(), start=1):
        cells = text.split()
        try:
            points.append((number(cells[2]) if len(cells) > 2 else float(line), number(cells[1])))
        except (ValueError, IndexError) as error:
            raise unreadable(f"{file}:{line}", f"{quoted(text)} is not 'milliseconds value step'", "correct the line") from error
    return points


def _rows_of(database: sqlite3.Connection, run_id: str) -> dict[str, str]:
    rows: Iterable[tuple[str, str, str]] = database.execute(
        "SELECT 'params.' || key, value, key FROM params WHERE run_uuid = :run AND length(value) <= :most"
        " UNION ALL SELECT 'tags.' || key, value, key FROM tags WHERE run_uuid = :run AND length(value) <= :most",
        {"run": run_id, "most": LONGEST_CELL},
    )
    return {name: as_text(value) for name, value, _ in rows if isinstance(name, str) and isinstance(value, str | int | float)}


def _metrics_of(database: sqlite3.Connection, run_id: str) -> dict[str, Points]:
    """The last value of each metric, and all that was logged of losses and GPUs."""
    metrics: dict[str, Points] = {}
    latest = "SELECT key, step, value, is_nan FROM latest_metrics WHERE run_uuid = ? LIMIT ?"
    for key, *measured in database.execute(latest, (run_id, MOST_CELLS)).fetchall():
        metrics[str(key)] = list(_measured([measured]))
    for key in [key for key in metrics if "loss" in key.lower() or is_of_a_gpu(key)]:
        curve = "SELECT step, value, is_nan FROM metrics WHERE run_uuid = ? AND key = ? ORDER BY step, timestamp LIMIT ?"
        points = list(_measured(database.execute(curve, (run_id, key, MOST_POINTS))))
        metrics[key] = [*points, *(metrics[key] if len(points) in (0, MOST_POINTS) else [])]
    return metrics


def _measured(rows: Iterable[Sequence[object]]) -> Iterator[tuple[float, float]]:
    """Step and value of each row that has them: SQLite would keep a text in a column of numbers."""
    for step, value, is_nan in rows:
        if isinstance(step, int | float) and isinstance(value, int | float):
            yield float(step), math.nan if is_nan else float(value)
