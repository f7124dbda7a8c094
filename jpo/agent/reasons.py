"""Reasons of a decision: notes with numbers, most important first."""

import math
from collections.abc import Iterator

import numpy as np

from jpo.agent.acquisition import clearly_better
from jpo.agent.candidate_rows import least, models_of, name_of
from jpo.agent.problem import Problem
from jpo.agent.safety import failing
from jpo.agent.safety.distances import NEAR_A_MISS, NO_WAY_BACK
from jpo.agent.safety.queue_waits import TOO_LATE, TOO_MUCH
from jpo.agent.safety.vetoes import TOO_LITTLE_MEMORY
from jpo.records import VAL_LOSS, Note, Quality
from jpo.wording import numbers, qualities

OF_THE_MOMENT = (TOO_LATE, TOO_MUCH, NEAR_A_MISS, NO_WAY_BACK)
"""Codes of holds that another queue or another run may lift."""


def without_evidence(runs_finished: int) -> Note:
    """Reason why nothing can be said before the first run that ended well."""
    if not runs_finished:
        sentence = "no finished run of this workload is known yet: JPO needs one run with today's values as a reference"
        return Note("JPO-I601", sentence)
    who = "the only finished run" if runs_finished == 1 else f"each of {runs_finished} finished runs"
    return Note("JPO-I610", f"{who} failed or does not say how long it took: JPO needs one that ended well as a reference")


def out_of_failure(problem: Problem, choice: int) -> tuple[Note, ...]:
    """Reason why something is tried although exploring may cost nothing more: today's values only ever failed."""
    candidates, belief = problem.candidates, problem.belief
    now = candidates.current
    never = f"failed {numbers.times(int(belief.failures[now]))} and never ended well"
    often = failing.words(belief, now) if problem.comparison.leaves_today else never
    finding = f"today's values {often}, and no values that ended well are within one step"
    chance = numbers.chance(float(belief.p_fail[choice]))
    nearest = f"{name_of(candidates, choice)} comes nearest to them and fails with a chance of {chance}"
    code = failing.CODE if problem.comparison.leaves_today else "JPO-W617"
    return (Note(code, f"{finding}; {nearest}"), *interval_warnings(problem.comparison.calibration.interval_factor))


def decision_reasons(problem: Problem, choice: int, favourite: int, *, by: str) -> tuple[Note, ...]:
    """Reasons for a choice that was made with evidence.

    `favourite`: where today's values are kept, what would have been chosen, were nothing too risky. `by`: policy, or "belief".
    """
    return (
        *_failing(problem),
        *_promise(problem, choice),
        *_choice(problem, choice, by),
        *_unconfirmed(problem, choice),
        *_todays_reasons(problem),
        *_held(problem, choice, favourite),
        *_guard(problem, choice, favourite),
        *interval_warnings(problem.comparison.calibration.interval_factor),
    )


def search_reasons(problem: Problem, choice: int) -> tuple[Note, ...]:
    """Reasons for a choice of a search, after the one that says so."""
    kept = problem.exploration.kind(choice) == "kept"
    widened = interval_warnings(problem.comparison.calibration.interval_factor)
    return (*(() if kept else _choice(problem, choice, "belief")), *_todays_reasons(problem), *widened)


def _promise(problem: Problem, choice: int) -> Iterator[Note]:
    """That a promised loss comes first, with the chance of what is claimed then; or why it is not lowered."""
    promise = problem.comparison.promise
    if promise and promise.lowering[choice]:
        finding = f"{promise.finding}: {name_of(problem.candidates, choice)} {qualities.better(promise.quality)}"
        yield Note("JPO-I640", finding, about=promise.target)
    elif promise:
        yield promise.note()


def _failing(problem: Problem) -> Iterator[Note]:
    """That today's values fail more often than chance would have it, and whether there is a way back."""
    if problem.comparison.leaves_today:
        nothing = "" if problem.comparison.ways_back.any() else "; no values that ended well may be restored"
        yield Note(failing.CODE, f"today's configuration {failing.words(problem.belief, problem.candidates.current)}{nothing}")


