"""The two files as text."""

from __future__ import annotations

import csv

from jpo.plugins.cluster.grid import Scenario
from jpo.plugins.cluster.queueing.simulate import Rule
from jpo.plugins.cluster.report.batsim import jobs_csv, schedule_csv
from jpo.plugins.cluster.schedule import course
from jpo.plugins.cluster.workload.lublin import draw_jobs


def test_both_are_csv_with_a_head() -> None:
    found = course(Scenario("t", draw_jobs(20, 8, load=0.9, seed=0), 8), Rule("saf", "easy"))
    assert [row["job_id"] for row in csv.DictReader(jobs_csv(found).splitlines())] == [str(number) for number in found.jobs.ids]
    (row,) = csv.DictReader(schedule_csv(found).splitlines())
    assert row["nb_jobs"] == "20"
