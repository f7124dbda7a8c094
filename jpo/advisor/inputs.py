"""Arguments of the library's callers, read into JPO's own records: preference, workload, policy, seed and outcome."""

import math
from collections.abc import Mapping
from dataclasses import fields
from operator import index
from typing import Literal, SupportsFloat

from jpo.agent.alternatives.named import as_shipped
from jpo.agent.budget import Goal
from jpo.agent.policy import Policy
from jpo.errors import UsageError
from jpo.records import MEASURED, NAMED_PREFERENCES, POLICIES, Identity, Outcome, Preference, RunStatus


def preference_of(given: object) -> Preference:
    """Preference by its name or from weights.

    Raises UsageError: JPO-E720, an unknown name, or what is no weights; ValueError: weights that do not sum to 1.
    """
    if isinstance(given, Preference):
        return given
    if isinstance(given, str) and given in NAMED_PREFERENCES:
        return NAMED_PREFERENCES[given]
    names = ", ".join(NAMED_PREFERENCES)
    if not isinstance(given, Mapping):
        raise UsageError("preference", f"{given!r:.80} is unknown", f"write {names}, or give weights", code="JPO-E720")
    unknown = set(given) - {field.name for field in fields(Preference)}
    if unknown:
        others = ", ".join(sorted(map(str, unknown)))
        raise UsageError("preference", f"weighs {others}", "weigh time, cost, efficiency, loss and energy", code="JPO-E720")
    if any(isinstance(weight, str) or not isinstance(weight, SupportsFloat) for weight in given.values()):
        raise UsageError("preference", f"weighs with {dict(given)!r:.80}", "give numbers in 0..1", code="JPO-E720")
    return Preference(**{"time": 0.0, "cost": 0.0, **given})


def identity_of(workload: object) -> Identity:
    """Identity of a workload: a name of three parts is dataset/model/framework; any other stands for all three.

    A mapping names dataset, model, framework and, where it is known, hardware. None: this workload, which needs no name.
    """
    if isinstance(workload, Identity):
        return workload
    if isinstance(workload, Mapping):
        named = {part: name for part, name in workload.items() if not (part == "hardware" and name is None)}
        needed = {"dataset", "model", "framework"}
        if not needed <= set(named) <= {*needed, "hardware"} or not all(isinstance(v, str) and v.strip() for v in named.values()):
            remedy = "give dataset, model and framework by name, and hardware where it is known"
            raise UsageError("workload", f"is {dict(workload)!r:.120}", remedy, code="JPO-E720")
        return Identity(**named)
    name = "this workload" if workload is None else workload
    if not isinstance(name, str) or not name.strip():
        raise UsageError("workload", f"is {workload!r:.80}", "give a name, a mapping or an Identity", code="JPO-E720")
    parts = name.split("/")
    return Identity(*parts) if len(parts) == 3 and all(part.strip() for part in parts) else Identity(name, name, name)


def whole_number(name: str, given: object, *, at_least: int = 0) -> int:
    """A count of runs or the like. Raises UsageError: JPO-E720, no whole number, or a smaller one."""
    try:
        number = index(given)  # type: ignore[arg-type]
    except TypeError:
        number = at_least - 1
    if number < at_least:
        raise UsageError(name, f"is {given!r:.80}", f"give a whole number of at least {at_least}", code="JPO-E720")
    return number


def budget_of(given: object) -> float:
    """Budget of exploring, in runs of today's configuration. Raises UsageError: JPO-E720, no finite number of at least 0."""
    if isinstance(given, str) or not isinstance(given, SupportsFloat) or not 0 <= float(given) < math.inf:
        raise UsageError("budget", f"is {given!r:.80}", "give a number of runs, at least 0", code="JPO-E720")
    return float(given)


def goal_of(given: object, preference: Preference, *, asked_for: bool) -> Goal:
    """Goal as it is said, or as it is meant. Raises UsageError: JPO-E720, an unknown one."""
    if given is None:
        models_alone = preference.loss and not (preference.time or preference.paid)
        return "search" if models_alone or asked_for else "recurring"
    if given == "search" or given == "recurring":
        return given
    raise UsageError("goal", f"{given!r:.80} is unknown", "write recurring or search", code="JPO-E720")


def policy_of(given: object) -> Policy | None:
    """Policy itself, or the one of that name as it came with JPO; None: the belief rule.

    Raises UsageError: JPO-E720, an unknown name. StoreError: JPO-E601, JPO-E602, weights that cannot be used.
    """
    if given is None or isinstance(given, Policy):
        return given
    for name in POLICIES:
        if given == name or (given == "shipped" and name == "sac"):
            return as_shipped(name)
    names = ", ".join(POLICIES)
    raise UsageError("policy", f"{given!r:.80} is unknown", f"write {names}, or give a Policy", code="JPO-E720")


def status_of(outcome: Outcome) -> RunStatus:
    """Status of a run, as far as its outcome says how it ended."""
    if outcome.stopped:
        return RunStatus.STOPPED
    return RunStatus.FAILED if outcome.converged is False else RunStatus.SUCCEEDED


Direction = Literal["max", "min"]


def quality_of(
    quality: object, metric: Mapping[str, object] | None
) -> tuple[str | None, tuple[str, Direction, float | None] | None]:
    """By what models are judged, and a metric of the caller's own: its name, direction, and the value of a perfect model.

    Raises UsageError: JPO-E720, a metric without name or direction, and a quality that nobody has named.
    """
    own = None if metric is None else _metric(metric)
    known = ["val_loss", "val_accuracy", *([own[0]] if own else [])]
    if quality is None:
        return None, own
    if quality not in known:
        raise UsageError("quality", f"{quality!r:.80} is unknown", f"write {', '.join(known)}, or give a metric", code="JPO-E720")
    return str(quality), own


def _metric(given: Mapping[str, object]) -> tuple[str, Direction, float | None]:
    remedy = 'give {"name": "f1", "direction": "max"}, and "best" where a perfect model has another value than 1'
    name, direction, best = (
        (given.get(key) for key in ("name", "direction", "best")) if isinstance(given, Mapping) else (None,) * 3
    )
    if not isinstance(name, str) or not name or name in MEASURED or direction not in ("max", "min"):
        raise UsageError("metric", f"is {given!r:.80}", remedy, code="JPO-E720")
    if best is not None and (direction == "min" or not isinstance(best, int | float) or not math.isfinite(best)):
        raise UsageError("metric", f"has best = {best!r:.80}", remedy, code="JPO-E720")
    return name, "max" if direction == "max" else "min", None if best is None else float(best)
