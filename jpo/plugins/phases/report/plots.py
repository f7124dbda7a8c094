"""Phases as pictures: each resource over boxes of its phases, and what each phase uses as boxes of the middle half."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jpo.plugins.phases.chain import Ints, entries
from jpo.plugins.phases.table import in_units
from jpo.plugins.phases.traces import Traces
from jpo.report.document import Marks, Plot
from jpo.report.forms.colours import SEVERAL
from jpo.report.forms.picture import save

MOST_ROWS = 12
UNITS = {"cpu_cores": "CPU (cores)", "memory_bytes": "memory (GiB)", "gpu_memory_bytes": "GPU memory (GiB)"}
Box = tuple[float, float, float, float]


def plot_resources(traces: Traces, phases: Ints, k: int, palette: str, file: Path) -> None:
    """Draw each execution, MOST_ROWS at most: a chart for each of its features, the phases behind it."""
    charts = []
    for execution, own in zip(traces.executions[:MOST_ROWS], traces.split(phases), strict=False):
        minutes = ((execution.times - execution.times[0]) / 60).tolist()
        stays = list(itertools.pairwise([*entries(own), len(own) - 1]))
        for feature, values in zip(traces.features, execution.values.T, strict=True):
            used = [float(in_units(feature, value)) for value in values]
            boxes = [(int(own[start]), (minutes[start], minutes[end], 0.0, max(used))) for start, end in stays]
            line = Marks("", tuple(zip(minutes, used, strict=True)), "dim", joined="line")
            title = f"{execution.name}: {UNITS.get(feature, feature)}"
            charts.append(Plot(title, "", "", "", (*_boxes(boxes, k), line), "minutes"))
    save(charts, file, "Phases", hues=_colours(palette, k))


def plot_variance(traces: Traces, phases: Ints, k: int, palette: str, file: Path) -> None:
    """Draw how much the samples of each phase differ, per feature, and how frequent each phase is."""
    charts = []
    for feature, used in zip(traces.features, traces.stacked.T, strict=True):
        groups = {phase: [in_units(feature, value) for value in used[phases == phase]] for phase in range(k)}
        spread = {phase: np.quantile(some, (0.05, 0.25, 0.5, 0.75, 0.95)).tolist() for phase, some in groups.items() if some}
        boxes = [(phase, (phase - 0.3, phase + 0.3, quarter, more)) for phase, (_, quarter, _, more, _) in spread.items()]
        reach = tuple((float(phase), float(phase), ends[0], ends[4]) for phase, ends in spread.items())
        points = tuple((float(phase), ends[2]) for phase, ends in spread.items())
        middle = Marks("median, and 90% of the samples", points, "dim", reach=reach)
        charts.append(Plot(UNITS.get(feature, feature), "", "", "", (*_boxes(boxes, k), middle), "phase"))
    shares = (np.bincount(phases, minlength=k) / len(phases)).tolist()
    bars = [(phase, (phase - 0.3, phase + 0.3, 0.0, share)) for phase, share in enumerate(shares)]
    charts.append(Plot("share of the samples", "", "", "share", tuple(_boxes(bars, k)), "phase"))
    save(charts, file, "Phases", hues=_colours(palette, k))


def _boxes(boxes: Sequence[tuple[int, Box]], k: int) -> list[Marks]:
    """The boxes of each phase."""
    kinds = []
    for phase in range(k):
        some = tuple(box for each, box in boxes if each == phase)
        places, hue = tuple((left, low) for left, _, low, _ in some), 1 + phase % len(SEVERAL)
        kinds.append(Marks(f"phase {phase}", places, hue=hue, reach=some, joined="boxes"))
    return kinds


def _colours(palette: str, k: int) -> list[str]:
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    colours = colormaps[palette]
    places = range(k) if palette in ("tab10", "Set2") else np.linspace(0.1, 0.95, k)
    return [to_hex(colours(place % colours.N if isinstance(place, int) else place)) for place in places]
