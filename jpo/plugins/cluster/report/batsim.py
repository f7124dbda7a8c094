"""A schedule as Batsim writes it, so that tools made for out_jobs.csv and out_schedule.csv can plot it."""

from __future__ import annotations

from jpo.plugins.cluster.batsim import JOB_COLUMNS, job_rows, schedule_row
from jpo.plugins.cluster.schedule import DeviceCourse
from jpo.report.forms.csv import csv_line


def jobs_csv(course: DeviceCourse) -> str:
    """out_jobs.csv: a row per job."""
    return "".join((csv_line(JOB_COLUMNS), *map(csv_line, job_rows(course))))


def schedule_csv(course: DeviceCourse) -> str:
    """out_schedule.csv: one row."""
    figures = schedule_row(course)
    return csv_line(tuple(figures)) + csv_line(tuple(figures.values()))
