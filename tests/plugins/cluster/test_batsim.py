"""What Batsim would write of a schedule, by hand."""

from __future__ import annotations

import csv

import numpy as np

from jpo.plugins.cluster.batsim import JOB_COLUMNS, job_rows, jobs_csv, schedule_csv, schedule_row
from jpo.plugins.cluster.grid import Scenario
from jpo.plugins.cluster.queueing.simulate import Rule
from jpo.plugins.cluster.schedule import device_schedule
from jpo.plugins.cluster.workload.jobs import JobTable
from jpo.plugins.cluster.workload.lublin import draw_jobs

JOBS = JobTable(np.array([7, 8]), np.array([0.0, 5.0]), *[np.array([10.0, 20.0])] * 2, np.array([3, 2]), np.array([0, 0]))


def test_rows_and_figures_are_those_of_the_schedule() -> None:
    found = device_schedule(Scenario("t", JOBS, 4), Rule("fcfs"))
    first, second = (dict(zip(JOB_COLUMNS, row, strict=True)) for row in job_rows(found))
    assert (first["job_id"], first["allocated_resources"], first["final_state"]) == (7, "0-2", "COMPLETED_SUCCESSFULLY")
    assert (second["waiting_time"], second["finish_time"], second["stretch"]) == (5, 30, 1.25)
    figures = schedule_row(found)
    assert (figures["makespan"], figures["mean_waiting_time"], figures["nb_jobs_success"]) == (30, 2.5, 2)
    assert (figures["time_computing"], figures["time_idle"]) == (70, 50)
    assert (first["consumed_energy"], figures["consumed_joules"]) == (-1, -1)  # unknown, as nothing has watts


def test_both_files_are_csv_with_a_head() -> None:
    found = device_schedule(Scenario("t", draw_jobs(20, 8, load=0.9, seed=0), 8), Rule("saf", "easy"))
    assert [row["job_id"] for row in csv.DictReader(jobs_csv(found).splitlines())] == [str(number) for number in found.jobs.ids]
    (row,) = csv.DictReader(schedule_csv(found).splitlines())
    assert row["nb_jobs"] == "20"
