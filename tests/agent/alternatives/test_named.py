import pytest

from jpo.agent.alternatives.named import OF_FILES, OF_SAC, as_shipped, policy_named
from jpo.agent.policy import Policy
from jpo.records import POLICIES

SAC = Policy((), (), {})


@pytest.mark.parametrize("name", POLICIES)
def test_every_name_is_a_policy_but_that_of_the_rule(name):
    policy = policy_named(name, SAC)
    assert (policy and policy.name) == (None if name == "belief" else name)


@pytest.mark.parametrize("name", ["sac", *OF_SAC])
def test_without_sac_the_rule_decides_for_what_is_made_of_it(name):
    assert policy_named(name, None) is None


@pytest.mark.parametrize("name", OF_FILES)
def test_the_shipped_files_fit_this_version_and_were_put_in_charge_by_nobody(name):
    policy = as_shipped(name)
    assert policy is not None
    assert policy.released == ()
    assert policy.card["command"].startswith(f"jpo learn --pretrain {name}.safetensors --policy {name}")
