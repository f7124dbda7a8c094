"""`jpo optimize`: several jobs, each with its loop, side by side where the engine has room. One that fails stops no other."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jpo.commands.optimize.loop import optimized
from jpo.commands.optimize.results import Compare, result_of
from jpo.commands.optimize.task import LoopPlan, Outside, Task
from jpo.errors import JpoError, UsageError
from jpo.report.optimize.record import Optimized
from jpo.report.plots.picture import can_plot


@dataclass(slots=True)
class Going:
    """A loop under way: when it is to be looked at next, unix seconds."""

    task: Task
    loop: Generator[float, None, None]
    due: float


@dataclass(frozen=True, slots=True)
class LoopsEnded:
    """All that was done, and the first failure, which the command ends with once the result has been shown."""

    result: Optimized
    failure: JpoError | None


def optimize(tasks: Sequence[Task], plan: LoopPlan, outside: Outside, compare: Compare, *, picture: Path | None) -> LoopsEnded:
    """Run the loops of all jobs, and say what came of them.

    Raises:
        UsageError: JPO-E787, two of the jobs are one; JPO-E712, JPO-E713, the picture cannot be drawn.
        KeyboardInterrupt: after the runs that were going on have been cancelled and recorded.
    """
    refuse_twins(tasks)
    if picture:
        can_plot(picture)
    failures = side_by_side(tasks, plan, outside)
    result = Optimized([result_of(task, plan, compare, failures.get(task.name)) for task in tasks])
    if picture:
        from jpo.report.plots.optimize import plot

        plot(result, picture)
    return LoopsEnded(result, next(iter(failures.values()), None))


def refuse_twins(tasks: Sequence[Task]) -> None:
    """No two of the jobs may be one: their runs would have the same ids, or learn from each other's values."""
    for number, task in enumerate(tasks):
        for other in tasks[:number]:
            same_file = task.path.absolute() == other.path.absolute()
            if same_file or (task.name, task.ledger) == (other.name, other.ledger):
                finding = f"and {other.path} are one job" if same_file else f"and {other.path} would both be called {task.name}"
                raise UsageError(str(task.path), finding, "name each once, and --name for one job alone", code="JPO-E787")


def side_by_side(tasks: Sequence[Task], plan: LoopPlan, outside: Outside) -> dict[str, JpoError]:
    """Run the loops, `plan.at_once` of them at a time; by name the failures of those that ended early.

    Raises:
        KeyboardInterrupt: each loop has cancelled its run by then.
    """
    waiting, going, failures = list(tasks), list[Going](), dict[str, JpoError]()
    try:
        while waiting or going:
            while waiting and len(going) < plan.at_once:
                task = waiting.pop(0)
                going.append(Going(task, optimized(task, plan, outside), outside.clock()))
            first = min(going, key=lambda each: each.due)
            outside.sleep(max(0.0, first.due - outside.clock()))
            try:
                first.due = outside.clock() + next(first.loop)
            except StopIteration:
                going.remove(first)
            except JpoError as error:
                failures[first.task.name] = error
                of = "" if error.place == first.task.name else f"{first.task.name}: "
                outside.note(f"{of}{error} [{error.code}]")
                going.remove(first)
    finally:
        for each in going:  # interrupted: every loop cancels the run that it follows
            each.loop.close()
    return failures
