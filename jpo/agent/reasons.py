"""Reasons of a decision: notes with numbers, most important first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.acquisition import clearly_better
from jpo.agent.candidate_rows import least, models_of, name_of
from jpo.agent.safety import failing
from jpo.agent.safety.distances import NEAR_A_MISS, NO_WAY_BACK
from jpo.agent.safety.queue_waits import TOO_LATE, TOO_MUCH
from jpo.agent.safety.vetoes import TOO_LITTLE_MEMORY
from jpo.records import VAL_LOSS, Note
from jpo.wording import numbers, qualities

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jpo.agent.problem import Problem
    from jpo.records import Belief, Quality

SETTLED = 3
"""Equal answers in a row after which something is said of what could be tried."""
OF_THE_MOMENT = (TOO_LATE, TOO_MUCH, NEAR_A_MISS, NO_WAY_BACK)
"""Codes of holds that another queue or another run may lift."""
NEARLY_NOTHING = 0.005
"""Half a percent: less is said to be "the same"."""


def without_evidence(runs_finished: int) -> Note:
    """Reason why nothing can be said before the first run that ended well."""
    if not runs_finished:
        sentence = "no finished run of this workload is known yet; one run with today's values is needed as reference"
        return Note("JPO-I601", sentence)
    who = "the only finished run" if runs_finished == 1 else f"each of {runs_finished} finished runs"
    return Note("JPO-I610", f"{who} failed, or does not say how long it took; one that ended well is needed as reference")


def out_of_failure(problem: Problem, choice: int) -> tuple[Note, ...]:
    """Reason why something is tried although exploring may cost nothing more: today's values only ever failed."""
    candidates, belief = problem.candidates, problem.belief
    now = candidates.current
    never = f"failed {numbers.times(int(belief.failures[now]))} and never ended well"
    often = failing.words(belief, now) if problem.comparison.leaves_today else never
    finding = f"today's values {often}, and nothing that ended well is within one step"
    chance = numbers.chance(float(belief.p_fail[choice]))
    nearest = f"{name_of(candidates, choice)} comes nearest to it and fails with a chance of {chance}"
    code = failing.CODE if problem.comparison.leaves_today else "JPO-W617"
    return (Note(code, f"{finding}; {nearest}"), *interval_warnings(problem.comparison.calibration.interval_factor))


def decision_reasons(problem: Problem, choice: int, favourite: int, step: str, *, by: str) -> tuple[Note, ...]:
    """Reasons for a choice that was made with evidence.

    Args:
        favourite: what would have been chosen, were nothing too risky.
        step: see Decision.
        by: the policy, "belief" for the belief rule.
    """
    return (
        *_failing(problem),
        *_promise(problem, choice),
        *_choice(problem, choice, step, by),
        *_unconfirmed(problem, choice),
        *_todays_reasons(problem),
        *_held(problem, choice, favourite),
        *_guard(problem, choice, favourite, step),
        *interval_warnings(problem.comparison.calibration.interval_factor),
    )


def _promise(problem: Problem, choice: int) -> Iterator[Note]:
    """That a promised loss comes first, with the chance of what is claimed then; or why it is not lowered."""
    promise = problem.comparison.promise
    if promise and promise.lowering[choice]:
        chance = numbers.chance(float(problem.comparison.p_claim[choice]))
        does = qualities.better(promise.quality)
        finding = f"{promise.finding}: {name_of(problem.candidates, choice)} {does} with a chance of {chance}"
        yield Note("JPO-I640", finding, about=promise.target)
    elif promise:
        yield promise.note()


def _failing(problem: Problem) -> Iterator[Note]:
    """That today's values fail more often than chance would have it, and whether there is a way back."""
    if problem.comparison.leaves_today:
        nothing = "" if problem.comparison.ways_back.any() else "; nothing that ended well may be gone back to"
        yield Note(failing.CODE, f"today's configuration {failing.words(problem.belief, problem.candidates.current)}{nothing}")


