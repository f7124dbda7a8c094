"""The plan of `jpo optimize --dry-run`: per job the run that would be started next, and what would follow."""

from collections.abc import Sequence

from jpo.plugins.launch.report.launched import run
from jpo.plugins.launch.report.launched.run import LaunchReport
from jpo.report.document import Document, Section


def document(jobs: Sequence[LaunchReport]) -> Document:
    """A section per job."""
    parts = [run.document(job) for job in jobs]
    return Document("Plan", tuple(Section(part.title, part.blocks) for part in parts), "nothing was started or written")


def as_json(jobs: Sequence[LaunchReport]) -> dict[str, object]:
    """Per job the document of `jpo run`; what follows is in its notes."""
    return {"schema_version": 1, "jobs": [run.as_json(job) for job in jobs]}
