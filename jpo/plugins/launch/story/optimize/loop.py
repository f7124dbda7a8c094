"""The loop of one job: baseline runs, then a suggestion and a run of it, again and again. It waits by yielding seconds.

Every step has an id that follows from the name of the job alone, and is looked for in ledger and history before it is made: the
same command goes on where a killed one was, and no step suggests or runs twice.
"""

from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import partial

from jpo.errors import JpoError, LaunchError, NothingAdmissible
from jpo.optimizer.advise import FIRST_VALUES
from jpo.plugins.launch.launcher import StartsTogether
from jpo.plugins.launch.ledger import is_past, locked, output_of, read
from jpo.plugins.launch.lifecycle import start_together
from jpo.plugins.launch.project.boldness import settings_of_step
from jpo.plugins.launch.project.boundaries import ended_early, longest_trial_seconds, startup_seconds
from jpo.plugins.launch.project.finished import EndedRun, run_again
from jpo.plugins.launch.project.jobs import kept_to_room
from jpo.plugins.launch.project.unfinished import finish_writing, free_id, made_under
from jpo.plugins.launch.settings import launch_table
from jpo.plugins.launch.story.optimize.following import FAILED, Boundary, Waiting, cancel_all, job_for, made, words_of
from jpo.plugins.launch.story.optimize.task import LoopPlan, Outside, Task
from jpo.plugins.launch.watching import account
from jpo.project.project import open_history, open_project
from jpo.project.sources import own_names
from jpo.project.workload import content_now, read_workload
from jpo.records import Parameters, RunStatus, Suggestion, same
from jpo.telemetry.csv.folder import read_in_parts
from jpo.wording import numbers

FAILURES = 3
"""In a row, after which nobody should pay for a fourth; they are on record, and the same command tries again."""


def optimized(task: Task, plan: LoopPlan, outside: Outside) -> Generator[float, None, None]:
    """Make what is missing of the plan, by one process at a time.

    Raises:
        LaunchError: JPO-E785, another process is at it; JPO-E786, FAILURES runs in a row have failed; what an engine refuses.
        JpoError: whatever `suggest` raises.
    """
    with locked(task.ledger / ".optimize" / task.name, wait=False):
        try:
            yield from _planned(task, plan, outside)
        except (KeyboardInterrupt, GeneratorExit):
            try:
                cancel_all(task, outside)
            finally:  # who presses Ctrl-C again waits for no engine, and has the best values all the same
                leave_best(task, plan, outside, interrupted=True)
            raise


def _planned(task: Task, plan: LoopPlan, outside: Outside) -> Generator[float, None, None]:
    record_logs(task, plan, outside)
    baseline_together(task, plan, outside)
    failures, broken = 0, 0
    for number, baseline in steps(task, plan):
        if not baseline and is_done(task, plan, number):
            outside.note(f"{task.name}: done: two runs in a row kept their values; --runs {plan.runs} makes the rest anyway")
            break
        entry = read(task.ledger, task.run_id(number, baseline=baseline))
        ended = yield from step(task, plan, outside, number, baseline=baseline)
        earlier = entry is not None and entry.recorded  # of a call that gave up; since then the user may have mended it
        failures = failures + 1 if failed(ended) and not earlier else 0
        broken += baseline and is_broken(ended)
        if failures == FAILURES:
            cancel_all(task, outside)  # of a baseline that started together there may be more
            if not baseline:
                leave_best(task, plan, outside)
            raise given_up(task, number, outside, f"{FAILURES} runs in a row have failed", baseline=baseline)
        if baseline and broken == number == plan.baseline:  # other values would not fix the job
            raise given_up(task, number, outside, "no run with today's values came to its end", baseline=True)
    if plan.runs:
        leave_best(task, plan, outside)


def leave_best(task: Task, plan: LoopPlan, outside: Outside, *, interrupted: bool = False) -> None:
    """Leave config.ini with the best values that are known, not with those of the last trial; `interrupted`: if there is one."""
    with open_history(task.settings) as store:
        began = made_under(task.run_id(1, baseline=False), store, task.identity)
    if interrupted and began is None:
        return
    try:
        suggested(task, plan, outside, plan.runs + 1)
    except KeyboardInterrupt:
        remedy = f"`jpo rollback {began.suggestion_id}` brings the first values back" if began else "look at it"
        outside.note(
            f"{task.name}: config.ini may have the values of a trial: run the same command again to continue, or {remedy}"
        )
        raise
    except JpoError as error:
        if not (interrupted or isinstance(error, NothingAdmissible)):
            raise
        outside.note(f"{task.name}: config.ini keeps the values of the last run: {error} [{error.code}]")
    else:
        if interrupted:
            outside.note(f"{task.name}: interrupted; config.ini has the best values that are known")


