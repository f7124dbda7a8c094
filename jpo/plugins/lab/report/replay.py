"""Replay: a table for each objective, policies as rows, horizons as columns; every figure, also per workload, for programs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jpo.plugins.lab.replay.contest import Contest, Result, Standing
from jpo.plugins.lab.replay.metrics import HARM_RUNS, Estimate, Score
from jpo.plugins.lab.replay.play import STOP_AT, expected
from jpo.plugins.lab.replay.traces import Trace
from jpo.records import uncoded
from jpo.report.document import Cell, Column, Document, Marks, Plot, Row, Span, Table
from jpo.report.forms.colours import SEVERAL
from jpo.wording.numbers import counted

LEGEND = (
    "N = ...: cost of the first N runs / expected cost of N runs of the best configuration, ± standard error; 1 is perfect.",
    "per model: cost of {last} runs / models delivered.",
    "stopped: share of runs ended at twice the cheapest so far.",
    "harm: share of replays more than 5% above never changing anything after {harm} runs.",
)


@dataclass(frozen=True, slots=True)
class Played:
    """A comparison, how it ended, and what its reader should know.

    `each_workload`: whether people want a table for each workload, too.
    """

    contest: Contest
    result: Result
    notes: tuple[str, ...] = ()
    each_workload: bool = False


def document(played: Played) -> Document:
    contest = played.contest
    harm = min(HARM_RUNS, contest.runs)
    legend = (Span(line.format(last=contest.runs, harm=harm), "dim") for line in LEGEND)
    return Document(headline(contest), (*tables(played), *legend, *uncoded(played.notes)))


def headline(contest: Contest) -> str:
    workloads, replays = counted(len(contest.traces), "recorded workload"), counted(len(contest.seeds), "replay")
    return f"{workloads}, {replays} of {counted(contest.runs, 'run')} for each policy; run 1 is the default"


def tables(played: Played) -> Iterator[Table]:
    """For each objective a table of all workloads together, and one of each where it is the only one or they are wanted."""
    traces, horizons = played.contest.traces, played.contest.horizons
    for objective, standings in played.result.items():
        if len(traces) > 1:
            overall = {policy: standing.overall for policy, standing in standings.items()}
            yield table(overall, horizons, f"{objective}, {len(traces)} workloads")
        for trace in traces if played.each_workload or len(traces) == 1 else ():
            scores = {policy: standing.by_workload[trace.name] for policy, standing in standings.items()}
            yield table(scores, horizons, f"{objective}, {trace.name}")


def charts(result: Result) -> list[Plot]:
    """For each objective the cost of all runs so far against their number, a line per policy, one standard error wide."""
    said = "Cost of all runs so far / of as many with the best configuration; the band is a standard error. Dashed: the best."
    return [
        Plot(objective, said, "", "", tuple(_curves(standings)), "runs of the job", "cost / of the best", level=1.0)
        for objective, standings in result.items()
    ]


def _curves(standings: Mapping[str, Standing]) -> Iterator[Marks]:
    for number, (policy, standing) in enumerate(standings.items()):
        points = tuple((float(run), cost.mean) for run, cost in enumerate(standing.overall.curve, 1))
        errors = [0.0 if math.isnan(cost.error) else cost.error for cost in standing.overall.curve]
        reach = tuple((run, run, mean - error, mean + error) for (run, mean), error in zip(points, errors, strict=True))
        yield Marks(policy, points, hue=1 + number % len(SEVERAL), joined="line", reach=reach)


def table(scores: Mapping[str, Score], horizons: Sequence[int], caption: str) -> Table:
    """Rows in the order of the policies; the best of each column is strong."""
    figures_of = {policy: figures(score, horizons) for policy, score in scores.items()}
    best = [min(estimate.mean for estimate in column) for column in zip(*figures_of.values(), strict=True)]
    costs = [Column(heading, "figure") for heading in (*(f"N = {n}" for n in horizons), "per model")]
    shares = [Column(heading, "figure", "share") for heading in ("stopped", "harm")]
    rows: list[Row] = [(policy, *map(cell, row, best)) for policy, row in figures_of.items()]
    return Table((Column("policy"), *costs, *shares), tuple(rows), "policies", caption)


def figures(score: Score, horizons: Sequence[int]) -> list[Estimate]:
    """What a row shows: the cumulative cost at each horizon, per model, stopped, harm."""
    return [*(score.after(n) for n in horizons), score.per_model, score.stopped, score.harm]


def cell(estimate: Estimate, best: float) -> Cell:
    """A mean with its error; without it where one replay cannot say it."""
    if math.isinf(estimate.mean):
        return Cell("none")
    return Cell(estimate.mean, error=_finite(estimate.error), emphasis="strong" if estimate.mean == best else "")


def as_json(played: Played) -> dict[str, object]:
    """Every figure, see docs/plugins/lab.md; costs are multiples of the oracle's expected cost, shares 0..1, None: unknown."""
    contest = played.contest
    return {
        "schema_version": 1,
        "workloads": [_workload(trace, contest) for trace in contest.traces],
        "runs": list(contest.horizons),
        "seeds": {"first": contest.seeds[0], "count": len(contest.seeds)},
        "stopped_at": STOP_AT,
        "objectives": {
            objective: {
                policy: {
                    **_score(standing.overall, contest.horizons),
                    "workloads": {name: _score(score, contest.horizons) for name, score in standing.by_workload.items()},
                }
                for policy, standing in standings.items()
            }
            for objective, standings in played.result.items()
        },
        "notes": list(played.notes),
    }


def _workload(trace: Trace, contest: Contest) -> dict[str, object]:
    best = {objective: trace.configurations[int(expected(trace, objective).argmin())] for objective in contest.objectives}
    return {
        "name": trace.name,
        "configurations": len(trace.configurations),
        "executions": sum(map(len, trace.executions)),
        "default": dict(trace.configurations[trace.default]),
        "cost_unit": trace.cost_unit,
        "oracle": {objective: dict(parameters) for objective, parameters in best.items()},
    }


def _score(score: Score, horizons: Sequence[int]) -> dict[str, object]:
    return {
        "normalised_cumulative_cost": {str(n): _estimate(score.after(n)) for n in horizons},
        "cost_per_delivered_model": _estimate(score.per_model),
        "stopped_share": _estimate(score.stopped),
        "harm_rate": _estimate(score.harm),
    }


def _estimate(estimate: Estimate) -> dict[str, float | None]:
    return {"mean": _finite(estimate.mean), "standard_error": _finite(estimate.error)}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
