"""The user's own finished runs as a trace: what other policies would have made of the configurations that were run here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jpo.errors import UsageError
from jpo.records import Run
from jpo.replay.traces import LARGEST, SMALLEST, CostUnit, Execution, Trace


@dataclass(frozen=True, slots=True)
class OwnRuns:
    """A trace of own runs, and sentences which say what it does and does not hold."""

    trace: Trace
    notes: tuple[str, ...]


def trace_of(
    name: str, place: str, runs: Sequence[Run], cost_of: Callable[[Run], float | None], *, cost_unit: CostUnit
) -> OwnRuns:
    """Group a workload's runs by configuration.

    Args:
        name, place: of the workload, and where it is described.
        runs: oldest first. The configuration of the oldest one is where a replay starts.
        cost_of: cost of a run in `cost_unit`; None if it is not known.

    Returns:
        The trace over the parameters in which the runs differ. Runs without a duration or a cost are left out; one that failed,
        was stopped or missed its target counts as one that never gets there, with the bill it left.

    Raises:
        UsageError: JPO-E702, fewer than two configurations were run, or none of their runs ended well.
    """
    measured = [(run, one) for run in runs if (one := _execution(run, cost_of(run))) is not None]
    knobs = _varied([run for run, _ in measured])
    if not knobs:
        finding = f"its {len(measured)} usable runs have one configuration only: a replay chooses among what was run"
        raise UsageError(place, finding, "run the job with other values first, or replay a trace", code="JPO-E702")
    known = [(run, one) for run, one in measured if all(knob in run.parameters for knob in knobs)]
    found: dict[tuple[float, ...], list[Execution]] = {}
    for run, one in known:
        found.setdefault(tuple(run.parameters[knob] for knob in knobs), []).append(one)
    keys = list(found)
    trace = Trace(
        name,
        tuple(dict(zip(knobs, key, strict=True)) for key in keys),
        tuple(tuple(found[key]) for key in keys),
        default=0,
        cost_unit=cost_unit,
    )
    return OwnRuns(trace, _notes(trace, left_out=len(runs) - len(known)))


def _execution(run: Run, cost: float | None) -> Execution | None:
    seconds = run.outcome.duration_seconds
    if seconds is None or cost is None or min(seconds, cost) < SMALLEST or max(seconds, cost) > LARGEST:
        return None
    return Execution(seconds, cost, run.ended_well)


def _varied(runs: Sequence[Run]) -> tuple[str, ...]:
    """Parameters in which the runs differ."""
    values: dict[str, set[float]] = {}
    for run in runs:
        for name, value in run.parameters.items():
            values.setdefault(name, set()).add(value)
    return tuple(name for name, seen in values.items() if len(seen) > 1)


def _notes(trace: Trace, *, left_out: int) -> tuple[str, ...]:
    runs = sum(map(len, trace.executions))
    start = ", ".join(f"{name} = {value:g}" for name, value in trace.configurations[trace.default].items())
    among = f"the {len(trace.configurations)} configurations which its {runs} runs had"
    notes = [
        f"{trace.name}: only {among} can be chosen; what was not run may be better",
        f"{trace.name}: run 1 of each replay is {start}, as the oldest run",
    ]
    if left_out:
        notes.append(f"{trace.name}: {left_out} runs are left out; they lack a duration, a cost or a parameter")
    return tuple(notes)