def baseline_together(task: Task, plan: LoopPlan, outside: Outside) -> None:
    """Start the runs of the baseline at once, where the engine takes several: none of them has to wait for another.

    Only at the very beginning; what a killed process has left of it is found run by run. Where several jobs go side by side each
    has one run at a time.
    """
    launcher, ids = outside.engine(task.settings, task.engine), [task.run_id(n + 1, baseline=True) for n in range(plan.baseline)]
    if len(ids) < 2 or plan.at_once > 1 or not isinstance(launcher, StartsTogether) or any(map(partial(read, task.ledger), ids)):
        return
    if [number for number, baseline in steps(task, plan) if baseline] != [*range(1, len(ids) + 1)]:
        return
    jobs = [job_for(task, plan, outside, run_id, Boundary()) for run_id in ids]
    start_together(jobs, launcher, task.ledger, f"{task.name}-b", now=outside.clock(), config=content_now(task.path) or b"")
    outside.note(f"{task.name}: {numbers.counted(len(ids), 'baseline run')} started together on {launcher.name}")


def given_up(task: Task, number: int, outside: Outside, finding: str, *, baseline: bool) -> LaunchError:
    """What the loop ends with after failures, with the last words of the last run."""
    entry = [entry for run_id in task.attempts(number, baseline=baseline) if (entry := read(task.ledger, run_id))][-1]
    said = words_of(entry, task, outside)
    finding = f"{finding}, the last of them {entry.job.run_id}{f': {said}' if said else ''}"
    remedy = f"fix the job (its output is in {output_of(task.ledger, entry.job.run_id)}); run the same command again to continue"
    return LaunchError(task.name, finding, remedy, code="JPO-E786")


def steps(task: Task, plan: LoopPlan) -> Iterator[tuple[int, bool]]:
    """Number and kind of every step. Once values were suggested a baseline stays as it is: there is no more before."""
    with open_history(task.settings, read_only=True) as store:
        begun = made_under(task.run_id(1, baseline=False), store, task.identity) is not None
    for number in range(1, 1 if begun else plan.baseline + 1):
        yield number, True
    for number in range(1, plan.runs + 1):
        yield number, False


def step(task: Task, plan: LoopPlan, outside: Outside, number: int, *, baseline: bool) -> Waiting:
    """One run of the plan with what precedes it; found done, or made. What was cut off is made again.

    So is a run with today's values that an earlier call saw fail: since then the user may have mended the job.
    """
    for run_id in task.attempts(number, baseline=baseline):
        entry = read(task.ledger, run_id)
        earlier = entry is not None and entry.recorded
        if entry is None or not entry.recorded:
            if entry is None and not baseline:
                job_for(task, plan, outside, run_id, Boundary())  # a command that cannot be run changes no config.ini
                suggested(task, plan, outside, number)
            boundary = Boundary()
            if not baseline:
                values = entry.job.parameters if entry else read_workload(task.path, task.settings, now=outside.clock()).current
                boundary = boundary_of(task, values)
            ended = yield from made(task, plan, outside, run_id, boundary)
        else:
            with open_history(task.settings) as store:
                ended = run_again(entry, task.ledger, task.settings, store)
        if not was_cut_off(task, run_id, ended, baseline=baseline) and not (baseline and earlier and is_broken(ended)):
            break
    return ended


def suggested(task: Task, plan: LoopPlan, outside: Outside, number: int) -> None:
    """Have the values of a step in config.ini: suggest them, or finish what a killed process has begun."""
    suggestion_id = task.run_id(number, baseline=False) if number <= plan.runs else best_id(task, plan)
    with open_project(task.path, task.settings, now=outside.clock(), judges=False) as job:  # settles what was written
        found, runs = made_under(suggestion_id, job.store, task.identity), job.store.runs_of(task.identity)
        trials = {run_id for at in range(1, number) for run_id in task.attempts(at, baseline=False)}
        if found and number > plan.runs and any(run.run_id in trials and run.ended_at > found.created_at for run in runs):
            found = None  # what was best before some of the runs may not be any more
        newest = job.store.suggestions_of(task.identity)[-1:]
        if found and number <= plan.runs and newest[0].suggestion_id.startswith(best_id(task)):
            found = None  # it was interrupted, and the best that was known came back
        if found is not None:
            if finish_writing(job, found.suggestion_id):
                outside.note(f"{suggestion_id}: was on record, and is written now; {in_short(found)}")
            return
        free, on_record = free_id(suggestion_id, job.store), len(runs)
        began = made_under(task.run_id(1, baseline=False), job.store, task.identity)
        within = kept_to_room(task.settings, job.workload, outside.engine(task.settings, task.engine))
    first = began.values.current if began else {}
    settings = settings_of_step(within, number, plan.runs, on_record, first_values=first)
    suggestion = outside.suggest(replace(task, settings=settings), free, outside.clock())
    outside.note(f"{suggestion_id}: {in_short(suggestion)}")


