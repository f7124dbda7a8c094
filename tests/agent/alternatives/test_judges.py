"""What the alternatives make of critics that are set by hand: member m says m + 1 times the first feature of a candidate."""

import numpy as np
import pytest

from jpo.agent.acquisition import WORTH
from jpo.agent.alternatives import judges
from jpo.agent.decide import decide
from jpo.agent.policy import SCORE, SHAPES, Policy, surely_saved
from jpo.agent.state import OWN, WIDTH
from jpo.records import Note, Preference
from tests.asked import a_problem

LARGER = OWN.index("log2 batch size against incumbent")


def policy(members=3):
    return Policy(tuple(linear(slope + 1) for slope in range(members)), (), {})


def linear(slope):
    weights = {name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}
    weights["critics.w0"][:, 0, 0] = slope
    weights["critics.w1"][:, 0, 0] = weights["critics.w2"][:, 0, 0] = 1
    return weights


def features(first, **shared):
    rows = np.zeros((len(first), WIDTH), np.float32)
    rows[:, 0] = first
    rows[:, SCORE] = range(len(first))  # the rule chooses the first
    for name, value in shared.items():
        rows[:, getattr(judges, name)] = value
    return rows


ALL = np.ones(2, bool)


def test_reinforce_knows_no_doubt():
    assert judges.on_average(policy(), features([1, 3]), ALL) == pytest.approx([0, 4])  # (2 + 4 + 6) / 3


@pytest.mark.parametrize(("time", "cost", "saved"), [(1.0, 0.0, 2), (0.1, 0.9, 4), (0.6, 0.4, 6)])
def test_the_member_of_the_nearest_preference_decides_alone(time, cost, saved):
    judged = judges.per_objective(policy(), features([1, 3], TIME=time, COST=cost), ALL)
    assert judged[1] == pytest.approx(saved - WORTH)


@pytest.mark.parametrize(("known", "slack", "choice"), [(1, -0.2, 0), (1, 0.2, 1), (0, 0.0, 1)])
def test_while_an_sla_is_broken_the_rule_decides(known, slack, choice):
    by_sla = Policy(policy(1).members, (), {}, name="by-sla", judge=judges.by_sla)
    assert by_sla.pick(features([1, 3], SLACK=slack, SLACK_KNOWN=known), ALL, None) == choice


def test_dropout_doubts_what_rests_on_few_units_and_says_the_same_twice():
    sure, unsure = np.array(features([1, 1.2])), np.array(features([1, 3]))
    judged = [judges.by_dropout(policy(1), rows, ALL)[1] for rows in (unsure, unsure)]
    assert judged[0] == judged[1]
    assert judged[0] < surely_saved(policy(1), unsure, ALL)[1]
    assert judges.by_dropout(policy(1), sure, ALL)[1] < judged[0]


def test_an_alternative_decides_where_it_was_not_released_and_sac_does_not():
    assert Policy((), (), {}, name="by-sla").decides("safe", "horizon")
    assert not Policy((), ("safe",), {}).decides("safe", "horizon")


def test_who_decided_is_the_name_that_the_user_wrote(grid, belief):
    """64 and 128 untried, both expected to take half; critics that like a larger batch take the other than the rule."""
    half = np.log(0.5)
    problem = a_problem(grid(), belief([[0, half, half]]), Preference(1, 0, 0), explore="on")
    critics = linear(5)
    critics["critics.w0"][:, [0, LARGER], 0] = 0, 5
    decision = decide(problem, Policy((critics,), (), {}, name="reinforce", judge=judges.on_average), 3)
    assert (decision.choice, decision.decided_by) == (2, "reinforce")
    assert Note("JPO-I635", "policy reinforce, as [agent] asks: departs from the rule") in decision.reasons
