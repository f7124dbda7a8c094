"""A schedule as a picture: who held which device when, and below how many were busy and how many jobs waited."""

from pathlib import Path

import numpy as np

from jpo.plugins.cluster.schedule import DeviceSchedule, bars, busy_over_time
from jpo.report.document import Marks, Plot
from jpo.report.forms.colours import SEVERAL
from jpo.report.forms.picture import save

MOST_BARS = 20_000  # more cannot be told apart
SECONDS_PER_HOUR = 3600.0


def plot(schedule: DeviceSchedule, file: Path) -> None:
    """Write a PNG or SVG."""
    first = float(schedule.jobs.submit_seconds.min())
    boxes: list[list[tuple[float, float, float, float]]] = [[] for _ in SEVERAL]
    stays = list(schedule.stays())
    held = [(stay, low, high) for stay in stays for low, high in bars(stay.devices)]
    for stay, low, high in held[:MOST_BARS]:
        left, right = ((moment - first) / SECONDS_PER_HOUR for moment in (stay.begin, stay.end))
        boxes[stay.job % len(SEVERAL)].append((left, right, low, high))
    jobs = (
        Marks("", tuple((left, low) for left, _, low, _ in some), hue=hue, reach=tuple(some), joined="boxes")
        for hue, some in enumerate(boxes, 1)
    )
    begins, ends, counts = zip(*((stay.begin, stay.end, len(stay.devices)) for stay in stays), strict=True)
    busy = busy_over_time(np.array(begins), np.array(ends), counts)
    waiting = busy_over_time(schedule.jobs.submit_seconds, schedule.starts, [1] * len(schedule.jobs))
    curves = []
    for title, (at, count) in (("busy devices", busy), ("waiting jobs", waiting)):
        points = tuple(zip(((at - first) / SECONDS_PER_HOUR).tolist(), map(float, count), strict=True))
        curves.append(Plot(title, "", "", "", (Marks("", points, joined="steps"),), "hours"))
    gantt = Plot("devices by number, a colour per job", "", "", "", tuple(jobs), "hours")
    save([gantt, *curves], file, f"{schedule.scenario.name}, {schedule.rule.name}")
