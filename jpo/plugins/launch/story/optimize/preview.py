"""`jpo optimize --dry-run`: what the loop of each job would do next. Nothing is started or written."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from jpo.plugins.launch.launcher import ShowsPlan
from jpo.plugins.launch.ledger import Entry, output_of, read
from jpo.plugins.launch.report.launched.run import LaunchReport
from jpo.plugins.launch.settings import launch_table
from jpo.plugins.launch.story.optimize.following import Boundary, job_for
from jpo.plugins.launch.story.optimize.loop import steps
from jpo.plugins.launch.story.optimize.optimize import refuse_twins
from jpo.plugins.launch.story.optimize.task import LoopPlan, Outside, Task
from jpo.project.project import targets_of
from jpo.project.workload import content_now
from jpo.records import uncoded
from jpo.wording import numbers


def preview(tasks: Sequence[Task], plan: LoopPlan, outside: Outside) -> list[LaunchReport]:
    """The next run of each job as it would be started, with what is left of the plan; raises as `optimize`, and as an engine."""
    refuse_twins(tasks)
    return [_next_run(task, plan, outside) for task in tasks]


def _next_run(task: Task, plan: LoopPlan, outside: Outside) -> LaunchReport:
    every = [task.run_id(number, baseline=baseline) for number, baseline in steps(task, plan)]
    left = [run_id for run_id in every if not ((entry := read(task.ledger, run_id)) and entry.recorded)]
    first = next(iter(left), task.run_id(1, baseline=False))
    job, launcher = job_for(task, plan, outside, first, Boundary()), outside.engine(task.settings, task.engine)
    launcher.refuse(job)
    notes = (_runs(task, plan, left, on_record=len(every) - len(left)), *_limits(task))
    report = LaunchReport(Entry(job, launcher.name, outside.clock()), output_of(task.ledger, first), uncoded(notes))
    content = content_now(task.path) or b""
    return replace(report, plan=launcher.plan(job, content)) if isinstance(launcher, ShowsPlan) else report


def _runs(task: Task, plan: LoopPlan, left: Sequence[str], *, on_record: int) -> str:
    """Which runs are left, by their ids; of those with suggested values there may be fewer."""
    baseline = [run_id for run_id in left if run_id.startswith(f"{task.name}-b")]
    kinds = {"today's": baseline, "suggested": left[len(baseline) :]}
    said = [f"{some[0]} to {some[-1]} with {kind} values" for kind, some in kinds.items() if some]
    most = "" if plan.all_wanted else "at most "
    return f"plan: {most}{numbers.counted(len(left), 'run')}: {', then '.join(said) or 'nothing is left'}; {on_record} on record"


def _limits(task: Task) -> Iterator[str]:
    """What ends a run, and what the values that are suggested must keep."""
    table = launch_table(task.settings)
    longest = "none ([launch] timeout)" if table.timeout is None else numbers.duration(table.timeout)
    trials = ", and a trial ends once it cannot win" if table.stop_at > 0 else ""
    yield f"time limit of each run: {longest}{trials}"
    if targets := targets_of(task.settings):
        yield f"targets: {', '.join(f'{name} {numbers.written(name, value)}' for name, value in targets.items())}"