def is_done(task: Task, plan: LoopPlan, number: int) -> bool:
    """Whether the two runs before this one kept their values and produced a model: one more would only repeat them."""
    if plan.all_wanted or number < 3:
        return False
    with open_history(task.settings) as store:
        kept = [made_under(task.run_id(each, baseline=False), store, task.identity) for each in (number - 2, number - 1)]
        well = {run.run_id for run in store.runs_of(task.identity) if run.ended_well}
    return all(made is not None and not made.changes for made in kept) and all(
        well & {*task.attempts(each, baseline=False)} for each in (number - 2, number - 1)
    )


def best_id(task: Task, plan: LoopPlan | None = None) -> str:
    """The id of the last suggestion, with which config.ini is left; None: what it begins with under any plan."""
    return f"{task.name}-best{plan.runs if plan else ''}"


def in_short(suggestion: Suggestion) -> str:
    """What a suggestion changes: "batch_size 64 -> 128"; and why, where it is no better value but the way out of nothing."""
    changes = ", ".join(f"{change.parameter} {change.old_text} -> {change.new_text}" for change in suggestion.changes)
    why = f": {suggestion.decision.reasons[0].text} [{FIRST_VALUES}]" if FIRST_VALUES in suggestion.codes else ""
    return f"{changes or 'values kept'}{why}"


def boundary_of(task: Task, values: Parameters, before: float | None = None) -> Boundary:
    """When a run with these values is of no use, by all runs on record, or those that had ended before a moment.

    Only a trial can be: values with which a run has ended well, and the user's own, are run for their model.
    """
    with open_history(task.settings) as store:
        runs = [run for run in store.runs_of(task.identity) if before is None or run.ended_at <= before]
        began = made_under(task.run_id(1, baseline=False), store, task.identity)
    wanted = [*(run.parameters for run in runs if run.ended_well), *([began.values.current] if began else [])]
    if any(same(one, values) for one in wanted):
        return Boundary()
    launched = [(read(task.ledger, run.run_id), run) for run in runs if run.run_id.startswith(f"{task.name}-")]
    besides = [startup_seconds(entry, run) for entry, run in launched if entry]
    longest_startup = max((seconds for seconds in besides if seconds is not None), default=None)
    watched = launch_table(task.settings).stop_at > 0
    return Boundary(longest_trial_seconds(task.settings, runs), longest_startup, watched)


def was_cut_off(task: Task, run_id: str, ended: EndedRun, *, baseline: bool) -> bool:
    """Whether a run says nothing of its values, since something from outside has ended it early."""
    entry, run = read(task.ledger, run_id), ended.run
    if entry is None or run is None or run.status is not RunStatus.STOPPED or is_past(task.ledger, run_id):
        return False
    if any(each.is_stop and each.applied for each in account.read(task.ledger, run_id)):
        return False
    bound = None if baseline else boundary_of(task, entry.job.parameters, entry.asked_at).training_seconds
    return ended_early(entry, run, bound)


def failed(ended: EndedRun) -> bool:
    """Whether a run came to nothing; one that was stopped at its boundary did not."""
    return ended.run is None or ended.run.status in FAILED


def is_broken(ended: EndedRun) -> bool:
    """Whether a run failed in a way that no other values of config.ini are known to mend."""
    return ended.run is None or ended.run.status is RunStatus.FAILED


def record_logs(task: Task, plan: LoopPlan, outside: Outside) -> None:
    """Put the runs of earlier logs on record, to start from them."""
    if not plan.logs:
        return
    now = outside.clock()
    parts = tuple(read_in_parts(plan.logs, task.identity, now=now, own=own_names(task.settings)))
    with open_history(task.settings) as store:
        new = [run for part in parts for run in store.record(part, now=now)]
    left_out = sum(len(part.skipped) for part in parts)
    skipped = f", {numbers.counted(left_out, 'log')} skipped" if left_out else ""
    outside.note(f"{task.name}: {numbers.counted(len(new), 'run')} of logs put on record{skipped}")
