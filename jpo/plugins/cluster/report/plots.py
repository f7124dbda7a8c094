"""A schedule as a picture: who held which device when, and below how many were busy and how many jobs waited."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jpo.plugins.cluster.schedule import DeviceSchedule, bars, busy_over_time
from jpo.report.forms.colours import SEVERAL
from jpo.report.plots.picture import dress, save

MOST_BARS = 20_000
"""More cannot be told apart, and take minutes to draw."""
SECONDS_PER_HOUR = 3600.0


def plot(schedule: DeviceSchedule, file: Path) -> None:
    """Write a PNG or SVG."""
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6), dpi=150, layout="constrained")
    gantt, load = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    first = float(schedule.jobs.submit_seconds.min())
    boxes, colours = [], []
    stays = list(schedule.stays())
    for stay in stays:
        left, right = ((moment - first) / SECONDS_PER_HOUR for moment in (stay.begin, stay.end))
        for low, high in bars(stay.devices):
            boxes.append([(left, low), (left, high), (right, high), (right, low)])
            colours.append(SEVERAL[stay.job % len(SEVERAL)])
    gantt.add_collection(PolyCollection(boxes[:MOST_BARS], facecolors=colours[:MOST_BARS], linewidths=0))
    gantt.set(ylim=(0, len(schedule.kinds)), ylabel="device", title=f"{schedule.scenario.name}, {schedule.rule.name}")
    begins, ends, held = zip(*((stay.begin, stay.end, len(stay.devices)) for stay in stays), strict=True)
    moments, busy = busy_over_time(np.array(begins), np.array(ends), held)
    load.step((moments - first) / SECONDS_PER_HOUR, busy, where="post", label="busy devices", linewidth=0.8)
    moments, waiting = busy_over_time(schedule.jobs.submit_seconds, schedule.starts, [1] * len(schedule.jobs))
    load.step((moments - first) / SECONDS_PER_HOUR, waiting, where="post", label="waiting jobs", linewidth=0.8)
    load.set(xlabel="hours", xlim=(0, float(np.max(schedule.ends) - first) / SECONDS_PER_HOUR), ylim=(0, None))
    dress(load)
    load.legend(frameon=False, fontsize=8)
    save(figure, file)
