import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.policy import load_policy  # noqa: E402
from jpo.errors import StoreError, UsageError  # noqa: E402
from jpo.learning import pretraining  # noqa: E402
from jpo.learning.pretraining import SEEDS, pretrain  # noqa: E402
from jpo.learning.release import released_for  # noqa: E402


class Killed(Exception):
    """Stands for kill -9."""


@pytest.fixture
def tiny(monkeypatch):
    """Two stages of one job each."""
    monkeypatch.setattr(pretraining, "STAGES", 2)
    monkeypatch.setattr(pretraining, "UPDATES_PER_JOB", 1)
    monkeypatch.setattr(pretraining, "REPLAY_TRANSITIONS", 64)


def interrupted(after):
    """A `save` that keeps what it is given, and gives up after so many stages."""
    kept = []

    def save(part):
        kept.append(part)
        if len(kept) == after:
            raise Killed

    return kept, save


@pytest.mark.usefixtures("tiny")
def test_an_interrupted_training_ends_in_the_same_file():
    through = pretrain(jobs=2, seed=4, test_jobs=0)[0]
    for after in (1, 2, 5):
        kept, save = interrupted(after)
        with pytest.raises(Killed):
            pretrain(jobs=2, seed=4, test_jobs=0, save=save)
        assert pretrain(jobs=2, seed=4, test_jobs=0, part=kept[-1])[0] == through


@pytest.mark.usefixtures("tiny")
def test_pretraining_gives_members_of_different_seeds_and_says_where_they_passed():
    data, results = pretrain(jobs=2, seed=1, test_jobs=18)
    policy = load_policy(data)
    assert policy.card["command"] == "jpo learn --pretrain policy.safetensors --jobs 2 --seed 1"
    assert policy.released == tuple(released_for(results))
    assert len({one["actor.w1"].tobytes() for one in policy.members}) == SEEDS
    assert len(data) < 400_000


@pytest.mark.usefixtures("tiny")
def test_a_policy_that_was_not_tested_is_released_nowhere():
    assert load_policy(pretrain(jobs=2, seed=1, test_jobs=0)[0]).released == ()


@pytest.mark.usefixtures("tiny")
def test_what_another_training_left_is_refused():
    kept, save = interrupted(1)
    with pytest.raises(Killed):
        pretrain(jobs=2, seed=4, test_jobs=0, save=save)
    with pytest.raises(UsageError, match="was begun with jobs 2, seed 4"):
        pretrain(jobs=2, seed=5, test_jobs=0, part=kept[-1])
    with pytest.raises(StoreError, match="damaged"):
        pretrain(jobs=2, seed=4, test_jobs=0, part=kept[-1][:-1])
