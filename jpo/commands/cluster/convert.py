"""`jpo cluster convert`: tables of other clusters, and JPO's history, as training jobs in CSV."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jpo.cluster.workload.convert import COLUMNS, FORMS, convert
from jpo.errors import UsageError
from jpo.reading import number
from jpo.report.forms.csv import csv_line


def converted(path: Path, form: str, durations: Sequence[str], *, jpo: bool = True) -> tuple[str, int]:
    """The table as text, and how many jobs were left out; without `jpo`, a history as it would have been without JPO."""
    if not jpo and form != "history":
        raise UsageError("--without-jpo", f"is about JPO's history, not {form}", "leave it out", code="JPO-E744")
    if form not in FORMS:
        raise UsageError("--from", f"{form!r:.40} is unknown", f"known are {', '.join(FORMS)}", code="JPO-E744")
    jobs, left_out = convert(path, form, dict(map(_duration, durations)), jpo=jpo)
    return "".join((csv_line(COLUMNS), *(csv_line(job) for job in jobs))), left_out


def _duration(text: str) -> tuple[str, float]:
    name, _, seconds = text.partition("=")
    try:
        value = number(seconds)
    except ValueError:
        value = 0.0
    if not (name and 0 < value < 2**53):
        raise UsageError("--duration", f"{text!r:.80} is not NAME=SECONDS", "write e.g. --duration bert=3600", code="JPO-E744")
    return name, value
