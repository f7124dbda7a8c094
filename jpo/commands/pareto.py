"""`jpo pareto`: what trade-offs the runs so far have shown, what else is predicted, and where today's and the next values are.

The store and CSV logs are read, no server is asked, and nothing is written.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from jpo.errors import UsageError
from jpo.files.reading import number_or_nan
from jpo.learning.serving import policy_for
from jpo.optimizer.pareto.choices import choices_of
from jpo.optimizer.pareto.front import Front
from jpo.optimizer.pareto.tradeoff import OBJECTIVES, axes_of, front_of
from jpo.project.collect import collect, with_doubts_noted
from jpo.project.durations import seconds_or_nan
from jpo.project.load import LoadedSettings
from jpo.project.prices import usd_of_text
from jpo.project.project import open_project, own_metrics
from jpo.project.request import request_of
from jpo.records import Currency


def pareto(
    path: Path, settings: LoadedSettings, *, objectives: str | None, reference: str | None, seed: int, now: float
) -> Front:
    """The trade-off front of config.ini's workload.

    `objectives`: two to four of OBJECTIVES and the metric of [metric], by commas; None: time and cost, or where no cost is
    known time and what else is. `reference`: "time=6h,cost=20"; what it leaves out, or None: a tenth beyond the worst measured
    point.

    Raises UsageError: JPO-E831 the objectives, JPO-E832 or JPO-E803 the reference point, JPO-E833 a front of cost without prices.
    """
    names = None if objectives is None else named(objectives, (*OBJECTIVES, *own_metrics(settings)))
    with open_project(path, settings, now=now, read_only=True) as job:
        known = with_doubts_noted(collect(job))
        request = request_of(job, known)
        policy = policy_for(job.store, request.boldness.explore, request.policy)
    choices = choices_of(request, known, policy, job.preferences, seed=seed)
    axes, note = axes_of(names, choices.surrogate, request.wanted.metric)
    limits = {} if reference is None else limits_in(reference, axes, job.currency)
    return front_of(job.workload.identity, choices, request, known, axes, limits, note)


def named(objectives: str, known: Sequence[str]) -> tuple[str, ...]:
    """The names in "time,cost"."""
    names = tuple(name.strip() for name in objectives.split(","))
    remedy = f"name two to four of {', '.join(known)}, e.g. --objectives time,cost"
    if unknown := [name for name in names if name not in known]:
        raise UsageError("--objectives", f"{unknown[0]!r:.80} is not an objective", remedy, code="JPO-E831")
    if len(set(names)) != len(names) or len(names) < 2:
        raise UsageError("--objectives", f"{objectives!r:.80} does not name two to four different ones", remedy, code="JPO-E831")
    return names


def limits_in(reference: str, axes: Mapping[str, str], currency: Currency) -> dict[str, float]:
    """The values in "time=6h,cost=20", by quantity."""
    limits: dict[str, float] = {}
    for part in reference.split(","):
        name, _, text = (word.strip() for word in part.partition("="))
        if name not in axes or axes[name] in limits:
            finding = f"{part.strip()!r:.80} is not a value for one of {', '.join(axes)}, each once"
            raise UsageError("--reference", finding, "write e.g. --reference time=6h,cost=20", code="JPO-E832")
        limits[axes[name]] = usd_of_text(text, currency, option="--reference") if name == "cost" else limit(name, text)
    return limits


def limit(name: str, text: str) -> float:
    """One value of the reference point, in the quantity's unit."""
    value = number_or_nan(text.removesuffix("%").strip()) / (100 if "%" in text else 1)
    value = seconds_or_nan(text) if name == "time" else value
    if (
        not math.isfinite(value)
        or (name == "time" and value <= 0)
        or (name in ("efficiency", "accuracy") and not 0 <= value <= 1)
    ):
        like = {"time": "time=6h", "loss": "loss=0.4", "efficiency": "efficiency=0.5"}.get(name, f"{name}=0.9")
        raise UsageError("--reference", f"{name} = {text!r:.80} is not a value for it", f"write e.g. {like}", code="JPO-E832")
    return value
