"""Advice on a workload's next configuration: its runs go in, one decision with its forecasts comes out.

Simulator, forecast and agent meet here and do not know each other: draws = what training jobs may be like; belief = those that
fit the runs; decision = the agent's choice under that belief.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from jpo.agent.candidate_rows import rows_of, rows_of_runs
from jpo.agent.decide import decide
from jpo.agent.policy import Policy
from jpo.agent.preference import LOSS_TOLERANCE
from jpo.agent.problem import Problem
from jpo.agent.reasons import interval_warnings, loss_interval_warnings
from jpo.agent.safety import failing, recovery
from jpo.agent.safety.setback import outlasting, setback
from jpo.cost import usd_per_hour
from jpo.errors import NothingAdmissible
from jpo.forecast.predict import predict
from jpo.optimizer.candidates import with_followers
from jpo.optimizer.problem import problem_of
from jpo.optimizer.request import Request
from jpo.optimizer.sla import TargetForecast, memory_vetoes, target_forecasts, to_be_lowered, trade_vetoes, within_sla
from jpo.optimizer.surrogate import Surrogate, surrogate_of
from jpo.records import (
    SET_BY_HAND,
    Belief,
    Candidates,
    ChangeKind,
    DecidedBy,
    Decision,
    Forecast,
    Known,
    Note,
    Parameters,
    Run,
    RunStatus,
    Undo,
)
from jpo.wording import names, numbers

BASELINE = "JPO-I645"
FIRST_VALUES = "JPO-W651"


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice: the decision, what it means in parameters, and what is expected today and then.

    Attributes:
        by_hand: parameters whose value the user set.
        surrogate: what is believed of all candidates; `problem`: what was decided. None where nothing was weighed.
        undo: what is undone, if that is the advice.
        seed: with which the belief was drawn.
    """

    decision: Decision
    current: Parameters
    suggested: Parameters
    now: Forecast
    next: Forecast
    by_hand: Collection[str] = ()
    surrogate: Surrogate | None = field(default=None, compare=False)
    undo: Undo | None = None
    problem: Problem | None = field(default=None, compare=False)
    seed: int = 0


def advise(request: Request, known: Known, policy: Policy | None, *, seed: int) -> Advice:
    """Advice on the next configuration.

    `policy`: the trained agent; None, or not released for this `explore`: the belief rule chooses.

    Raises NothingAdmissible: JPO-E402, no configuration is expected to keep the SLA.
    """
    chosen = request.allowed.chosen
    asked = [with_followers(request, chosen)] if chosen else []
    surrogate = surrogate_of(request, known, seed=seed, asked=asked)
    warned = interval_warnings(surrogate.calibration.interval_factor)
    undone, problem = None, None
    if chosen:
        setting = ", ".join(f"{name} = {numbers.plain(value)}" for name, value in chosen.items()) + " was set by hand"
        row = surrogate.row(*asked)
        kind: ChangeKind = "kept" if row == surrogate.candidates.current else "return" if surrogate.belief.runs[row] else "trial"
        decision = Decision(row, None, "user", (Note(SET_BY_HAND, setting), *warned), kind)
    else:
        problem = problem_within_sla(surrogate, request, known)
        weighed = Weighed(surrogate, problem, request, known, policy)
        decision = with_what_runs_lack(next(answer for choice in CHOICES if (answer := choice.answer(weighed))), known)
        undone = known.last if decision.decided_by == "rollback" else None
    lost = loss_interval_warnings(surrogate.calibration.loss_interval_factor, surrogate.belief.quality)
    decision = replace(decision, reasons=(*decision.reasons, *lost))
    now, then = surrogate.forecast(surrogate.candidates.current), surrogate.forecast(decision.choice)
    suggested: Parameters = surrogate.candidates.parameters(decision.choice)
    if undone:
        suggested = request.allowed.terms.with_chosen(request.current, request.really(undone.values))
    return Advice(decision, request.current, suggested, now, then, tuple(chosen), surrogate, undone, problem, seed)


def with_what_runs_lack(decision: Decision, known: Known) -> Decision:
    """The decision; where it waits for a first run though some are on record, with what none of them says as its reason."""
    lacks = next((note.about for note in known.evidence.notes if note.code == "JPO-I129"), "")
    if known.runs or not lacks or decision.decided_by != "no evidence":
        return decision
    sentence = f"the runs on record do not say {lacks} (see below): JPO needs one run with today's values as a reference"
    return replace(decision, reasons=(Note("JPO-I601", sentence),))


def advise_among(
    candidates: Candidates, belief: Belief, request: Request, known: Known, policy: Policy | None
) -> tuple[Decision, Forecast]:
    """The decision among given candidates under a given belief, and the forecast of the choice."""
    decision = choose(problem_of(candidates, belief, request, known), request, policy, len(known.runs))
    rate = usd_per_hour(candidates.parameters(decision.choice), request.prices)
    return decision, predict(belief, decision.choice, usd_per_hour=rate)


