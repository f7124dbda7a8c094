"""`jpo predict`: what runs would take, cost and use with today's values and with others, and what that rests on.

The store and CSV logs are read, nothing is written, and no server is asked but the queue of the engine that [launch] names.
Answers to "cheapest in time" and "fastest within the budget" come from the rows of --vary, else from all that the limits allow.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from jpo.cost.comparison import trade_off
from jpo.history.undo import pin_notes
from jpo.optimizer.candidates import admissible_of
from jpo.optimizer.expectations import Basis
from jpo.optimizer.prediction import Answer, Prediction, Row, label
from jpo.optimizer.prediction_rows import RowBasis, rows_of, warnings
from jpo.optimizer.question import Question, asked_for, can_be_scaled
from jpo.optimizer.request import Request
from jpo.optimizer.surrogate import surrogate_of, with_configuration
from jpo.optimizer.what_if import Bounds, answer_to
from jpo.project.collect import collect, with_doubts_noted
from jpo.project.load import LoadedSettings
from jpo.project.plugins.hooks import estimates_of, queue_of
from jpo.project.prices import market_of, usd_of_text
from jpo.project.project import open_project
from jpo.project.request import request_of
from jpo.project.trial_logs import read_trials
from jpo.records import WORTH, Note


def verdicts(rows: Sequence[Row], request: Request) -> Iterator[Note]:
    """Whether what rows trade of time and money is acceptable, by what an hour is worth."""
    today, worth = rows[0].expected.forecast, request.wanted.usd_per_saved_hour or 0.0
    held = {True: "", False: "" if request.boldness.explore == "on" else "; `jpo suggest` does not write it"}
    for row in rows[1:]:
        if trade := trade_off(today, row.expected.forecast, request.wanted.usd_per_saved_hour):
            yield Note(WORTH, f"{label(row)}: {trade.words(worth, request.currency)}{held[trade.acceptable]}")


def predict(path: Path, settings: LoadedSettings, question: Question, *, seed: int, now: float) -> Prediction:
    """Read, forecast, tabulate, answer.

    Raises UsageError: JPO-E823, values that cannot be, too many rows; JPO-E824, a budget where no price is known.
    """
    with open_project(path, settings, now=now, read_only=True) as job:
        workload, currency = job.workload, job.currency
        budget = None if question.max_cost is None else usd_of_text(question.max_cost, currency, option="--max-cost")
        trials = read_trials(question.trials, workload.identity, question.fraction, now=now)
        if trials:
            can_be_scaled(workload)
        known = with_doubts_noted(collect(job))
        logs_of_trials = {trial.run_id for trial in trials}  # one may be among the logs of runs
        known = replace(known, runs=tuple(run for run in known.runs if run.run_id not in logs_of_trials))
        request = request_of(job, known)
    configurations = asked_for(question, workload, request)
    surrogate = surrogate_of(request, known, seed=seed)
    each = {tuple(row.values()): with_configuration(surrogate, row, known, seed=seed) for row in configurations}
    others = (*known.siblings, *known.others)
    estimate = estimates_of(workload, settings, known.runs)
    evidence = Basis(workload.identity, surrogate, trials, others, estimate, seed, each)
    basis = RowBasis(request, job.limits, evidence, known.runs, now)
    rows: tuple[Row, ...] = tuple(rows_of(configurations, basis, spot=question.spot))
    answer: Answer | None = None
    queue = queue_of(workload, settings)
    if question.deadline_seconds is not None or budget is not None:
        ahead = queue.waits_for(request.current, lambda: [*configurations, *admissible_of(surrogate.candidates)])
        rows, answer = answer_to(question, Bounds(question.deadline_seconds, budget, currency, ahead), rows, basis)
    ends = queue.ends([(row.parameters, row.expected.forecast) for row in rows], now=now)
    rows = tuple(replace(row, queued=end) for row, end in zip(rows, ends, strict=True))
    market = market_of(settings)
    notes = (*warnings(rows, basis), *(market[1] if market else ()), *estimate(workload.current).notes, *verdicts(rows, request))
    noted = known.evidence.noting((*notes, *pin_notes(workload)))
    return Prediction(path, workload.identity, len(known.runs), rows, noted, answer, currency)
