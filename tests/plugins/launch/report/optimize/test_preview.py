"""The plan of several jobs: a section each, and for programs the documents of their next runs."""

from __future__ import annotations

from pathlib import Path

from jpo.plugins.launch.job import LaunchJob
from jpo.plugins.launch.ledger import Entry
from jpo.plugins.launch.report.launched.run import LaunchReport
from jpo.plugins.launch.report.optimize.preview import as_json, document
from jpo.records import Identity
from jpo.report.forms import text

JOBS = [
    LaunchReport(
        Entry(LaunchJob(name, Identity("d", "m", "f"), ("python", "train.py"), Path("/x")), "local", 0.0), Path("/x/out")
    )
    for name in ("one-b1", "two-b1")
]


def test_each_job_has_its_section_and_nothing_was_written() -> None:
    shown = text.render(document(JOBS), width=80, colour=False)
    assert shown.index("one-b1") < shown.index("two-b1") < shown.index("nothing was started or written")


def test_programs_get_a_document_per_job() -> None:
    assert [job["run_id"] for job in as_json(JOBS)["jobs"]] == ["one-b1", "two-b1"]  # type: ignore[attr-defined]