def problem_within_sla(surrogate: Surrogate, request: Request, known: Known) -> Problem:
    """Decision problem among the candidates that are not expected to break the SLA.

    Raises NothingAdmissible: JPO-E402, nothing is left.
    """
    return _problem_among(within_sla(surrogate, request), surrogate, request, known)


def _problem_among(candidates: Candidates, surrogate: Surrogate, request: Request, known: Known) -> Problem:
    problem = problem_of(candidates, surrogate.belief, request, known, surrogate.calibration)
    return replace(problem, holds=(*problem.holds, *trade_vetoes(surrogate, request), *memory_vetoes(surrogate)))


def problem_despite_sla(surrogate: Surrogate, request: Request, known: Known) -> Problem:
    """Decision problem within the SLA; among all rows where each is expected to break it, for what was done all the same."""
    try:
        return problem_within_sla(surrogate, request, known)
    except NothingAdmissible:
        return _problem_among(surrogate.candidates, surrogate, request, known)


def choose(problem: Problem, request: Request, policy: Policy | None, runs_finished: int) -> Decision:
    """Decision of the agent among the admissible candidates; a row that is not admissible only while nothing is known.

    Raises NothingAdmissible: JPO-E402, only measured configurations may be used now, and none of them keeps the SLA.
    """
    decision = decide(problem, policy, runs_finished)
    if not problem.candidates.admissible[decision.choice] and decision.decided_by != "no evidence":
        finding = "no measured configuration is expected to meet the SLA targets, and only measured ones may be used now"
        else_do = "use explore = safe" if problem.boldness.explore == "off" else "try other values by --set"
        place, remedy = f"[sla] {', '.join(request.wanted.targets)}", f"relax a target, or {else_do}"
        raise NothingAdmissible(place, finding, remedy, code="JPO-E402")
    return decision


def out_of_failure(problem: Problem, runs: Sequence[Run]) -> Decision:
    """Decision where no run ended well; of how well it does nothing is known."""
    row = recovery.step_out(problem.candidates, problem.belief, runs)
    why = recovery.recovery_reason(problem.candidates, runs, row)
    if row is None:
        return Decision(problem.candidates.current, None, "no evidence", (why,))
    return Decision(row, None, "recovery", (why,), "trial")


def out_of_frequent_failure(problem: Problem, runs: Sequence[Run]) -> Decision | None:
    """Decision where today's values fail more often than by chance, for a cause on record, and nothing else has ended well."""
    candidates, belief = problem.candidates, problem.belief
    if not problem.comparison.leaves_today or problem.comparison.known_to_end_well.any():
        return None
    today = rows_of_runs(candidates, runs) == candidates.current  # why others failed is no reason to leave these
    ended = [run for run, now in zip(runs, today, strict=True) if now and run.status is not RunStatus.STOPPED]
    failed = [run for run in ended if not run.ended_well][-1:]
    cause = recovery.cause_of_last(failed) if failed else None
    if cause is None or cause not in recovery.PREVENTABLE:
        return None
    if (row := recovery.step_out(candidates, belief, failed)) is None:
        return None
    finding = f"today's configuration {failing.words(belief, candidates.current)}, and "
    finding += recovery.SENTENCES[cause].format(run="the last of them")
    why = Note(failing.CODE, f"{finding}: {recovery.step(candidates, row)}")
    return Decision(row, None, "recovery", (why,), "trial")


def back_to_the_first(candidates: Candidates, request: Request, runs: Sequence[Run]) -> Decision:
    """Decision where no run ended well and nothing more is tried: changes have not helped. No hold counts, all is held by now."""
    finding = f"no run has ended well yet ({len(runs)} did not)"
    rows = rows_of(candidates, {**request.current, **(request.boldness.fallback or {})})
    row = int(rows[0]) if rows.size else candidates.current
    if row == candidates.current or not candidates.admissible[row]:
        stays = Note(recovery.NOTHING_HELPS, f"{finding}; the values stay")
        return Decision(candidates.current, None, "no evidence", (stays,))
    return Decision(row, None, "recovery", (Note(FIRST_VALUES, f"{finding}: the first values come back"),), "return")


@dataclass(frozen=True, eq=False, slots=True)
class Weighed:
    """What a choice is made from."""

    surrogate: Surrogate
    problem: Problem
    request: Request
    known: Known
    policy: Policy | None

    @property
    def explores(self) -> bool:
        return bool(self.known.runs) and self.request.boldness.explore != "off"

    @property
    def nothing_ended_well(self) -> bool:
        return bool(self.known.runs) and not any(run.ended_well for run in self.known.runs)

    def keeping(self, decided_by: DecidedBy, code: str, reason: str) -> Decision | None:
        """Today's values, where they may stay."""
        candidates = self.problem.candidates
        notes = (Note(code, reason), *interval_warnings(self.surrogate.calibration.interval_factor))
        may_stay = candidates.admissible[candidates.current]
        return Decision(candidates.current, None, decided_by, notes) if may_stay else None


