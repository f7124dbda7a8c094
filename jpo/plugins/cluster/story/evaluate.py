"""`jpo cluster evaluate`: what waits, slowdowns and utilisation would be under other policies."""

from collections.abc import Sequence

from jpo.errors import UsageError
from jpo.plugins.cluster.grid import evaluate_all
from jpo.plugins.cluster.queueing.simulate import Rule
from jpo.plugins.cluster.report.evaluation import Evaluated
from jpo.plugins.cluster.schedule import DeviceSchedule, device_schedule
from jpo.plugins.cluster.story.scenarios import Sources, scenarios_of
from jpo.records import Spread, Track


def evaluate(sources: Sources, rules: Sequence[Rule], seeds: range, *, spread: Spread, track: Track) -> Evaluated:
    """Every rule on every workload with every seed."""
    notes: list[str] = []
    scenarios = scenarios_of(sources, rules, seeds, notes)
    return Evaluated(evaluate_all(scenarios, rules, spread=spread, track=track), tuple(notes))


def one_schedule(sources: Sources, rules: Sequence[Rule], seeds: range, option: str) -> DeviceSchedule:
    """The single schedule of a single policy, for `option` which shows one. Raises UsageError: JPO-E744, there are several."""
    scenarios = scenarios_of(sources, rules, seeds, [])
    if len(scenarios) > 1 or len(rules) > 1:
        remedy = "name one workload, one policy and one seed"
        raise UsageError(option, f"shows one schedule, not {len(scenarios) * len(rules)}", remedy, code="JPO-E744")
    return device_schedule(scenarios[0], rules[0])
