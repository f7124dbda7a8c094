"""The loop's result: per job its runs, the baseline against what followed, and what that came to; the published JSON and CSV."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean

from jpo.forecast.before_after import BeforeAfter
from jpo.plugins.launch.report.optimize.record import BestFound, LoopRun, LoopTotals, OptimizedJob
from jpo.records import USD, Note, plain_values
from jpo.report.before_after import before, label, published, ratio_or_difference
from jpo.report.document import Block, Cell, Column, Document, Emphasis, Marks, Plot, Row, Section, Span, Table
from jpo.report.forms.csv import csv_line
from jpo.report.history import differing_and_shared
from jpo.wording import names, numbers

MEASURES = ("duration_seconds", "cost_usd", "val_loss", "val_accuracy", "memory_gib", "cpu_utilisation", "gpu_utilisation")
KINDS: Mapping[str, Emphasis] = {"baseline": "dim", "with JPO's values": "", "stopped": "warning", "failed": "bad"}
SHOWN = ("duration_seconds", "cost_usd", "val_loss", "val_accuracy")
"""Those that people see of every run."""


def document(jobs: Sequence[OptimizedJob]) -> Document:
    """A section per job."""
    sections = tuple(Section(("Job ", Span(str(job.identity)), f", {job.config}"), tuple(_blocks(job))) for job in jobs)
    return Document("Optimised by running", sections, currency=jobs[0].currency if jobs else USD)


def _blocks(job: OptimizedJob) -> Iterator[Block]:
    if job.best:
        yield found(job.best, job)
    for total in job.totals:
        yield in_all(total, job)
    yield runs_of(job)
    columns = (Column("mean of"), Column("baseline", "figure"), Column("after", "figure"), Column("change", "prose"), Column(""))
    rows = tuple((label(line), before(line), Cell(line.after, line.quantity), *ratio_or_difference(line)) for line in job.lines)
    yield Table(columns, rows, "quantities")
    if job.missing > 0 or job.failure:
        yield Note("", f"{numbers.counted(job.missing, 'run')} of the plan not made; run the same command again to continue")
    elif not job.runs:
        yield "Nothing was run: --runs and --baseline are 0."


def charts(jobs: Sequence[OptimizedJob]) -> list[Plot]:
    """How long every run took, a chart per job in which any was measured, with the baseline's mean."""
    return [_chart(job) for job in jobs if any(each.value("duration_seconds") for each in job.runs)]


def _chart(job: OptimizedJob) -> Plot:
    shown = [(number, each, seconds) for number, each in enumerate(job.runs, 1) if (seconds := each.value("duration_seconds"))]
    marks = tuple(
        Marks(kind, tuple((number, seconds) for number, each, seconds in shown if kind_of(each) == kind), emphasis)
        for kind, emphasis in KINDS.items()
    )
    before = [seconds for _, each, seconds in shown if each.baseline and each.ended_well]
    said = f"{numbers.counted(len(shown), 'run')}.{' The dashed line: the mean of the baseline.' if before else ''}"
    return Plot(
        f"{job.identity}: time per run", said, "", "duration_seconds", marks, "run", level=fmean(before) if before else None
    )


def kind_of(each: LoopRun) -> str:
    """How a run is shown, one of KINDS."""
    if each.ended_well:
        return "baseline" if each.baseline else "with JPO's values"
    return "stopped" if each.run is not None and each.run.status.value == "stopped" else "failed"


def in_all(total: LoopTotals, job: OptimizedJob) -> str:
    """What the runs after the baseline took together, and per model."""
    spent, kept = (numbers.written(total.quantity, value, job.currency) for value in (total.spent, total.kept))
    share = "" if total.ratio is None else f" ({numbers.change(total.ratio)} per model)"
    quantity, runs = names.quantity(total.quantity).long, numbers.counted(total.runs, "run")
    models = numbers.counted(total.well, "model")
    return f"{quantity} of {runs} after the baseline: {spent}, for {models}; as many with those values: {kept}{share}"


def found(best: BestFound, job: OptimizedJob) -> str:
    """The loop's last word: what it found, what that is worth per model, and what the search cost."""
    after = [each for each in job.runs if not each.baseline and each.last]
    models = f"{sum(each.ended_well for each in after)} of {numbers.counted(len(after), 'run')} produced a model"
    cost = ""
    if best.search_seconds is not None:
        cost = f"; the search cost {numbers.duration(best.search_seconds) if best.search_seconds > 0 else 'nothing'}"
        repaid = best.values and best.repaid_after and best.search_seconds > 0
        cost += f" and has paid for itself after run {best.repaid_after}" if repaid else ""
    if not best.values:
        return f"Found no better values than the first ones. {models}{cost}."  # which the script may not even read
    values = ", ".join(f"{names.short(name)} {numbers.written(name, value)}" for name, value in best.values.items())
    worth = ", ".join(filter(None, (per_model(best.lines), *map(quality_change, best.lines))))
    return f"Best found: {values}{f': {worth}' if worth else ''}. {models}{cost}."


