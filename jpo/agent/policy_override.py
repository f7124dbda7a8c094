"""What SAC did with the belief rule's choice, and why: it kept it, or departed from it, by what jobs that ran on this
installation before showed; else by what practice on simulated jobs taught."""

import numpy as np

from jpo.agent.policy import Policy
from jpo.agent.preference import NEARLY_NOTHING
from jpo.agent.problem import Problem
from jpo.agent.state import observe
from jpo.records import HALF_WIDTH, Interval, Note
from jpo.wording import numbers

MORE_FAILURES, SLOWER = 0.05, 0.05
"""Least differences in probability, and in natural log of the objective, that are a reason, or named."""
MORE_AND_LESS = {
    "batch_size": ("larger batches", "smaller batches"),
    "learning_rate": ("higher learning rates", "lower learning rates"),
    "num_layers": ("more layers", "fewer layers"),
    "epochs": ("more epochs", "fewer epochs"),
    "gpus": ("more GPUs", "fewer GPUs"),
    "cpus": ("more CPUs", "fewer CPUs"),
    "memory_gib": ("more memory", "less memory"),
}


def departure(problem: Problem, policy: Policy, rule: int, choice: int) -> Interval | None:
    """Runs that SAC expects a choice to save against the belief rule's: mean of its critics, and as they differ; 0 for that
    one itself, None of another policy."""
    if policy.name != "sac":
        return None
    seen = observe(problem, problem.allowed, choice, rule)
    values = policy.values(seen.features)
    saved = values[:, seen.index(choice)] - values[:, seen.index(rule)]
    mean, half = float(saved.mean()), HALF_WIDTH * float(saved.std())
    return Interval(mean, mean - half, mean + half)


def override_note(problem: Problem, policy: Policy, saved: Interval | None, rule: int, choice: int) -> Note:
    """What SAC did with the belief rule's choice, or the policy that the user named instead; `saved`: see `departure`."""
    if saved is None:
        return Note("JPO-I635", f"policy {policy.name}, as [agent] asks: {'as' if choice == rule else 'departs from'} the rule")
    if choice == rule:
        return Note("JPO-I630", "SAC: as the rule")
    gain = f"expected to save {saved.mean:.2f} runs" if saved.mean >= NEARLY_NOTHING else "expected to be as good"
    return Note("JPO-I631", f"SAC departs from the rule: {gain}, {_because(problem, rule, choice)}")


def _because(problem: Problem, rule: int, choice: int) -> str:
    earlier = problem.context.earlier
    if earlier is None:
        return "by what it learnt on simulated jobs"
    p_fails, shift = earlier.p_fails, earlier.acquisition.mean - problem.acquisition.mean
    excess = p_fails - problem.belief.p_fail
    after = f"after what {numbers.counted(earlier.jobs, 'other job')} here showed"
    if excess[rule] - excess[choice] > MORE_FAILURES:
        often, simulated = (numbers.percent_in_words(float(chance[rule])) for chance in (p_fails, problem.belief.p_fail))
        return f"because, {after}, its choice of {_moves(problem, rule)} fails with a chance of {often}, not {simulated}"
    if shift[rule] - shift[choice] > SLOWER and shift[rule] > 0:
        return f"because, {after}, its choice of {_moves(problem, rule)} does {_share(shift[rule])} worse than on simulated jobs"
    if shift[rule] - shift[choice] > SLOWER:
        return f"because, {after}, {_moves(problem, choice)} do {_share(shift[choice])} better than on simulated jobs"
    return "by what it learnt on simulated jobs"


def _share(log: float) -> str:
    return numbers.percent_in_words(float(abs(np.expm1(log))))


def _moves(problem: Problem, row: int) -> str:
    """What a row differs in from the incumbent: "larger batches and more GPUs"."""
    values, words_of = problem.candidates.values, problem.candidates.words
    there, now = values[row], values[problem.acquisition.incumbent]
    if (there == now).all():
        there, now = now, values[problem.candidates.current]
    words = [
        f"another {name}" if name in words_of else MORE_AND_LESS.get(name, (f"higher {name}", f"lower {name}"))[int(a < b)]
        for name, a, b in zip(problem.candidates.names, there, now, strict=True)
        if a != b
    ]
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else "".join(words) or "today's values"
