"""What came of a job's loop, from its ledger and the history alone: the same whether it went through or was gone on with."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from jpo.cost import Prices, run_cost_usd
from jpo.errors import JpoError
from jpo.forecast.before_after import BeforeAfter
from jpo.optimizer.before_and_after import failed_starts, per_model, taken
from jpo.plugins.launch.ledger import read
from jpo.plugins.launch.project.finished import run_again
from jpo.plugins.launch.project.unfinished import made_under
from jpo.plugins.launch.report.optimize.record import BestFound, LoopRun, LoopTotals, OptimizedJob
from jpo.plugins.launch.story.optimize.loop import best_id
from jpo.plugins.launch.story.optimize.task import LoopPlan, Task
from jpo.project.project import ProjectStore, open_project_store, own_direction
from jpo.records import Run, Suggestion, same
from jpo.records.notes import Note
from jpo.report.before_after import PER_MODEL

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
    each = per_model(*taken("duration_seconds", _ended(baseline), prices))
    return OptimizedJob(
        config=str(task.path),
        name=task.name,
        identity=task.identity,
        runs=runs,
        suggestions={run_id: suggestion.suggestion_id for run_id, suggestion in made.items() if suggestion},
        totals=[total for name in PER_MODEL if (total := _total(name, baseline, following, prices))],
        lines=compare(_ended(baseline), _ended(following), prices, own) if following else (),
        missing=0 if last and not failure else plan.runs - sum(not run.baseline and run.last for run in runs),
        failure=Note(failure.code, str(failure), task.name) if failure else None,
        currency=currency,
        best=_best(first, last, each, following, lambda some: compare(_ended(baseline), some, prices, own))
        if first and last and not failure
        else None,
    )


def _best(
    first: Suggestion,
    last: Suggestion,
    each: float | None,
    following: Sequence[LoopRun],
    against: Callable[[Sequence[Run]], Sequence[BeforeAfter]],
) -> BestFound:
    """What the loop has left in config.ini, against what stood there first; `each`: seconds that a model took then."""
    values = last.values.suggested
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


def _total(name: str, baseline: Sequence[LoopRun], following: Sequence[LoopRun], prices: Prices) -> LoopTotals | None:
    """What the runs after the baseline took together, beside as many models of the baseline; None: one side measured nothing."""
    before, (took, well) = per_model(*taken(name, _ended(baseline), prices)), taken(name, _ended(following), prices)
    if before is None or not len(took):
        return None
    models, spent = int(well.sum()), float(took.sum())
    kept = before * models
    return LoopTotals(name, len(took), models, spent, kept, spent / kept if kept > 0 else None)
