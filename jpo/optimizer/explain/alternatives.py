"""Alternatives to the choice: configurations that were not chosen, and the objection to each of them."""

import math
from collections.abc import Iterator

import numpy as np

from jpo.agent.candidate_rows import least
from jpo.agent.decide import by_rule
from jpo.agent.policy_override import MORE_FAILURES
from jpo.agent.preference import NEARLY_NOTHING
from jpo.cost import check_sla
from jpo.optimizer.explain.scene import DecisionScene, guarded, neighbours
from jpo.records import TRAINED, Alternative, DecidedBy, Parameters
from jpo.wording.numbers import change, percent
from jpo.wording.qualities import LARGEST_LOG, difference

FEWEST, MOST = 3, 5
"""Alternatives worth a reader's time."""
DECIDED_OTHERWISE: dict[DecidedBy, str] = {
    "user": "you set the values by hand",
    "waiting": "the outcome of the last suggestion comes first",
    "rollback": "what the last change did is undone first",
    **dict.fromkeys(TRAINED, "about as good, but the agent ranks it lower"),
}
"""Objection to a configuration where the belief rule did not decide."""


def alternatives(scene: DecisionScene) -> tuple[Alternative, ...]:
    """Three to five alternatives to the choice, each with its forecast and why not; fewer where there are no more.

    What the belief rule would try were nothing too risky, one GPU step more and less, the best that was measured, the fastest and
    the cheapest; then those that the rule likes next. Not today's: its forecast is shown anyway.
    """
    passed_over = {scene.choice, scene.candidates.current}
    rows = [row for row in dict.fromkeys(_contenders(scene)) if row not in passed_over][:MOST]
    if len(rows) < FEWEST:
        likely = [int(row) for row in np.argsort(scene.acquisition.score, kind="stable") if scene.candidates.admissible[row]]
        rows += [row for row in likely if row not in {*rows, *passed_over}][: FEWEST - len(rows)]
    return tuple(
        Alternative(scene.candidates.parameters(row), scene.surrogate.forecast(row), why_not(scene, row)) for row in rows
    )


def _contenders(scene: DecisionScene) -> Iterator[int]:
    belief = scene.belief
    yield by_rule(scene.problem, scene.candidates.admissible)
    yield from neighbours(scene, "gpus").values()
    if (belief.runs > 0).any():
        yield least(scene.acquisition.expected, belief.runs > 0)
    sound = scene.surrogate.candidates.admissible & (belief.p_fail < 0.5)
    if sound.any():
        for logs in (belief.log_time, belief.log_cost):
            yield least(belief.weights @ logs, sound)


def why_not(scene: DecisionScene, row: int) -> str:
    """Reason against a configuration: how it differs from the choice, and what speaks most against it."""
    return f"{trade(scene, row)}: {next(_objections(scene, row))}"


def _objections(scene: DecisionScene, row: int) -> Iterator[str]:
    """Objections to a configuration, the hardest first; never empty."""
    belief, allowed = scene.belief, scene.surrogate.candidates.admissible
    if not allowed[row]:
        yield _refusal(scene, scene.candidates.parameters(row))
    elif held := [hold for hold in scene.problem.holds if hold.rows[row]]:
        yield f"it {held[0].why}"
    elif not scene.candidates.admissible[row]:
        checks = check_sla(scene.request.wanted.targets, scene.surrogate.forecast(row))
        broken = [f" {check.name}" for check in checks if check.verdict == "broken"]
        yield f"expected to break [sla]{','.join(broken)}"
    if belief.only_failed[row]:
        yield "it did not end well when it was run"
    worse = scene.acquisition.expected[row] / scene.acquisition.expected[scene.choice] - 1
    if worse > NEARLY_NOTHING:
        fails = belief.p_fail[row] - belief.p_fail[scene.choice] > MORE_FAILURES
        risk = f", with a chance of {percent(float(belief.p_fail[row]))} that it fails" if fails else ""
        sure = "" if scene.acquisition.mean[row] > scene.acquisition.mean[scene.choice] or fails else "less certain, and so "
        yield f"{sure}expected {percent(worse)} worse under the preference{risk}"
    if not scene.problem.allowed[row] and (rule := scene.problem.exploration.why_not(row)):
        yield rule.in_short or f"it {rule.condition}"
    liked_less = "no better than the choice" if belief.tried[row] else "the possible gain is not worth a trial"
    if not belief.tried[scene.choice]:
        liked_less = "as good now, but the choice is expected to gain more over the next runs"
    yield DECIDED_OTHERWISE.get(scene.advice.decision.decided_by) or liked_less


def _refusal(scene: DecisionScene, values: Parameters) -> str:
    violations = guarded(scene, values).violations
    if violations:
        return f"the guard refuses it, {violations[0].message} (rule {violations[0].rule})"
    today, free = scene.advice.current, scene.request.allowed.free
    held = [name for name, value in values.items() if name not in free and value != today[name]]
    return f"{', '.join(held)} may not change" if held else f"{', '.join(scene.request.allowed.follow)} would not follow"


def trade(scene: DecisionScene, row: int, *, than: int | None = None) -> str:
    """Comparison of a configuration with the choice, or another one, in means of the belief: "time -11%  cost +38%  loss ±0%"."""
    belief, logs, other = scene.belief, {"time": scene.belief.log_time}, scene.choice if than is None else than
    if scene.surrogate.measured_energy if scene.candidates.by_energy else scene.candidates.priced:
        logs["energy" if scene.candidates.by_energy else "cost"] = belief.log_cost
    means = {name: float(belief.weights @ (log[:, row] - log[:, other])) for name, log in logs.items()}
    parts = [f"{name} {change(math.exp(min(mean, LARGEST_LOG)))}" for name, mean in means.items()]
    if belief.val_loss is not None:
        mean, compared = (float(belief.weights @ belief.log_loss[:, at]) for at in (row, other))
        level = belief.val_loss * math.exp(min(compared, LARGEST_LOG))
        parts.append(difference(belief.quality, level, mean - compared))
    return "  ".join(parts)