def _choice(problem: Problem, choice: int, step: str, by: str) -> Iterator[Note]:
    """What is expected of it."""
    name, acquisition = name_of(problem.candidates, choice), problem.acquisition
    if step == "keep":
        yield from _settled(problem)
        if by in ("belief", "sac"):
            better = "to be better than today's values" if by == "belief" else "to pay off"
            yield Note("JPO-I602", f"nothing that may be tried is expected {better}")
        else:  # what it likes need not be what is expected
            yield Note("JPO-I602", f"policy {by} likes nothing that may be tried better than today's values")
    elif step == "known":
        yield Note("JPO-I603", f"{name}, all else as now, {measured(problem, choice)}")
    else:
        text = f"is expected to {_difference(problem, choice)}; {_chances(problem, choice)}"
        values, tried = problem.candidates.values, problem.belief.tried
        (changed,) = np.nonzero(values[choice] != values[problem.candidates.current])
        value_ran = len(changed) == 1 and (values[tried, changed[0]] == values[choice, changed[0]]).any()
        company = " with the other values of today" if value_ran else ""
        yield Note("JPO-I604", f"{name} was not run yet{company} and {text}")
        if problem.leeway.exploration_runs_left:
            yield Note("JPO-I626", "it is tried because you asked for trials: it is the most informative of what is left")
        elif False:
            yield Note(
                "JPO-I643", "it is tried now: nothing is known of a parameter of your own before, so waiting would tell nothing"
            )
        elif problem.exploration.exploring:
            yield Note(
                "JPO-I629",
                f"after {problem.leeway.repeated} runs with these values one trial is run all the same, the most promising",
            )
        models, floor = models_of(problem.candidates), problem.comparison.quality_floor
        other_model = models[choice] != models[problem.candidates.current]
        if floor is not None and problem.belief.val_loss is None and other_model:
            yield Note("JPO-W628", "no run has measured a validation loss: whether it is kept is not known")
        if acquisition.expected[choice] > acquisition.expected[acquisition.incumbent] and by == "belief":
            yield Note("JPO-I605", f"trying it may cost a little now and can save over the next {acquisition.horizon:.0f} runs")


def _settled(problem: Problem) -> Iterator[Note]:
    """After several equal answers: how much was tried, and what could be tried next at which cost."""
    candidates, acquisition = problem.candidates, problem.acquisition
    asked = problem.under("on")
    tried, among = int(problem.belief.tried.sum()), int((problem.belief.tried | candidates.admissible).sum())
    if problem.exploration.exploring and asked.exploration.next_trial is None:
        yield Note("JPO-I627", f"everything that may be tried has been tried ({tried} of {among})")
    elif (
        problem.leeway.repeated >= SETTLED
        and problem.boldness.explore == "safe"
        and (row := asked.exploration.next_trial) is not None
    ):
        cost = acquisition.expected[row] / acquisition.expected[candidates.current]
        trial = f"the most informative next trial is {name_of(candidates, row)}, expected to cost {_runs(cost)} of today's"
        yield Note("JPO-I625", f"settled: {tried} of {among} tried; {trial}; `jpo suggest --explore on` runs it")


def _unconfirmed(problem: Problem, choice: int) -> Iterator[Note]:
    """A single run that is better than another configuration by no more than the noise."""
    belief, candidates, acquisition = problem.belief, problem.candidates, problem.acquisition
    others = (belief.runs > 0) & (np.arange(len(belief.runs)) != choice)
    if belief.runs[choice] != 1 or not others.any():
        return
    second = least(acquisition.expected, others)
    better = acquisition.expected[choice] < acquisition.expected[second]
    if better and not clearly_better(belief, acquisition.mean, choice, second):
        unconfirmed = f"that it is better than {name_of(candidates, second)} is to be confirmed"
        yield Note("JPO-I613", f"{name_of(candidates, choice)} has one run so far; {unconfirmed}")


def _todays_reasons(problem: Problem) -> Iterator[Note]:
    now = problem.candidates.current
    if problem.belief.runs[now] == 0:
        yield Note("JPO-W612", "today's values were not run yet: what is expected of them rests on runs of other ones")
    if not problem.candidates.admissible[now]:
        lost = [hold for hold in problem.holds if hold.rows[now] and hold.code != failing.CODE]
        yield from (Note(hold.code, f"today's configuration {hold.why}") for hold in lost)
        if not lost and not problem.comparison.leaves_today:
            yield Note("JPO-W609", "today's values are expected to break the SLA")


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


def _guard(problem: Problem, choice: int, favourite: int, step: str) -> Iterator[Note]:
    """What was held back, and what exploring may still cost."""
    left = problem.leeway.budget_left
    if problem.boldness.explore == "off":
        if step == "keep":
            yield Note("JPO-I607", "exploring is off: only measured values are considered")
        return
    if left < 0:
        lost = f"the last suggestions cost {_runs(problem.boldness.budget - left)} of today's configuration more than keeping it"
        yield Note("JPO-W606", f"{lost}, and {problem.boldness.budget:g} is allowed; only measured values are used for now")
        return
    if favourite != choice:
        than, risk = name_of(problem.candidates, favourite), _risk(problem, favourite)
        if step == "halve":
            yield Note("JPO-I614", f"it is a smaller step than to {than}, which may cost more than exploring may; {risk}")
        else:
            yield _held_back(problem, favourite, than, risk)
    if step in ("try", "halve") or favourite != choice:
        yield Note("JPO-I615", f"exploring may still cost {_runs(left)} of today's configuration")


