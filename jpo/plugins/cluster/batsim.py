"""A schedule as Batsim writes it, out_jobs.csv and out_schedule.csv, for tools that can plot those."""

from collections.abc import Iterator

import numpy as np

from jpo.plugins.cluster.schedule import DeviceSchedule, intervals
from jpo.report.forms.csv import csv_line

JOB_COLUMNS = (
    *("job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources", "requested_time", "success"),
    *("final_state", "starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time", "stretch"),
    *("allocated_resources", "consumed_energy", "metadata"),
)
Value = str | float


def job_rows(schedule: DeviceSchedule) -> Iterator[tuple[Value, ...]]:
    """A row per job under JOB_COLUMNS, as they came; stretch is turnaround / run time; -1: its energy is unknown.

    A job that was resized has all devices that it ever held."""
    jobs = schedule.jobs
    columns = (jobs.ids, jobs.submit_seconds, jobs.requested_seconds, schedule.starts, schedule.ends)
    joules = [-1] * len(jobs) if schedule.joules is None else schedule.joules.tolist()
    rows = zip(
        *(column.tolist() for column in columns), schedule.asked, schedule.all_devices(), schedule.killed, joules, strict=True
    )
    for number, submit, requested, start, end, asked, devices, killed, energy in rows:
        run, turnaround = end - start, end - submit
        yield (
            *(number, "w0", str(number), submit, asked, requested, int(not killed)),
            "COMPLETED_WALLTIME_REACHED" if killed else "COMPLETED_SUCCESSFULLY",
            *(start, run, end, start - submit, turnaround, turnaround / run if run else 1.0, intervals(devices), energy, ""),
        )


def schedule_row(schedule: DeviceSchedule) -> dict[str, Value]:
    """The figures of the whole, by the names of their columns; nothing sleeps or switches here; -1: energy is unknown."""
    run = schedule.ends - schedule.starts
    wait, turnaround = (moments - schedule.jobs.submit_seconds for moments in (schedule.starts, schedule.ends))
    slowdown = np.divide(turnaround, run, out=np.ones_like(run), where=run > 0)
    killed, count = sum(schedule.killed), len(schedule.jobs)
    busy = float(run @ np.array([len(devices) for devices in schedule.devices]))
    busy += sum((stay.end - stay.begin) * len(stay.devices) for stay in schedule.besides)
    span = float(schedule.ends.max())
    return {
        "batsim_version": "jpo",
        "consumed_joules": -1 if schedule.consumed_joules is None else schedule.consumed_joules,
        "makespan": span,
        "max_slowdown": float(slowdown.max()),
        "max_turnaround_time": float(turnaround.max()),
        "max_waiting_time": float(wait.max()),
        "mean_slowdown": float(slowdown.mean()),
        "mean_turnaround_time": float(turnaround.mean()),
        "mean_waiting_time": float(wait.mean()),
        "nb_computing_machines": len(schedule.kinds),
        "nb_grouped_switches": 0,
        "nb_jobs": count,
        "nb_jobs_finished": count,
        "nb_jobs_killed": killed,
        "nb_jobs_rejected": 0,
        "nb_jobs_success": count - killed,
        "nb_machine_switches": 0,
        "scheduling_time": 0.0,
        "simulation_time": 0.0,
        "success_rate": (count - killed) / count,
        "time_computing": busy,
        "time_idle": span * len(schedule.kinds) - busy,
        **{f"time_{state}": 0.0 for state in ("sleeping", "switching_off", "switching_on", "unavailable")},
    }


def jobs_csv(schedule: DeviceSchedule) -> str:
    return "".join((csv_line(JOB_COLUMNS), *map(csv_line, job_rows(schedule))))


def schedule_csv(schedule: DeviceSchedule) -> str:
    figures = schedule_row(schedule)
    return csv_line(tuple(figures)) + csv_line(tuple(figures.values()))