def _choice(problem: Problem, choice: int, by: str) -> Iterator[Note]:
    """Whether it was run; what is expected of it, and how likely, the headline says."""
    back = problem.exploration.way_back_to if choice == problem.exploration.step_back else None
    way = "" if back is None else f"; it comes nearest to {name_of(problem.candidates, back)}, which ended well"
    name, kind = name_of(problem.candidates, choice), problem.exploration.kind(choice)
    if kind == "kept":
        yield from _settled(problem)
        if by in ("belief", "sac"):
            better = "to beat today's values" if by == "belief" else "to pay off"
            yield Note("JPO-I602", f"no setting that may be tried is expected {better}")
        else:  # what it likes need not be what is expected
            yield Note("JPO-I602", f"policy {by} prefers today's values to everything that may be tried")
    elif problem.belief.tried[choice]:
        yield Note("JPO-I603", f"{name} (all else as today) {measured(problem, choice)}{way}")
    else:
        values, tried = problem.candidates.values, problem.belief.tried
        (changed,) = np.nonzero(values[choice] != values[problem.candidates.current])
        value_ran = len(changed) == 1 and (values[tried, changed[0]] == values[choice, changed[0]]).any()
        company = " with the other values of today" if value_ran else ""
        yield Note("JPO-I604", f"{name} has not been tried{company}{way}")
        if problem.leeway.exploration_runs_left:
            yield Note("JPO-I626", "you asked for trials, and this is the most informative one left")
        models, floor = models_of(problem.candidates), problem.comparison.quality_floor
        other_model = models[choice] != models[problem.candidates.current]
        if floor is not None and problem.belief.val_loss is None and other_model:
            yield Note("JPO-W628", "no run has measured a validation loss, so JPO cannot tell whether it stays as good")


def _settled(problem: Problem) -> Iterator[Note]:
    """Why nothing is tried: all of it was, or nothing is likely to be better."""
    candidates, exploration = problem.candidates, problem.exploration
    tried, among = int(problem.belief.tried.sum()), int((problem.belief.tried | candidates.admissible).sum())
    if problem.leeway.exploration_runs_left and exploration.asked_for is None:
        yield Note("JPO-I627", f"everything that may be tried has been tried ({tried} of {among})")
    elif problem.boldness.explore == "safe" and exploration.settled:
        yield Note("JPO-I625", f"settled: {tried} of {among} configurations have been tried, and no other is likely to be better")


def _unconfirmed(problem: Problem, choice: int) -> Iterator[Note]:
    """A single run that is better than another configuration by no more than the noise."""
    belief, candidates, acquisition = problem.belief, problem.candidates, problem.acquisition
    others = (belief.runs > 0) & (np.arange(len(belief.runs)) != choice)
    if belief.runs[choice] != 1 or not others.any():
        return
    second = least(acquisition.expected, others)
    better = acquisition.expected[choice] < acquisition.expected[second]
    if better and not clearly_better(belief, acquisition.mean, choice, second):
        unconfirmed = f"a second run has to confirm that it beats {name_of(candidates, second)}"
        yield Note("JPO-I613", f"{name_of(candidates, choice)} has one run so far; {unconfirmed}")


def _todays_reasons(problem: Problem) -> Iterator[Note]:
    now = problem.candidates.current
    if problem.belief.runs[now] == 0:
        yield Note("JPO-W612", "today's values have not been tried: their forecast rests on runs with other values")
    if not problem.candidates.admissible[now]:
        lost = [hold for hold in problem.holds if hold.rows[now] and hold.code != failing.CODE]
        yield from (Note(hold.code, f"today's configuration {hold.why}") for hold in lost)
        if not lost and not problem.comparison.leaves_today:
            library = not problem.boldness.nightly  # where there is no SLA
            yield Note("JPO-W609", f"today's values {'are outside the space' if library else 'are expected to break the SLA'}")


def _held(problem: Problem, choice: int, favourite: int) -> Iterator[Note]:
    """What is expected to be better, but not now: it would wait too long, is more than the engine gives, or no trial of its own
    (distances.py); or would be by more than noise, were host memory enough for it. Of these, what is expected to cost least.

    Of today's, `_todays_reasons` says it; of the favourite, that memory is too little, the guard.
    """
    acquisition, now = problem.acquisition, problem.candidates.current
    expected, mean = acquisition.expected, acquisition.mean
    for hold in problem.holds:
        better = np.zeros(len(expected), dtype=np.bool_)
        if hold.code in OF_THE_MOMENT:
            better = hold.rows & (expected < expected[choice]) & (np.arange(len(expected)) != now)
        elif hold.code == TOO_LITTLE_MEMORY and problem.boldness.explore == "safe" and not hold.rows[favourite]:
            better = hold.rows & (mean < mean[choice] - problem.belief.noise)
        if better.any():
            yield Note(hold.code, f"{name_of(problem.candidates, least(expected, better))} looks promising but {hold.why}")


