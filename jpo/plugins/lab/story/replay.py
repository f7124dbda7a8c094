"""`jpo lab replay`: how JPO and its peers would have done on recorded runs, one's own history included.

The one place that knows every policy by name: the peers are a part of their own, JPO plays through the users' `jpo.Advisor`.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from jpo.advisor.advisor import Advisor
from jpo.agent.alternatives.named import as_shipped
from jpo.cost import Prices, log_rate, run_cost_usd
from jpo.errors import UsageError
from jpo.files.reading import same_file
from jpo.plugins.lab.replay.contest import Contest, hold
from jpo.plugins.lab.replay.play import OBJECTIVES, Objective, PolicyFactory, ReplayProblem
from jpo.plugins.lab.replay.policies import POLICIES
from jpo.plugins.lab.replay.traces import LARGEST, SMALLEST, CostUnit, Execution, Trace, read_trace
from jpo.plugins.lab.report.replay import Played
from jpo.project.collect import collect
from jpo.project.load import LoadedSettings
from jpo.project.project import open_project
from jpo.records import POLICIES as NAMED
from jpo.records import Outcome, PolicyName, Run, Spread, Track, in_turn
from jpo.report.forms.picture import can_plot
from jpo.wording import numbers


class Advised:
    """JPO itself, as a user's notebook would call it."""

    def __init__(self, problem: ReplayProblem, **options: Any) -> None:
        """`options` are the Advisor's own."""
        self._configurations = problem.configurations
        self._rows: dict[frozenset[tuple[str, object]], int] = {
            frozenset(values.items()): row for row, values in enumerate(problem.configurations)
        }
        current = problem.configurations[problem.default]
        space = [dict(values) for values in problem.configurations]
        self._advisor = Advisor(space, current, preference=problem.objective, seed=problem.seed, **options)

    def ask(self) -> int:
        return self._rows[frozenset(self._advisor.ask().parameters.items())]

    def tell(self, choice: int, outcome: Outcome, charge: float) -> None:
        self._advisor.tell(self._configurations[choice], outcome)


def decided_by(name: PolicyName, problem: ReplayProblem) -> Advised:
    """JPO with another policy than the settings' default, or with SAC whether or not it was released."""
    policy = as_shipped(name)
    return Advised(problem, policy=None if policy is None else replace(policy, released=("safe", "on", "horizon")))


ALL_POLICIES: Mapping[str, PolicyFactory] = {
    "jpo": Advised,
    "jpo-bold": partial(Advised, explore="on"),
    **{name: partial(decided_by, name) for name in NAMED},
    **POLICIES,
}
QUICK_POLICIES = "jpo,default,random,hillclimb,zeus"
MOST_RUNS = 1000


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """Options of the command line; see `jpo lab replay --help`."""

    policies: tuple[str, ...]
    horizons: tuple[int, ...]
    objectives: tuple[Objective, ...]
    seeds: range = range(20)
    opened: tuple[str, ...] = ()
    spread: Spread = in_turn
    each_workload: bool = False


def replay(
    files: Sequence[Path], own: Sequence[tuple[Path, LoadedSettings]], options: ReplayOptions, *, now: float, track: Track
) -> Played:
    """Play every policy on every recorded trace, and on the own history of every config.ini.

    Nothing is written, and the network is not used.
    """
    histories = [own_runs(path, settings, now=now) for path, settings in own]
    traces = (*(read_trace(path, opened=options.opened) for path in files), *(trace for trace, _ in histories))
    refuse_twins(traces)
    factories = {name: ALL_POLICIES[name] for name in options.policies}
    contest = Contest(traces, factories, options.objectives, options.horizons, options.seeds)
    result = hold(contest, spread=options.spread, track=track)
    return Played(contest, result, tuple(note for _, notes in histories for note in notes), options.each_workload)


def own_runs(path: Path, settings: LoadedSettings, *, now: float) -> tuple[Trace, tuple[str, ...]]:
    """The finished runs of a config.ini's workload, on record and in CSV logs, as a trace, with what it does not contain."""
    with open_project(path, settings, now=now, read_only=True, judges=False) as job:
        workload, prices, runs = job.workload, job.prices, collect(job).runs
    in_usd = all(_usd(run, workload.current, prices) is not None for run in runs if run.outcome.duration_seconds)
    cost_of = partial(_usd if in_usd else _relative, current=workload.current, prices=prices)
    return trace_of(str(workload.identity), str(path), runs, cost_of, cost_unit="USD" if in_usd else "relative")


def _usd(run: Run, current: Mapping[str, float], prices: Prices) -> float | None:
    """What a run cost; None if that is unknown, or it was free: then nothing can be compared."""
    return run_cost_usd(run.completed(current), prices) or None


def _relative(run: Run, current: Mapping[str, float], prices: Prices) -> float | None:
    """Without prices: hours times the relative weight of what was allotted."""
    seconds = run.outcome.duration_seconds
    return None if seconds is None else math.exp(log_rate(run.completed(current).parameters, prices)) * seconds / 3600


def refuse_twins(traces: Sequence[Trace]) -> None:
    """Figures are named by workload: each may be there once."""
    for index, trace in enumerate(traces):
        if any(trace.name == other.name for other in traces[:index]):
            raise UsageError("jpo lab replay", f"workload {trace.name} is given twice", "name each trace once", code="JPO-E704")


def named_policies(text: str) -> tuple[str, ...]:
    return _known("--policies", text, tuple(ALL_POLICIES))


def named_objectives(texts: Sequence[str]) -> tuple[Objective, ...]:
    """`a,b`, or several of them, as objectives."""
    names = _known("--objective", ",".join(texts), tuple(OBJECTIVES))
    return tuple(objective for objective in OBJECTIVES if objective in names)


def horizons(text: str) -> tuple[int, ...]:
    """`5,10,20` as ascending numbers of runs."""
    words = {word.strip() for word in text.split(",")}
    numbers = sorted({int(word) for word in words if re.fullmatch("[0-9]{1,9}", word)})
    if len(numbers) != len(words) or numbers[0] < 1 or numbers[-1] > MOST_RUNS:
        remedy = f"write numbers from 1 to {MOST_RUNS}, e.g. --runs 5,10,20,40"
        raise UsageError("--runs", f"{text!r} is not a list of numbers of runs", remedy, code="JPO-E704")
    return tuple(numbers)


def _known(option: str, text: str, names: Sequence[str]) -> tuple[str, ...]:
    """Words between commas, each once, all of them known."""
    words = tuple(dict.fromkeys(word.strip() for word in text.split(",")))
    for word in words:
        if word not in names:
            raise UsageError(option, f"{word!r} is unknown", f"known are {', '.join(names)}", code="JPO-E704")
    return words


def refuse_outputs(results: Sequence[Path], picture: Path | None, traces: Sequence[Path]) -> None:
    """Find out before minutes are spent that a picture could not be drawn, or a result would destroy what is replayed."""
    if picture:
        can_plot(picture)
    for file in results:
        if any(same_file(file, trace) for trace in traces):
            raise UsageError(str(file), "is a file that is replayed", "name another one", code="JPO-E307")


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
