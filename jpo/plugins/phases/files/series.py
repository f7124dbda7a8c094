"""A series as it was exported: a name, labels, and values over time, of which it is not known yet what they measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jpo.plugins.phases.traces import Floats


@dataclass(frozen=True, eq=False, slots=True)
class ExportedSeries:
    """One line of a graph, or one part of an answer.

    Attributes:
        file: where it is from, as the user named it.
        place: file and column or row, for messages.
        title: how it is called there: a metric with its labels, or a legend.
        name: the metric's name, or the whole legend.
        labels: of Prometheus; empty where a legend says nothing of them.
        times: shape (n,), Unix seconds, ascending; where nothing was measured there is no sample.
        values: shape (n,), in cores or bytes where the cells had a unit.
        unit: of which feature that was, or percent; None: none.
    """

    file: str
    place: str
    title: str
    name: str
    labels: Mapping[str, str]
    times: Floats
    values: Floats
    unit: str | None = None
