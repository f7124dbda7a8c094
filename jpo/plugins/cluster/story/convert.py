"""`jpo cluster convert`: tables of other clusters, and JPO's history, as training jobs in CSV."""

from collections.abc import Sequence
from pathlib import Path

from jpo import plugin
from jpo.errors import UsageError
from jpo.files.reading import number
from jpo.plugins.cluster.workload.convert import COLUMNS, ConvertedJob, convert
from jpo.report.forms.csv import csv_line

PHASES = "phases"
"""The form of traces of resources with a model of `jpo phases fit`; and the column that it adds."""


def converted(
    path: Path, form: str, durations: Sequence[str], *, jpo: bool, model: Path | None, gbps_per_core: float
) -> tuple[str, int]:
    """The table as text, and how many jobs were left out; without `jpo`, a history as it would have been without JPO.

    `model`, `gbps_per_core`: of traces of resources. Raises UsageError: JPO-E744, an option is missing, or is of another form.
    """
    if form == PHASES:
        return _with_phases(path, model, gbps_per_core), 0
    if model is not None:
        raise UsageError("--model", f"is about traces of resources, not {form}", "leave it out", code="JPO-E744")
    if not jpo and form != "history":
        raise UsageError("--without-jpo", f"is about JPO's history, not {form}", "leave it out", code="JPO-E744")
    jobs, left_out = convert(path, form, dict(map(_duration, durations)), jpo=jpo)
    return "".join((csv_line(COLUMNS), *(csv_line(job) for job in jobs))), left_out


def _with_phases(path: Path, model: Path | None, gbps_per_core: float) -> str:
    """Traces of resources as a table with phases."""
    if model is None:
        remedy = f"fit one: jpo phases fit {path} -o MODEL"
        raise UsageError("--from phases", "needs a model of the phases: --model MODEL", remedy, code="JPO-E744")
    phase_jobs = plugin.offered("jobs of phases")
    if phase_jobs is None:
        raise UsageError("--from phases", "needs the plugin phases, which is not here", "install jpo anew", code="JPO-E744")
    lines = (csv_line((*ConvertedJob(**job), phases)) for job, phases in phase_jobs(path, model, gbps_per_core))
    return "".join((csv_line((*COLUMNS, PHASES)), *lines))


def _duration(text: str) -> tuple[str, float]:
    name, _, seconds = text.partition("=")
    try:
        value = number(seconds)
    except ValueError:
        value = 0.0
    if not (name and 0 < value < 2**53):
        raise UsageError("--duration", f"{text!r:.80} is not NAME=SECONDS", "write e.g. --duration bert=3600", code="JPO-E744")
    return name, value
