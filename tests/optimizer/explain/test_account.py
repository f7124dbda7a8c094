"""What goes on record with a suggestion: computed from the surrogate that decided."""

from __future__ import annotations

import math
from dataclasses import replace

from jpo.optimizer.advise import Advice
from jpo.optimizer.explain.account import Account, account_of
from tests.optimizer.explain.decided import LIMITS, NOW, SEEN, account, advised, known, request


def test_before_the_first_run_that_ended_well_there_is_nothing_to_tell() -> None:
    advice = advised(request(), [])
    assert account_of(advice, request(), known([]), LIMITS) == Account()
    assert account_of(replace(advice, surrogate=None), request(), known([]), LIMITS) == Account()


def test_a_choice_of_the_agent_is_not_asked_again_without_it(decided: tuple[Advice, Account]) -> None:
    by_agent = replace(decided[0].decision, decided_by="sac")
    explained = account_of(replace(decided[0], decision=by_agent), request(), known(SEEN), LIMITS)
    assert not any(one.startswith("with ") for one in explained.would_change)
    assert explained.alternatives == decided[1].alternatives or any(
        "the agent ranks it lower" in one.why_not for one in explained.alternatives
    )


def test_what_the_agent_saw_is_finite_and_about_its_choice(decided: tuple[Advice, Account]) -> None:
    advice, explained = decided
    assert all(math.isfinite(value) for value in explained.seen.values())
    there = sum(run.parameters == advice.suggested for run in SEEN)
    assert (explained.seen["runs there that ended well"], explained.seen["finished runs"]) == (there, len(SEEN))


def test_nothing_that_may_change_means_no_alternatives() -> None:
    explained = account(free=[])
    assert all(one.parameters["cpus"] == NOW["cpus"] for one in explained.alternatives)
    assert not any(one.startswith("with ") for one in explained.would_change)