def _held_back(problem: Problem, favourite: int, than: str, risk: str) -> Note:
    """What keeps the decider from what it likes best."""
    for hold in problem.holds:
        if hold.rows[favourite]:
            return Note(hold.code, f"{than} looks promising but {hold.why}")
    if not problem.exploration.sure[favourite]:
        chance = numbers.chance(float(problem.comparison.p_claim[favourite]))
        trial = "ends well and costs no more than a tenth more than today"
        keeps = f"is better than today and keeps the {qualities.name_of(problem.belief.quality)}"
        what = keeps if problem.belief.tried[favourite] else trial
        promise = problem.comparison.promise
        what = qualities.better(promise.quality) if promise and promise.lowering[favourite] else what
        least = f"[agent] min_confidence is {numbers.percent(problem.boldness.min_confidence)}"
        finding = f"{than} looks promising, but the chance that it {what} is {chance}"
        return Note("JPO-I624", f"{finding}; {least}")
    return Note("JPO-I608", f"{than} looks promising but may cost more than exploring may; {risk}")


def interval_warnings(interval_factor: float) -> tuple[Note, ...]:
    """Reason where the calibration watch widened the intervals of durations."""
    return _widened("JPO-W616", "too few of the last runs took as long as forecast: their intervals and risks", interval_factor)


def loss_interval_warnings(interval_factor: float, judged: Quality = VAL_LOSS) -> tuple[Note, ...]:
    """Reason where it widened the intervals of validation losses, or of what runs are judged by instead."""
    several = "validation losses" if judged == VAL_LOSS else f"values of {qualities.name_of(judged)}"
    return _widened("JPO-W816", f"too few of the last {several} were within their intervals, which", interval_factor)


def _widened(code: str, finding: str, interval_factor: float) -> tuple[Note, ...]:
    return (Note(code, f"{finding} are widened by a factor of {interval_factor:.2g}"),) if interval_factor > 1 else ()


def measured(problem: Problem, row: int) -> str:
    """Account of a configuration that was run: how it went, and what is expected of it against today's."""
    belief = problem.belief
    runs, failures, stopped = int(belief.runs[row]), int(belief.failures[row]), int(belief.stopped[row])
    badly = " and ".join(f"{how} {numbers.times(n)}" for how, n in (("failed", failures), ("was stopped", stopped)) if n)
    difference = f"is expected to {_difference(problem, row)}"
    if not runs:
        return f"{badly} and {difference} when it ends well"
    return f"was run {numbers.times(runs)}{f', {badly}' if badly else ''} and {difference}"


def _risk(problem: Problem, row: int) -> str:
    return f"chance of being more than 10% worse than today: {numbers.chance(problem.acquisition.p_worse_today[row])}"


def _chances(problem: Problem, row: int) -> str:
    """What a trial claims, and what the floor says of its loss: two chances, since one run shows what no belief knows."""
    kept = problem.comparison.p_loss_kept
    if kept is None or problem.comparison.quality_floor is None or problem.comparison.promise:
        return _risk(problem, row)
    claim = f"ends well and costs no more than a tenth more than today: {numbers.chance(float(problem.comparison.p_claim[row]))}"
    belief, base = problem.belief, problem.comparison.base
    level = (belief.val_loss or 0.0) * math.exp(float(belief.weights @ belief.log_loss[:, base]))
    loss = f"that it {qualities.kept_within(belief.quality, level, problem.comparison.quality_floor)}"
    return f"chance that it {claim}, {loss}: {numbers.chance(float(kept[row]))}"


def _runs(n: float) -> str:
    """A number of runs: "0.6 runs", "1 run"."""
    number = f"{n:.1f}".removesuffix(".0")
    return f"{number} run{'' if number == '1' else 's'}"


def _difference(problem: Problem, row: int) -> str:
    """The belief's mean against today: "take 21% less time and cost 5% more"."""
    candidates, belief = problem.candidates, problem.belief
    time, cost, loss = (
        float(belief.weights @ (log[:, row] - log[:, candidates.current]))
        for log in (belief.log_time, belief.log_cost, belief.log_loss)
    )
    parts = [_change("take", time, "time")]
    if candidates.priced:
        parts.append(_change("cost", cost, ""))
    elif candidates.log_rate[row] != candidates.log_rate[candidates.current]:
        parts.append(_change("cost", cost, "at usual prices"))
    if belief.val_loss is not None and abs(loss) > NEARLY_NOTHING:
        parts.append(_ending(belief, loss, candidates.current))
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _ending(belief: Belief, log_ratio: float, now: int) -> str:
    """How a model ends: with 3% less validation loss, or with a validation accuracy of 0.934 against 0.93."""
    if belief.quality.is_error:
        return _change("end with", log_ratio, qualities.name_of(belief.quality))
    today = (belief.val_loss or 0.0) * math.exp(float(belief.weights @ belief.log_loss[:, now]))
    then = qualities.value(belief.quality, today * math.exp(log_ratio))
    return f"end with {qualities.name_of(belief.quality)} {then} against {qualities.value(belief.quality, today)}"


def _change(verb: str, log_ratio: float, what: str) -> str:
    if abs(log_ratio) < NEARLY_NOTHING:
        return f"{verb} the same {what}".rstrip()
    share = abs(math.expm1(log_ratio))
    return f"{verb} {numbers.percent_in_words(share)} {'less' if log_ratio < 0 else 'more'} {what}".rstrip()
