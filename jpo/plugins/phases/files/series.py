"""A series as it was exported: a name, labels, and values over time, of which it is not known yet what they measure.

Prometheus and Grafana name it by a metric with labels in braces, or by a legend.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from jpo.plugins.phases.traces import Floats

LABEL = re.compile(r'"?(?P<name>[A-Za-z_][A-Za-z0-9_.]*+)"? ?[=:] ?(?:"(?P<quoted>(?:[^"\\]|\\.)*+)"|(?P<plain>[^",;{}=]*+))')
METRIC = re.compile(r"[A-Za-z_:][A-Za-z0-9_:.]*")


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


def named(title: str) -> tuple[str, dict[str, str]]:
    """A metric's name and its labels; a legend is a name without labels.

    Of an expression, `sum(rate(metric{pod="a"}[5m]))`, the labels that it asks for, and the rest as its name.
    """
    title = title.strip()
    before, brace, rest = title.partition("{")
    inside, end, after = rest.rpartition("}")
    is_metric = not after and (not before or METRIC.fullmatch(before.strip()) is not None)
    found = labels_of(inside) if brace and end and (is_metric or "(" in before) else None
    if found is None:
        return title, {}
    return (before.strip() or found.get("__name__", "")) if is_metric else before + after, found


def labels_of(text: str) -> dict[str, str] | None:
    """`a="1", b="2"`, the same as JSON, or a=1;b=2, with braces or without; None: it is none of these."""
    text = text.strip().removeprefix("{").removesuffix("}").strip()
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        if text[at] in " ,;":
            at += 1
            continue
        label = LABEL.match(text, at)
        if label is None:
            return None
        quoted = label["quoted"]
        found[label["name"]] = label["plain"].strip() if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        at = label.end()
    return found
