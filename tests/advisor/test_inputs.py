from __future__ import annotations

import numpy as np
import pytest

from jpo.advisor.inputs import budget_of, identity_of, policy_of, preference_of, status_of, whole_number
from jpo.agent.policy import Policy
from jpo.errors import UsageError
from jpo.records import NAMED_PREFERENCES, Identity, Outcome, Preference, RunStatus


def test_a_preference_is_a_name_weights_or_a_record() -> None:
    assert preference_of("time") is NAMED_PREFERENCES["time"]
    assert preference_of({"time": 0.25, "loss": 0.75}) == Preference(0.25, 0.0, 0.0, 0.75)
    assert preference_of(Preference(0.2, 0.8)) == Preference(0.2, 0.8)
    with pytest.raises(UsageError, match="write time, cost, efficiency, balanced, or give weights"):
        preference_of("fast")
    with pytest.raises(UsageError, match="weighs speed"):
        preference_of({"speed": 1})


def test_a_policy_is_itself_or_known_by_its_name() -> None:
    policy = Policy((), (), {})
    assert policy_of(policy) is policy
    assert policy_of(None) is policy_of("belief") is None
    named = [found and found.name for found in map(policy_of, ("shipped", "sac", "steering", "by-sla"))]
    assert named == ["sac", "sac", "steering", "by-sla"]
    with pytest.raises(UsageError, match="policy: 'best' is unknown; write sac, belief, steering"):
        policy_of("best")


def test_three_parts_of_a_name_are_data_set_model_and_framework() -> None:
    assert identity_of("d/m/f") == Identity("d", "m", "f")
    assert identity_of("nightly") == Identity("nightly", "nightly", "nightly")
    assert identity_of("d//f") == Identity("d//f", "d//f", "d//f")
    assert identity_of(None) == identity_of("this workload")


def test_a_seed_is_a_whole_number_of_any_kind() -> None:
    assert (whole_number("seed", 3), whole_number("seed", np.int64(4))) == (3, 4)
    for given in (1.5, -1, "3", None):
        with pytest.raises(UsageError) as caught:
            whole_number("seed", given)
        assert caught.value.code == "JPO-E720"


def test_a_budget_is_a_number_of_runs() -> None:
    assert (budget_of(0), budget_of(np.float64(1.5))) == (0.0, 1.5)
    for given in (-1, "1", None, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="at least 0"):
            budget_of(given)
    with pytest.raises(UsageError, match=r"horizon_runs.*at least 1"):
        whole_number("horizon_runs", 0, at_least=1)


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (Outcome(duration_seconds=9.0), RunStatus.SUCCEEDED),
        (Outcome(duration_seconds=9.0, converged=False), RunStatus.FAILED),
        (Outcome(duration_seconds=9.0, converged=False, stopped=True), RunStatus.STOPPED),
    ],
)
def test_an_outcome_says_how_the_run_ended(outcome: Outcome, status: RunStatus) -> None:
    assert status_of(outcome) is status


def test_a_mapping_names_the_parts_and_the_hardware_where_it_is_known() -> None:
    job = {"dataset": "d", "model": "m", "framework": "f"}
    assert identity_of(job) == identity_of({**job, "hardware": None}) == Identity("d", "m", "f")
    assert identity_of({**job, "hardware": "a100"}) == Identity("d", "m", "f", "a100")
    for wrong in ({"dataset": "d"}, {**job, "gpu": "a100"}, {**job, "hardware": " "}, {**job, "model": 3}):
        with pytest.raises(UsageError) as caught:
            identity_of(wrong)
        assert caught.value.code == "JPO-E720"