def wait(weighed: Weighed) -> Decision | None:
    """Today's values while the last suggestion has not run; in a search not where they ran: nothing runs twice."""
    waiting_for = weighed.known.waiting_for(weighed.request.current)
    reason = f"JPO is waiting for a finished run of suggestion {waiting_for}"
    ran = weighed.problem.search is not None and weighed.problem.belief.tried[weighed.problem.candidates.current]
    return weighed.keeping("waiting", "JPO-I611", reason) if waiting_for and not ran else None


def wait_for_baseline(weighed: Weighed) -> Decision | None:
    left = weighed.request.boldness.baseline_left
    more = numbers.counted(left, "more finished run")
    reason = f"{more} with today's values will be the baseline for later ones ([agent] baseline_runs)"
    return weighed.keeping("no evidence", BASELINE, reason) if left else None


@dataclass(frozen=True, slots=True)
class Choice:
    """Rule that chooses, if its condition holds; the first one that does answers.

    `codes`: reason codes of its first reason.
    """

    name: str
    codes: str
    condition: str
    answer: Callable[[Weighed], Decision | None]


CHOICES = (
    Choice("wait", "JPO-I611", "the last suggestion is in force and has not run: today's values stay", wait),
    Choice(
        "undo",
        "JPO-W649, JPO-I841 to JPO-I843",
        "the last change did harm, and the values before it may be used: they come back (not in a search)",
        lambda w: (
            set_back(w.surrogate, w.problem, w.request, w.known.last) if w.known.last and w.problem.search is None else None
        ),
    ),
    Choice(
        "back to the first values",
        "JPO-W651",
        "no run has ended well, and nothing more is tried (`jpo optimize`): the first values come back",
        lambda w: (
            back_to_the_first(w.surrogate.candidates, w.request, w.known.runs)
            if w.nothing_ended_well and w.request.boldness.fallback is not None
            else None
        ),
    ),
    Choice(
        "out of failure",
        "JPO-W618, JPO-I610",
        'no run has ended well, and `explore` is not "off": a step that helps against the cause on record',
        lambda w: out_of_failure(w.problem, w.known.runs) if w.nothing_ended_well and w.explores else None,
    ),
    Choice(
        "out of frequent failure",
        "JPO-W649",
        "today's values fail more often than by chance, for a cause on record, and nothing else has ended well: such a step",
        lambda w: out_of_frequent_failure(w.problem, w.known.runs) if w.explores else None,
    ),
    Choice("baseline", "JPO-I645", "`baseline_runs` waits for more runs of today's values: they stay", wait_for_baseline),
    Choice(
        "decide",
        "JPO-I601 to JPO-I604, JPO-I640",
        "otherwise: of what the rules leave the best improvement or return, or a trial with a larger possible gain; "
        "else today's values stay",
        lambda w: choose(w.problem, w.request, w.policy, len(w.known.runs)),
    ),
)
"""Who answers, in order."""


def as_good(surrogate: Surrogate, target: TargetForecast, row: int, now: int) -> bool:
    """Whether a row is expected to miss a quality target by no more than today's, up to noise."""
    belief = surrogate.belief_about(names.target(target.name).quantity)
    assert belief is not None, "its quality was measured"
    log_error = belief.weights @ belief.log_loss
    return bool(log_error[row] <= log_error[now] + LOSS_TOLERANCE)


def set_back(surrogate: Surrogate, problem: Problem, request: Request, last: Undo) -> Decision | None:
    """Decision to undo the last change, if it did harm and the values before it may be used and are expected to keep the SLA."""
    candidates, now = surrogate.candidates, surrogate.candidates.current
    today = candidates.parameters(now)
    before = request.allowed.terms.with_chosen(today, request.really(last.values))
    rows = rows_of(candidates, before)
    movable = {name for name in before if before[name] != today[name]} <= {*request.allowed.free, *request.as_run}
    if not (rows.size and movable and request.allowed.admissible(today, before)):
        return None
    row = int(rows[0])
    targets = list(target_forecasts(surrogate, request))
    equal = {t.name for t in targets if to_be_lowered(surrogate, t) and as_good(surrogate, t, row, now)}
    if not all(target.kept[row] or target.name in equal for target in targets):
        return None
    missed = [target for target in targets if target.kept[row] > target.kept[now] and np.isfinite(target.expected[row])]
    broken = [(target.name, target.limit, float(target.expected[row]), float(target.expected[now])) for target in missed]
    if request.as_run and not problem.candidates.admissible[row]:  # what runs make of a value may be known of the one before
        allowed = problem.candidates.admissible | (np.arange(problem.candidates.admissible.size) == row)
        candidates = replace(problem.candidates, admissible=allowed)
        problem = replace(problem, comparison=replace(problem.comparison, candidates=candidates))
    why = setback(problem, row, broken, outlasting(surrogate.runs, today, before))
    if why is None:
        return None
    undone = Note(why.code, f"suggestion {last.suggestion_id} is undone: {why.text}")
    notes = (undone, *interval_warnings(surrogate.calibration.interval_factor))
    return Decision(row, float(problem.comparison.p_better[row]), "rollback", notes, "return")
