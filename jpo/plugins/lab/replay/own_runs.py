"""A trace of the user's own finished runs, on which other policies can be replayed."""

from collections.abc import Callable, Sequence

from jpo.errors import UsageError
from jpo.plugins.lab.replay.traces import LARGEST, SMALLEST, CostUnit, Execution, Trace
from jpo.records import Run
from jpo.wording import numbers


def trace_of(
    name: str, place: str, runs: Sequence[Run], cost_of: Callable[[Run], float | None], *, cost_unit: CostUnit
) -> tuple[Trace, tuple[str, ...]]:
    """The trace of a workload's runs over the parameters in which they differ, and sentences that say what it does not contain.

    A replay starts from the configuration of the first run, the oldest. Runs without a duration or a cost are left out; one that
    failed, was stopped or missed its target never reaches it in a replay either, at the cost it had. `place`: for errors.

    Raises UsageError: JPO-E702, fewer than two configurations were run, or none of their runs ended well.
    """
    measured = [(run, execution) for run in runs if (execution := _execution(run, cost_of(run))) is not None]
    names = dict.fromkeys(name for run, _ in measured for name in run.parameters)
    knobs = tuple(name for name in names if len({run.parameters.get(name) for run, _ in measured} - {None}) > 1)
    if not knobs:
        finding = f"its {len(measured)} usable runs have one configuration only: a replay chooses among those that were run"
        raise UsageError(place, finding, "run the job with other values first, or replay a trace", code="JPO-E702")
    complete = [(run, execution) for run, execution in measured if all(knob in run.parameters for knob in knobs)]
    by_values: dict[tuple[float, ...], list[Execution]] = {}
    for run, execution in complete:
        by_values.setdefault(tuple(run.parameters[knob] for knob in knobs), []).append(execution)
    configurations = tuple(dict(zip(knobs, key, strict=True)) for key in by_values)
    trace = Trace(name, configurations, tuple(map(tuple, by_values.values())), default=0, cost_unit=cost_unit)
    return trace, _notes(trace, left_out=len(runs) - len(complete))


def _execution(run: Run, cost: float | None) -> Execution | None:
    seconds = run.outcome.duration_seconds
    if seconds is None or cost is None or min(seconds, cost) < SMALLEST or max(seconds, cost) > LARGEST:
        return None
    return Execution(seconds, cost, run.ended_well)


def _notes(trace: Trace, *, left_out: int) -> tuple[str, ...]:
    runs = sum(map(len, trace.executions))
    start = ", ".join(f"{name} = {numbers.plain(value)}" for name, value in trace.configurations[trace.default].items())
    among = f"the {len(trace.configurations)} configurations of its {runs} runs"
    notes = [
        f"{trace.name}: only {among} can be chosen; others may be better",
        f"{trace.name}: run 1 of each replay has {start}, like the oldest run",
    ]
    if left_out:
        notes.append(f"{trace.name}: {left_out} runs without a duration, a cost or a parameter are left out")
    return tuple(notes)
