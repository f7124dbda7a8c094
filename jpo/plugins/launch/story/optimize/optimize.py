"""`jpo optimize`: several jobs, each with its loop, side by side where the engine has room. One that fails stops no other."""

from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from jpo.errors import JpoError, UsageError
from jpo.plugins.launch.ledger import read
from jpo.plugins.launch.report.optimize.record import OptimizedJob
from jpo.plugins.launch.report.optimize.result import charts
from jpo.plugins.launch.story.optimize.following import Boundary, job_for
from jpo.plugins.launch.story.optimize.loop import optimized
from jpo.plugins.launch.story.optimize.results import Compare, result_of
from jpo.plugins.launch.story.optimize.task import LoopPlan, Outside, Task
from jpo.report.forms.picture import can_plot, save

OF_THE_COMMAND = ("JPO-E756", "JPO-E773", "JPO-E774")
"""There is no command, no such script, or it cannot be started."""


@dataclass(slots=True)
class Going:
    """A loop under way: when it is to be looked at next, unix seconds."""

    task: Task
    loop: Generator[float, None, None]
    due: float


@dataclass(frozen=True, slots=True)
class LoopsEnded:
    """All that was done, and the first failure, which the command ends with once the result has been shown."""

    jobs: Sequence[OptimizedJob]
    failure: JpoError | None


def optimize(tasks: Sequence[Task], plan: LoopPlan, outside: Outside, compare: Compare, *, picture: Path | None) -> LoopsEnded:
    """Run the loops of all jobs, and say what came of them.

    Raises:
        UsageError: JPO-E787, two of the jobs are one; JPO-E756, E773, E774, a job that is still to begin has no command, or a
            script that cannot be started; JPO-E712, JPO-E713, the picture cannot be drawn.
        KeyboardInterrupt: after the runs that were going on have been cancelled and recorded.
    """
    refuse_twins(tasks)
    for task in tasks:
        refuse_without_command(task, plan, outside)
    if picture:
        can_plot(picture)
    failures = side_by_side(tasks, plan, outside)
    jobs = [result_of(task, plan, compare, failures.get(task.name)) for task in tasks]
    if picture:
        shown = charts(jobs)
        if not shown:
            raise UsageError("--plot", "no run measured how long it took", "see `jpo history` for what is known", code="JPO-E789")
        save(shown, picture, "Optimised by running")
    return LoopsEnded(jobs, next(iter(failures.values()), None))


def refuse_twins(tasks: Sequence[Task]) -> None:
    """No two of the jobs may be one: their runs would have the same ids, or learn from each other's values."""
    for number, task in enumerate(tasks):
        for other in tasks[:number]:
            same_file = task.path.absolute() == other.path.absolute()
            if same_file or (task.name, task.ledger) == (other.name, other.ledger):
                finding = f"and {other.path} are one job" if same_file else f"and {other.path} would both be called {task.name}"
                raise UsageError(str(task.path), finding, "name each once, and --name for one job alone", code="JPO-E787")


def refuse_without_command(task: Task, plan: LoopPlan, outside: Outside) -> None:
    """A job of which nothing was started yet needs a command before anything is made or shown; what was, can be shown without."""
    ids = [task.run_id(1, baseline=baseline) for baseline in (True, False)]
    if not any(read(task.ledger, run_id) for run_id in ids):
        try:
            job_for(task, plan, outside, ids[0], Boundary())
        except UsageError as error:
            if error.code in OF_THE_COMMAND:  # what else is wrong is wrong with one job, and stops no other
                raise


def side_by_side(tasks: Sequence[Task], plan: LoopPlan, outside: Outside) -> dict[str, JpoError]:
    """Run the loops, `plan.at_once` of them at a time; by name the failures of those that ended early.

    KeyboardInterrupt comes once each loop has cancelled its run.
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
                if len(tasks) > 1:  # of a single one it is what the command ends with, at once
                    of = "" if error.place == first.task.name else f"{first.task.name}: "
                    outside.note(f"{of}{error} [{error.code}]")
                going.remove(first)
    finally:
        with ExitStack() as loops:  # interrupted: every loop cancels the run that it follows, though one is interrupted again
            for each in going[::-1]:
                loops.callback(each.loop.close)
    return failures
