"""A description says what machine a workload is for."""

from __future__ import annotations

from jpo.plugins.cluster.description import describe
from jpo.plugins.cluster.grid import Scenario
from jpo.plugins.cluster.report.description import as_json, document
from jpo.plugins.cluster.workload.lublin import draw_jobs
from jpo.report.document import Section


def test_each_workload_is_a_section() -> None:
    one = describe(Scenario("a", draw_jobs(50, 8, load=0.5, seed=0), 8))
    (section,) = document([one]).blocks
    assert isinstance(section, Section)
    assert section.title == "a: 50 jobs for 8 processors"
    assert as_json([one])["schema_version"] == 1