def per_model(lines: Sequence[BeforeAfter]) -> str:
    """ "43% less time per model (39% to 47%)"; empty where too few runs tell."""
    line = next((each for each in lines if each.quantity == "duration_seconds"), None)
    if line is None or line.change is None:
        return ""
    if line.word == "no clear change":
        return f"no clear change in time per model ({numbers.change(line.change.low)} to {numbers.change(line.change.high)})"
    less = line.change.mean < 1
    mean, one, other = (f"{abs(ratio - 1):.0%}" for ratio in (line.change.mean, line.change.high, line.change.low))
    low, high = (one, other) if less else (other, one)
    return f"{mean} {'less' if less else 'more'} time per model ({low} to {high})"


def quality_change(line: BeforeAfter) -> str:
    """ "same val loss", or how it changed; empty of any other quantity."""
    if line.quantity not in ("val_loss", "val_accuracy") or line.word == "too few" or line.change is None:
        return ""
    name = names.heading(line.quantity)
    if line.word == "no clear change":
        return f"same {name}"
    return f"{name} {numbers.change(line.change.mean) if line.kind == 'ratio' else numbers.points(line.change.mean)}"


def runs_of(job: OptimizedJob) -> Table:
    """Run by run; parameters that never changed are left out."""
    changing, _ = differing_and_shared([each.run for each in job.runs if each.run])
    measured = [name for name in SHOWN if any(each.value(name) is not None for each in job.runs)]
    columns = (
        *(Column("run", "key"), Column(""), *(Column(name, "figure") for name in changing)),
        *(Column(names.quantity(name).short, "figure", name) for name in measured),
        *(Column("ended"), Column("engine")),
    )
    return Table(columns, tuple(_row(each, changing, measured) for each in job.runs), "runs")


def _row(each: LoopRun, changing: list[str], measured: list[str]) -> Row:
    values = plain_values(each.run.parameters) if each.run else {}
    return (
        *(each.run_id, Span("baseline", "dim") if each.baseline else ""),
        *(Cell(values.get(name)) for name in changing),
        *(Cell(each.value(name), name) for name in measured),
        *(ending(each), each.engine),
    )


def ending(each: LoopRun) -> str:
    if each.run is None:
        return "unknown"
    if not each.last:
        return "cut off, retried"
    if each.stopped:
        return "stopped by JPO"
    return "target not reached" if each.run.outcome.converged is False else each.run.status.value


def as_json(jobs: Sequence[OptimizedJob]) -> dict[str, object]:
    """`{"schema_version", "jobs": [{"config", "name", "workload", "runs": [...], "totals": [...], ...}]}`; amounts in USD."""
    return {"schema_version": 1, "jobs": [_job(job) for job in jobs]}


def _job(job: OptimizedJob) -> dict[str, object]:
    return {
        **{name: getattr(job, name) for name in ("config", "name")},
        "workload": job.identity.labels,
        "runs": [_run(each, job) for each in job.runs],
        "totals": [asdict(total) for total in job.totals],
        "changes": [published(line) for line in job.lines],
        "missing": job.missing,
        "best": _best(job.best) if job.best else None,
        "failure": job.failure.text if job.failure else None,
        "code": job.failure.code if job.failure else None,
    }


def _best(best: BestFound) -> dict[str, object]:
    return {
        "values": plain_values(best.values),
        "changes": [published(line) for line in best.lines],
        **{name: getattr(best, name) for name in ("search_seconds", "repaid_after")},
    }


def _run(each: LoopRun, job: OptimizedJob) -> dict[str, object]:
    run = each.run
    return {
        **{name: getattr(each, name) for name in ("run_id", "engine", "baseline")},
        "status": run.status.value if run else None,
        "converged": run.outcome.converged if run else None,
        "started_at": run.started_at if run else None,
        "made_again": not each.last,
        "stopped_by_jpo": each.stopped,
        "suggestion_id": job.suggestions.get(each.run_id),
        "parameters": plain_values(run.parameters) if run else {},
        **{name: each.value(name) for name in MEASURES},
    }


def as_csv(jobs: Sequence[OptimizedJob]) -> str:
    """One row per run; empty cells where nothing is known."""
    head = ("config", "name", "run_id", "engine", "baseline", "status", "suggestion_id", *MEASURES, "stopped_by_jpo")
    rows = [
        (
            *(job.config, job.name, each.run_id, each.engine, each.baseline, each.run.status.value if each.run else None),
            *(job.suggestions.get(each.run_id), *(each.value(name) for name in MEASURES), each.stopped),
        )
        for job in jobs
        for each in job.runs
    ]
    return "".join(map(csv_line, (head, *rows)))
