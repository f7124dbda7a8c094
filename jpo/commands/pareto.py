"""`jpo pareto`: what trade-offs the runs so far have shown, what else is predicted, and where today's and the next values lie.

The store and CSV logs are read, no server is asked, and nothing is written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from jpo.agent.policy import Policy
from jpo.cost import usd_of_text
from jpo.errors import NothingAdmissible, UsageError
from jpo.learning import continual
from jpo.optimizer.advise import advise, choose, problem_within_sla
from jpo.optimizer.front import Front
from jpo.optimizer.request import Request
from jpo.optimizer.surrogate import Surrogate, surrogate_of
from jpo.optimizer.tradeoff import OBJECTIVES, axes_of, on_show, trade_off, volumes
from jpo.project.collect import collect
from jpo.project.load import LoadedSettings
from jpo.project.project import open_project
from jpo.project.request import request_of
from jpo.project.settings import seconds
from jpo.records import Currency, Known, Preference
from jpo.report import front_json, front_text
from jpo.report.plots.fleet import can_plot
from jpo.report.plots.front import plot

__all__ = ["can_plot", "pareto", "plot", "rendered"]


@dataclass(frozen=True, eq=False, slots=True)
class Choices:
    """Where the agent would go from what is on record, as rows of the outlook's candidates.

    Attributes:
        suggested: None where nothing is admissible.
        because: the first reason of the decision, or why nothing is admissible.
        preferred: by the name of each preference; without those of which nothing can be said.
    """

    surrogate: Surrogate
    suggested: int | None
    because: str
    preferred: Mapping[str, int]


def pareto(
    path: Path, settings: LoadedSettings, *, objectives: str | None, reference: str | None, seed: int, now: float
) -> Front:
    """The trade-off front of config.ini's workload.

    Args:
        objectives: two to four of OBJECTIVES, by commas; None: time and cost, or where no cost is known time and what else is.
        reference: "time=6h,cost=20"; what it leaves out, or None: a tenth beyond the worst measured point.

    Raises:
        UsageError: JPO-E831 the objectives, JPO-E832 or JPO-E803 the reference point, JPO-E833 a front of cost that nobody knows.
    """
    asked = None if objectives is None else named(objectives)
    with open_project(path, settings, now=now, read_only=True) as job:
        workload, known = job.workload, collect(job)
        request = request_of(job, known.runs)
        policy = continual.policy_for(job.store, workload.identity, request.explore)
    choices = chosen(request, known, policy, job.preferences, seed=seed)
    parameters = choices.surrogate.candidates.parameters
    axes, note = axes_of(asked, choices.surrogate)
    limits = {} if reference is None else limits_in(reference, axes, job.currency)
    found = trade_off(choices.surrogate, axes, request.targets)
    points, hidden = on_show(found, marks_of(choices))
    notes = {note: "JPO-I831"} if note else {}
    if not found.facts:
        notes[f"no run that ended well is on record with {' and '.join(axes)}; there is no front yet"] = "JPO-I832"
    if choices.suggested is None:
        notes["nothing is admissible now"] = "JPO-I833"
    return Front(
        workload=workload.identity,
        objectives=axes,
        points=points,
        today=workload.current,
        suggested=None if choices.suggested is None else parameters(choices.suggested),
        because=choices.because,
        preferences={name: parameters(row) for name, row in choices.preferred.items()},
        volumes=volumes(found, limits),
        left_out={**found.left_out, **({"predicted ones on the front, between those above": hidden} if hidden else {})},
        notes=(*known.evidence.notes, *notes),
        codes=tuple(dict.fromkeys((*known.codes, *notes.values()))),
        currency=job.currency,
    )


def chosen(request: Request, known: Known, policy: Policy | None, preferences: Mapping[str, Preference], *, seed: int) -> Choices:
    """What would be suggested now, and where one and the same agent would go under other preferences."""
    try:
        advice = advise(request, known, policy, seed=seed)
    except NothingAdmissible as error:
        return Choices(surrogate_of(request, known.runs, seed=seed, others=known.others), None, str(error), {})
    surrogate, decision = advice.surrogate, advice.decision
    assert surrogate is not None
    rows = {name: preferred(surrogate, known, replace(request, preference=p), policy) for name, p in preferences.items()}
    return Choices(surrogate, decision.choice, decision.reasons[0], {name: row for name, row in rows.items() if row is not None})


def preferred(surrogate: Surrogate, known: Known, request: Request, policy: Policy | None) -> int | None:
    """The row that is chosen under a preference; None where nothing may be used, or nothing is known of what it prefers."""
    belief = surrogate.belief
    if belief.duration_seconds is None or (request.preference.efficiency and not belief.knows_utilisation):
        return None
    try:
        return choose(problem_within_sla(surrogate, request, known), request, policy, len(known.runs)).choice
    except NothingAdmissible:
        return None


def marks_of(choices: Choices) -> dict[int, list[str]]:
    """Row -> what is to be found there."""
    marks = {choices.surrogate.candidates.current: ["today"]}
    if choices.suggested is not None:
        marks.setdefault(choices.suggested, []).append("suggested")
    for name, row in choices.preferred.items():
        marks.setdefault(row, []).append(f"prefer {name}")
    return marks


def named(objectives: str) -> tuple[str, ...]:
    """The names in "time,cost"."""
    names = tuple(name.strip() for name in objectives.split(","))
    remedy = f"name two to four of {', '.join(OBJECTIVES)}, e.g. --objectives time,cost"
    if unknown := [name for name in names if name not in OBJECTIVES]:
        raise UsageError("--objectives", f"{unknown[0]!r:.80} is no objective", remedy, code="JPO-E831")
    if len(set(names)) != len(names) or len(names) < 2:
        raise UsageError("--objectives", f"{objectives!r:.80} does not name two to four different ones", remedy, code="JPO-E831")
    return names


def limits_in(reference: str, axes: Mapping[str, str], currency: Currency) -> dict[str, float]:
    """The values in "time=6h,cost=20", by quantity."""
    found: dict[str, float] = {}
    for part in reference.split(","):
        name, _, text = (word.strip() for word in part.partition("="))
        if name not in axes or axes[name] in found:
            finding = f"{part.strip()!r:.80} is not a value for one of {', '.join(axes)}, each once"
            raise UsageError("--reference", finding, "write e.g. --reference time=6h,cost=20", code="JPO-E832")
        found[axes[name]] = usd_of_text(text, currency, option="--reference") if name == "cost" else limit(name, text)
    return found


def limit(name: str, text: str) -> float:
    """One value of the reference point, in the quantity's unit."""
    try:
        value = float(str(seconds(text))) if name == "time" else float(text.removesuffix("%")) / (100 if "%" in text else 1)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or (name == "time" and value <= 0) or (name == "efficiency" and not 0 <= value <= 1):
        like = {"time": "time=6h", "loss": "loss=0.4", "efficiency": "efficiency=0.5"}[name]
        raise UsageError("--reference", f"{name} = {text!r:.80} is not a value for it", f"write e.g. {like}", code="JPO-E832")
    return value


def rendered(front: Front, form: str, *, width: int = 120, colour: bool = False) -> str:
    """The front in the form that was asked for."""
    return front_json.render(front) if form == "json" else front_text.render(front, width=width, colour=colour)
