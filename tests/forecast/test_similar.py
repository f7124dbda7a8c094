import pytest
from made import a_run

from jpo.forecast.similar import from_similar, similarity
from jpo.records import Identity, Outcome

RESNET = Identity("cifar10", "ResNet-18", "pytorch")
VALUES = {"batch_size": 128.0, "epochs": 100.0, "gpus": 1.0}


def run_of(identity, seconds, **parameters):
    return a_run(identity=identity, parameters={**VALUES, **parameters}, outcome=Outcome(duration_seconds=seconds))


def test_names_in_other_scripts_are_not_one_name():
    assert similarity(Identity("猫", "模型", "f"), Identity("狗", "网络", "f")) == 0
    assert similarity(Identity("猫", "模型", "f"), Identity("狗", "模型", "f")) > 0


def test_a_similar_workload_is_scaled_by_epochs_and_devices():
    other = Identity("cifar100", "resnet18", "pytorch")
    guess = from_similar(RESNET, {**VALUES, "epochs": 200.0}, [run_of(other, 1000.0)])
    assert guess is not None
    assert guess.seconds.mean == pytest.approx(2000)
    assert str(other) in guess.words
    faster = from_similar(RESNET, {**VALUES, "gpus": 2.0}, [run_of(other, 1000.0)])
    assert faster is not None
    assert faster.seconds.mean == pytest.approx(1000 / 2**0.8)


def test_the_same_model_counts_before_its_family():
    same_model, same_family = Identity("cifar100", "resnet18", "pytorch"), Identity("cifar100", "resnet50", "pytorch")
    assert similarity(RESNET, same_model) > similarity(RESNET, same_family) > 0
    guess = from_similar(RESNET, VALUES, [run_of(same_family, 5.0), run_of(same_model, 1000.0)])
    assert guess is not None
    assert guess.seconds.mean == pytest.approx(1000)


def test_what_cannot_be_converted_says_nothing():
    stranger = Identity("cifar10", "homemade", "pytorch")  # as much data, but of unknown work per sample
    assert from_similar(RESNET, VALUES, [run_of(stranger, 1000.0)]) is None
    assert from_similar(RESNET, VALUES, [run_of(Identity("cifar100", "resnet18", "jax"), 1000.0, gpus=0.0)]) is None
    assert from_similar(RESNET, VALUES, []) is None


def test_several_workloads_that_agree_narrow_the_interval():
    others = [run_of(Identity(name, "resnet18", "pytorch"), 1000.0) for name in ("cifar100", "svhn", "mnist")]
    wide, narrow = from_similar(RESNET, VALUES, others[:1]), from_similar(RESNET, VALUES, [others[0], *others])
    assert wide is not None
    assert narrow is not None
    assert "3 more" not in narrow.words