def _guard(problem: Problem, choice: int, favourite: int) -> Iterator[Note]:
    """What was held back, and what exploring may still cost."""
    left, kind = problem.leeway.budget_left, problem.exploration.kind(choice)
    if problem.boldness.explore == "off":
        if kind == "kept":
            yield Note("JPO-I607", "explore is off: only measured values are considered")
        return
    if problem.leeway.overspent and problem.boldness.explore == "safe" and kind != "trial":
        lost = f"the last suggestions cost {_runs(problem.boldness.budget - left)} of today's configuration more than keeping it"
        yield Note("JPO-W606", f"{lost}, and the budget is {problem.boldness.budget:g}, so nothing is tried for now")
    elif favourite != choice:
        yield from _held_back(problem, favourite)
    if kind == "trial" and problem.boldness.explore == "safe" and left >= 0:
        yield Note("JPO-I615", f"exploration budget left: {_runs(left)} of today's configuration")


def _held_back(problem: Problem, favourite: int) -> Iterator[Note]:
    than, comparison = name_of(problem.candidates, favourite), problem.comparison
    if held := next((hold for hold in problem.holds if hold.rows[favourite] and not problem.allowed[favourite]), None):
        yield Note(held.code, f"{than} looks promising but {held.why}")
        return
    looks, rule = f"{than} looks promising, but", problem.exploration.why_not(favourite)
    if rule is None:
        return
    if rule.code == "JPO-I624":
        keeps = f"is better than today and keeps the {qualities.name_of(problem.belief.quality)}"
        least_chance = f"[agent] min_confidence is {numbers.percent(problem.boldness.min_confidence)}"
        chance = numbers.chance(float(comparison.p_better[favourite]))
        yield Note(rule.code, f"{looks} the chance that it {keeps} is only {chance} ({least_chance})")
    elif rule.code == "JPO-I672":
        made, earned = problem.leeway.trials_made, problem.leeway.trials_earned
        yield Note(rule.code, f"{looks} {made} of the {earned:.1f} trials allowed so far have been made")
    elif rule.code == "JPO-I673":
        yield Note(
            rule.code, f"{looks} it asks for more than any run had: JPO tries batch and rate first, or the gain is too small"
        )
    elif rule.code == "JPO-I608":
        safe = f"it ends well and costs no more than a tenth more: {numbers.chance(float(comparison.p_safe[favourite]))}"
        expected = numbers.change(math.exp(float(problem.exploration.expected_log[favourite])))
        yield Note(rule.code, f"{looks} it is too risky: expected {expected} for the next run; chance that {safe}")


def interval_warnings(interval_factor: float) -> tuple[Note, ...]:
    """Reason where the calibration watch widened the intervals of durations."""
    return _widened("JPO-W616", "too few of the last runs took as long as forecast; their intervals and risks", interval_factor)


def loss_interval_warnings(interval_factor: float, judged: Quality = VAL_LOSS) -> tuple[Note, ...]:
    """Reason where it widened the intervals of validation losses, or of what runs are judged by instead."""
    several = "validation losses" if judged == VAL_LOSS else f"values of {qualities.name_of(judged)}"
    return _widened("JPO-W816", f"too few of the last {several} were within their intervals; these", interval_factor)


def _widened(code: str, finding: str, interval_factor: float) -> tuple[Note, ...]:
    return (Note(code, f"{finding} are widened by a factor of {interval_factor:.2g}"),) if interval_factor > 1 else ()


def measured(problem: Problem, row: int) -> str:
    belief = problem.belief
    runs, failures, stopped = int(belief.runs[row]), int(belief.failures[row]), int(belief.stopped[row])
    counts = (("ended well", runs), ("failed", failures), ("was stopped", stopped))
    return " and ".join(f"{how} {numbers.times(n)}" for how, n in counts if n)


def _runs(n: float) -> str:
    """A number of runs: "0.6 runs", "1 run"."""
    number = f"{n:.1f}".removesuffix(".0")
    return f"{number} run{'' if number == '1' else 's'}"
