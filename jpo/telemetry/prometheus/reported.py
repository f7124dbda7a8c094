"""What runs say of themselves: configuration, pods, totals, losses, and how they ended.

A run that was begun again, in the same pod or in another, may have said things before which no longer hold: its last word counts.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from jpo.errors import TelemetryError
from jpo.records import PARAMETERS
from jpo.telemetry import contract
from jpo.telemetry.prometheus import queries
from jpo.telemetry.prometheus.answers import Row, TooMuch
from jpo.telemetry.prometheus.cluster import Pod, pod_of
from jpo.telemetry.prometheus.scope import Look

LOSSES = ("train_loss", "val_loss")

Word = TypeVar("Word", str, float)


@dataclass(slots=True)
class Described:
    """What a run says in jpo_run_info and jpo_run_status; several configurations or endings are a contradiction."""

    configurations: set[tuple[tuple[str, str], ...]] = field(default_factory=set)
    endings: set[str] = field(default_factory=set)
    pods: dict[Pod, str | None] = field(default_factory=dict)
    """Each with its container, where that is said."""


def descriptions(look: Look, run_ids: Sequence[str]) -> dict[str, Described]:
    """By run id; those of other runs may be among them."""
    span = queries.window(look.begin, look.until)
    told: dict[str, Described] = defaultdict(Described)
    for kind, row in look.ask_all(queries.descriptions(look.names, look.chosen(run_ids), span)):
        labels, run = row.labels, told[row.labels.get("run_id", "")]
        if kind == "ending":
            run.endings.add(labels.get("status", ""))
            continue
        run.configurations.add(tuple((name, labels[name]) for name in (*PARAMETERS, contract.DATA_FRACTION) if name in labels))
        if "pod" in labels:
            run.pods[pod_of(labels)] = labels.get("container")
    return told


def values(look: Look, rows: Sequence[tuple[str, Row]]) -> dict[str, dict[str, float]]:
    """By run: what it says of itself, as far as measured.Values has a field for it.

    Args:
        rows: those of queries.quantities.
    """
    told: dict[str, dict[str, float]] = defaultdict(dict)
    torn: dict[str, set[str]] = defaultdict(set)
    for quantity, row in rows:
        run_id = row.labels.get("run_id", "")
        before = told[run_id].setdefault(quantity, row.value)
        if before != row.value and not (math.isnan(before) and math.isnan(row.value)):
            torn[quantity].add(run_id)
    for quantity, run_ids in torn.items():
        role, _ = queries.QUANTITIES[quantity]
        for run_id, value in _last_words(look, role, sorted(run_ids), _last).items():
            told[run_id][quantity] = value
    for run_id, loss in _lost_nan(look, told):
        told[run_id][loss] = math.nan
    return told


def endings(look: Look, words: Mapping[str, set[str]]) -> dict[str, str]:
    """How each run says that it ended."""
    known = {run_id: next(iter(several)) for run_id, several in words.items() if len(several) == 1}
    torn = [run_id for run_id, several in words.items() if len(several) > 1]
    return known | _last_words(look, contract.STATUS, torn, _status)


def _last_words(look: Look, role: str, run_ids: Sequence[str], word: Callable[[Row], tuple[float, Word]]) -> dict[str, Word]:
    """By run: what was said last of all its processes. Costs all samples of these runs."""
    said: dict[str, tuple[float, Word]] = {}
    if run_ids:
        for row in look.samples(role, run_ids):
            run_id = row.labels.get("run_id", "")
            said[run_id] = max(word(row), said.get(run_id, word(row)))
    return {run_id: said[run_id][1] for run_id in run_ids if run_id in said}


def _last(row: Row) -> tuple[float, float]:
    return row.points[-1]


def _status(row: Row) -> tuple[float, str]:
    return max((time for time, value in row.points if value == 1), default=0.0), row.labels.get("status", "")


def _lost_nan(look: Look, told: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, str]]:
    """Runs and their losses that stopped being stored while the run went on.

    VictoriaMetrics stores no NaN: the last finite loss of a diverged run would look like its result. Servers that do store it do
    not know the function which is asked, and say so.
    """
    if not any(loss in values for values in told.values() for loss in LOSSES):
        return
    asked = queries.silences(look.names, look.chosen(), queries.window(look.begin, look.until))
    try:
        for loss, row in look.ask_all(asked):
            yield row.labels.get("run_id", ""), loss
    except TelemetryError as error:
        if error.code != "JPO-E105" or isinstance(error, TooMuch):
            raise
