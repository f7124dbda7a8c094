import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.policy import load_policy  # noqa: E402
from jpo.agent.sac.learn import MEMBERS  # noqa: E402
from jpo.agent.sealed import header_of  # noqa: E402
from jpo.errors import StoreError, UsageError  # noqa: E402
from jpo.learning import forks, pretraining  # noqa: E402
from jpo.learning.pretraining import pretrain  # noqa: E402
from jpo.learning.release import SITUATIONS  # noqa: E402


class Killed(Exception):
    """Stands for kill -9."""


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """Four stages of one job each, and one fork in each job, of two runs."""
    monkeypatch.setattr(pretraining, "STAGES", 4)
    monkeypatch.setattr(pretraining, "UPDATES_PER_TEN_JOBS", 10)
    monkeypatch.setattr(pretraining, "TRANSITIONS", 64)
    monkeypatch.setattr(pretraining, "FORKS", 8)
    monkeypatch.setattr(forks, "FORKS_PER_JOB", 1)
    monkeypatch.setattr(forks, "AHEAD", 1)
    monkeypatch.setattr(forks, "MOST_JOBS", 3)
    monkeypatch.setattr("jpo.learning.release.MOST_JOBS", 3)
    monkeypatch.setattr("jpo.learning.scenarios.RUNS", 4)


def trained(**options):
    return pretrain(**{"jobs": 4, "seed": 4, "test_jobs": 0, **options})[0]


def interrupted(after):
    """A `save` that keeps what it is given, and gives up after so many stages."""
    kept = []

    def save(part):
        kept.append(part)
        if len(kept) == after:
            raise Killed

    return kept, save


@pytest.fixture(scope="module")
def part_after():
    """What was saved when the training was interrupted after some stages."""
    parts = {}

    def of(stages):
        if stages not in parts:
            kept, save = interrupted(stages)
            with pytest.raises(Killed):
                trained(save=save)
            parts[stages] = kept[-1]
        return parts[stages]

    return of


def test_the_same_arguments_give_the_same_file_and_other_seeds_another():
    assert trained() == trained() != trained(seed=5)


@pytest.mark.parametrize("stages", [1, 3, 4])
def test_an_interrupted_training_ends_in_the_same_file(part_after, stages):
    """Interrupted while the belief rule plays, while the policy does, and before the result was written."""
    assert trained(part=part_after(stages)) == trained()


def test_the_card_says_how_it_was_made_and_how_the_test_ended():
    data, test = pretrain(jobs=4, seed=4, test_jobs=14)
    policy = load_policy(data)
    assert policy.card["command"] == "jpo learn --pretrain policy.safetensors --jobs 4 --seed 4"
    assert policy.card["updates"] == 4
    assert policy.card["release_test"]["pooled"]["jobs"] == test.pooled.jobs == 14
    assert set(policy.card["release_test"]) <= {"pooled", *SITUATIONS}
    assert policy.released == test.released
    assert len({one["critics.w1"].tobytes() for one in policy.members}) == MEMBERS
    assert len(data) < 400_000


def test_a_policy_that_was_not_tested_is_released_nowhere():
    policy = load_policy(trained())
    assert policy.released == ()
    assert policy.card["release_test"] == {}


def test_fewer_jobs_than_stages_are_enough():
    assert load_policy(trained(jobs=1)).card["updates"] == 1


def test_what_another_training_left_is_refused(part_after):
    part = part_after(1)
    assert header_of(part)["plan"] == {"jobs": 4, "seed": 4}
    with pytest.raises(UsageError, match="was begun with jobs 4, seed 4"):
        trained(seed=5, part=part)
    with pytest.raises(StoreError, match="damaged"):
        trained(part=part[:-1])


def test_what_another_version_left_is_refused(part_after, monkeypatch):
    part = part_after(1)
    monkeypatch.setattr(pretraining, "FORMAT", "jpo training 99")
    with pytest.raises(StoreError) as caught:
        trained(part=part)
    assert caught.value.code == "JPO-E603"
