"""Reports of runs about themselves: configuration, pods, totals, losses, and how they ended.

A run that was restarted, in the same pod or in another, may have reported values that no longer hold: the latest report counts.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from jpo.errors import TelemetryError
from jpo.files.reading import number
from jpo.http.answers import TooMuch
from jpo.records import COUNTS, PARAMETERS
from jpo.telemetry import contract
from jpo.telemetry.prometheus import queries
from jpo.telemetry.prometheus.answers import AnswerRow
from jpo.telemetry.prometheus.cluster import Pod, pod_of
from jpo.telemetry.prometheus.names import Names
from jpo.telemetry.prometheus.scope import Scope

LOSSES = ("train_loss", "val_loss")


@dataclass(slots=True)
class Description:
    """Contents of a run's jpo_run_info and jpo_run_status; several endings, or configurations that differ, are none."""

    configurations: set[tuple[tuple[str, str], ...]] = field(default_factory=set)
    endings: set[str] = field(default_factory=set)
    pods: dict[Pod, str | None] = field(default_factory=dict)
    """Each with its container, where the run reports it."""

    @property
    def configuration(self) -> dict[str, str]:
        """Everything that its series say together: one of several pods, or an early one, may have said less."""
        return {name: text for said in sorted(self.configurations) for name, text in said}

    @property
    def disagreement(self) -> tuple[str, list[str]] | None:
        """The first parameter of which its series say different values, and these; None where they agree."""
        said: dict[str, dict[object, str]] = defaultdict(dict)
        for configuration in self.configurations:
            for name, text in configuration:
                said[name].setdefault(_value(text), text)
        return next(((name, sorted(values.values())) for name, values in sorted(said.items()) if len(values) > 1), None)


def _value(text: str) -> object:
    """What two spellings of a number have in common."""
    try:
        return number(text)
    except ValueError:
        return text


def descriptions(scope: Scope, run_ids: Sequence[str]) -> dict[str, Description]:
    """Descriptions by run id; those of other runs may be among them."""
    span = queries.window(scope.begin, scope.until)
    answers = scope.ask_all(queries.descriptions(scope.names, scope.chosen(run_ids), span))
    return described(answers, scope.names)


def described(rows: Iterable[tuple[str, AnswerRow]], names: Names) -> dict[str, Description]:
    """Descriptions by run id from the answers to `queries.descriptions`; asking for another one gives an empty one."""
    by_run: dict[str, Description] = defaultdict(Description)
    for kind, row in rows:
        labels, run = row.labels, by_run[row.labels.get("run_id", "")]
        if kind == "ending":
            run.endings.add(labels.get("status", ""))
            continue
        said = (*PARAMETERS, *COUNTS, contract.DATA_FRACTION, *names.own.parameters)
        run.configurations.add(tuple((name, labels[name]) for name in said if name in labels))
        if "pod" in labels:
            run.pods[pod_of(labels)] = labels.get("container")
    return by_run


def values(scope: Scope, rows: Sequence[tuple[str, AnswerRow]]) -> dict[str, dict[str, float]]:
    """Values that runs report, in rows of queries.quantities, by run id, where outcome.MeasuredValues has a field."""
    by_run: dict[str, dict[str, float]] = defaultdict(dict)
    contradictory: dict[str, set[str]] = defaultdict(set)
    for quantity, row in rows:
        run_id = row.labels.get("run_id", "")
        before = by_run[run_id].setdefault(quantity, row.value)
        if before != row.value and not (math.isnan(before) and math.isnan(row.value)):
            contradictory[quantity].add(run_id)
    for quantity, run_ids in contradictory.items():
        role = contract.OWN_METRIC if quantity == queries.OWN else queries.QUANTITIES[quantity][0]
        latest: dict[str, tuple[float, float]] = {}  # of any of the run's processes; all samples of these runs are read
        for row in scope.samples(role, sorted(run_ids)):
            run_id = row.labels.get("run_id", "")
            latest[run_id] = max(row.points[-1], latest.get(run_id, row.points[-1]))
        for run_id in run_ids & latest.keys():
            by_run[run_id][quantity] = latest[run_id][1]
    for run_id, loss in _lost_nan(scope, by_run):
        by_run[run_id][loss] = math.nan
    return by_run


def endings(scope: Scope, statuses: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The status with which each run says that it ended, by run id: of several the latest. A restarted run has them one after the
    other; where two were reported at the same time, both are returned, and one of them is wrong."""
    result = {run_id: words for run_id, words in statuses.items() if words}
    spans: dict[str, list[tuple[float, float, str]]] = defaultdict(list)
    contradictory = [run_id for run_id, words in result.items() if len(words) > 1]
    for row in scope.samples(contract.STATUS, contradictory) if contradictory else ():
        times = [time for time, value in row.points if value == 1]
        if times:
            spans[row.labels.get("run_id", "")].append((max(times), min(times), row.labels.get("status", "")))
    for run_id in contradictory:
        begun = max(((last, first) for last, first, _ in spans[run_id]), default=(-math.inf, -math.inf))[1]
        result[run_id] = {word for last, _, word in spans[run_id] if last >= begun}
    return result


def _lost_nan(scope: Scope, by_run: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, str]]:
    """Runs and those of their losses that stopped being stored while the run went on: VictoriaMetrics stores no NaN, and the last
    finite loss of a diverged run would look like its result. Servers that store it do not know the function, and say so."""
    if not any(loss in values for values in by_run.values() for loss in LOSSES):
        return
    asked = queries.silences(scope.names, scope.chosen(), queries.window(scope.begin, scope.until))
    try:
        for loss, row in scope.ask_all(asked):
            yield row.labels.get("run_id", ""), loss
    except TelemetryError as error:
        if error.code != "JPO-E105" or isinstance(error, TooMuch):
            raise
