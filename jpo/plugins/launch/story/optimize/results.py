"""What came of a job's loop, from its ledger and the history alone: the same whether it went through or was gone on with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from jpo.cost import Prices, run_cost_usd
from jpo.errors import JpoError
from jpo.forecast.before_after import BeforeAfter
from jpo.optimizer.before_and_after import failed_starts
from jpo.plugins.launch.ledger import read
from jpo.plugins.launch.project.finished import run_again
from jpo.plugins.launch.project.unfinished import made_under
from jpo.plugins.launch.report.optimize.record import BestFound, LoopRun, LoopTotals, OptimizedJob
from jpo.plugins.launch.story.optimize.loop import best_id
from jpo.plugins.launch.story.optimize.task import LoopPlan, Task
from jpo.project.project import ProjectStore, open_project_store, own_direction
from jpo.records import Run, Suggestion, same
from jpo.records.notes import Note

Compare = Callable[[Sequence[Run], Sequence[Run], Prices, Mapping[str, bool]], Sequence[BeforeAfter]]
"""As commands/compare.py: each quantity of runs before and after."""

ATTEMPT = re.compile(r"\.\d+$")
"""What the id of a further attempt has behind that of its step."""


def result_of(task: Task, plan: LoopPlan, compare: Compare, failure: JpoError | None) -> OptimizedJob:
    """All runs of a job that are over, its baseline against what followed, and why it ended early, if it did."""
    with open_project_store(task.settings) as job:
        runs = [*_runs(task, plan, job)]
        first, last = (
            made_under(each, job.store, task.identity) for each in (task.run_id(1, baseline=False), best_id(task, plan))
        )
        made = {run.run_id: made_under(ATTEMPT.sub("", run.run_id), job.store, task.identity) for run in runs if not run.baseline}
        currency, prices = job.currency, job.prices
    unfit = failed_starts(_ended(runs))
    charged = [run for run in runs if run.run_id not in unfit]
    baseline = [run for run in charged if run.baseline and run.last]  # who cut off a run says nothing of its values
    following, own = [run for run in charged if not run.baseline], own_direction(task.settings)
    return OptimizedJob(
        config=str(task.path),
        name=task.name,
        identity=task.identity,
        runs=runs,
        suggestions={run_id: suggestion.suggestion_id for run_id, suggestion in made.items() if suggestion},
        totals=[total for name in ("duration_seconds", "cost_usd") if (total := _total(name, baseline, following))],
        lines=compare(_ended(baseline), _ended(following), prices, own) if following else (),
        missing=0 if last and not failure else plan.runs - sum(not run.baseline and run.last for run in runs),
        failure=Note(failure.code, str(failure), task.name) if failure else None,
        currency=currency,
        best=_best(first, last, baseline, following, lambda some: compare(_ended(baseline), some, prices, own))
        if first and last and not failure
        else None,
    )


def _best(
    first: Suggestion,
    last: Suggestion,
    baseline: Sequence[LoopRun],
    following: Sequence[LoopRun],
    against: Callable[[Sequence[Run]], Sequence[BeforeAfter]],
) -> BestFound:
    """What the loop has left in config.ini, against what stood there first."""
    each, values = per_model(baseline), last.values.suggested
    spent, search, repaid, with_best = 0.0, 0.0, None, list[Run]()
    for number, made in enumerate(following, 1):
        beyond = (made.value("duration_seconds") or 0.0) - (each or 0.0) * made.ended_well
        spent += beyond
        repaid = None if spent > 0 else repaid or number
        if made.run and same(made.run.parameters, values):
            with_best.append(made.run)
        else:
            search += beyond
    return BestFound(
        {name: value for name, value in values.items() if value != first.values.current.get(name)},
        against(with_best) if with_best else (),
        None if each is None else search,
        None if each is None else repaid,
    )


def per_model(runs: Sequence[LoopRun], name: str = "duration_seconds") -> float | None:
    """What a model took, of all these runs together; None: none brought one, or nothing was measured."""
    taken = {each.run_id: value for each in runs if (value := each.value(name)) is not None}
    models = sum(each.ended_well and each.run_id in taken for each in runs)
    return sum(taken.values()) / models if models else None


def _runs(task: Task, plan: LoopPlan, job: ProjectStore) -> Iterator[LoopRun]:
    """Every attempt that is over, in the order in which they were made."""
    numbers = [*((number, True) for number in range(1, plan.baseline + 1)), *((n, False) for n in range(1, plan.runs + 1))]
    by_jpo = job.store.stopped_by_jpo()
    for number, baseline in numbers:
        ids = task.attempts(number, baseline=baseline)
        entries = [entry for run_id in ids if (entry := read(task.ledger, run_id)) and entry.end]
        for entry in entries:
            run = run_again(entry, task.ledger, task.settings, job.store).run
            cost = None if run is None else run_cost_usd(run, job.prices)
            yield LoopRun(entry.job.run_id, entry.engine, baseline, run, cost, entry is entries[-1], entry.job.run_id in by_jpo)


def _ended(runs: Sequence[LoopRun]) -> list[Run]:
    return [each.run for each in runs if each.run]


def _total(name: str, baseline: Sequence[LoopRun], following: Sequence[LoopRun]) -> LoopTotals | None:
    """What the runs after the baseline took together, beside as many models of the baseline; None: one side measured nothing."""
    before, after = (
        per_model(baseline, name),
        {each.run_id: value for each in following if (value := each.value(name)) is not None},
    )
    if before is None or not after:
        return None
    well = sum(each.run_id in after and each.ended_well for each in following)
    spent, kept = sum(after.values()), before * well
    return LoopTotals(name, len(after), well, spent, kept, spent / kept if kept > 0 else None)
