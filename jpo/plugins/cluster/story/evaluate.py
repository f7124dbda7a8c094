"""`jpo cluster evaluate`: what waits, slowdowns and utilisation would be under other policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jpo.errors import NothingAdmissible, UsageError
from jpo.plugins.cluster.fail_condition import FailCondition, parsed
from jpo.plugins.cluster.grid import ParallelBackend, evaluate_all
from jpo.plugins.cluster.queueing.simulate import Rule
from jpo.plugins.cluster.report.evaluation import Evaluated
from jpo.plugins.cluster.schedule import DeviceSchedule, device_schedule
from jpo.plugins.cluster.story.scenarios import RulesAndSeeds, Sources, scenarios_of
from jpo.records import Track


@dataclass(frozen=True, slots=True)
class EvaluateOptions:
    """Options of the command line; see `jpo cluster evaluate --help`."""

    rules: tuple[Rule, ...]
    seeds: range
    conditions: tuple[FailCondition, ...] = ()
    processes: int | None = None
    backend: ParallelBackend = "loky"


def evaluate(sources: Sources, options: EvaluateOptions, *, track: Track) -> Evaluated:
    """Every rule on every workload with every seed."""
    notes: list[str] = []
    scenarios = scenarios_of(sources, RulesAndSeeds(options.rules, options.seeds), notes)
    found = evaluate_all(scenarios, options.rules, processes=options.processes, backend=options.backend, track=track)
    return Evaluated(found, tuple(notes))


def one_schedule(sources: Sources, options: EvaluateOptions, option: str) -> DeviceSchedule:
    """The single schedule of a single policy, for `option` which shows one.

    Raises:
        UsageError: JPO-E744, there are several.
    """
    scenarios = scenarios_of(sources, RulesAndSeeds(options.rules, options.seeds), [])
    if len(scenarios) > 1 or len(options.rules) > 1:
        remedy = "name one workload, one policy and one seed"
        raise UsageError(option, f"shows one schedule, not {len(scenarios) * len(options.rules)}", remedy, code="JPO-E744")
    return device_schedule(scenarios[0], options.rules[0])


def fail_if(conditions: Sequence[FailCondition], evaluated: Evaluated) -> None:
    """Raise NothingAdmissible, JPO-E746, where a condition is true."""
    for condition in conditions:
        if finding := condition.holds(evaluated.evaluations):
            raise NothingAdmissible("--fail-if", f"{condition.text!r} is true: {finding}", code="JPO-E746")


def fail_conditions(texts: Sequence[str], rules: Sequence[Rule]) -> tuple[FailCondition, ...]:
    """The sentences of --fail-if."""
    return tuple(parsed(text, [rule.name for rule in rules]) for text in texts)
