import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.alternatives import steering  # noqa: E402
from jpo.agent.alternatives.judges import OBJECTIVES  # noqa: E402
from jpo.agent.policy import SHAPES, load_policy  # noqa: E402
from jpo.errors import UsageError  # noqa: E402
from jpo.learning import named_policies  # noqa: E402


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    for name, value in (("CAPACITY", 256), ("UPDATES_PER_JOB", 1), ("STEERED_BATCH", 8)):
        monkeypatch.setattr(named_policies, name, value)


@pytest.mark.parametrize(
    ("name", "members", "shapes"),
    [("steering", 1, steering.SHAPES), ("reinforce", 1, SHAPES), ("per-objective", len(OBJECTIVES), SHAPES)],
)
def test_the_same_arguments_give_the_same_small_file_which_is_released_nowhere(name, members, shapes):
    file = named_policies.pretrain(name, jobs=3, seed=5)
    policy = load_policy(file, shapes)
    assert file == named_policies.pretrain(name, jobs=3, seed=5)
    assert (len(policy.members), policy.released) == (members, ())
    assert policy.card["command"] == f"jpo learn --pretrain {name}.safetensors --policy {name} --jobs 3 --seed 5"
    assert len(file) < 250_000


def test_what_is_made_of_sac_has_no_weights_of_its_own():
    with pytest.raises(UsageError, match="mc-dropout has no weights of its own"):
        named_policies.pretrain("mc-dropout")
