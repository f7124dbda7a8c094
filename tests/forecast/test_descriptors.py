import pytest

from jpo.forecast.descriptors import described, family, operations_per_sample, table
from jpo.records import Identity

RESNET = Identity("cifar10", "ResNet-18", "pytorch")


def test_every_row_of_the_table_has_a_source_and_usable_numbers():
    for (kind, name), row in table().items():
        assert row["source"], (kind, name)
        numbers = [row[column] for column in ("multiply_adds_billions", "samples", "size", "peak_tflops")]
        assert all(float(number) > 0 for number in numbers if number), (kind, name)


@pytest.mark.parametrize(
    ("name", "row_name"), [("ResNet-18", "resnet18"), ("resnet50_v2", "resnet50"), ("bert-base-uncased", "bertbase")]
)
def test_names_are_read_however_they_are_written(name, row_name):
    row = described("model", name)
    assert row is not None
    assert row["name"] == row_name


@pytest.mark.parametrize("name", ["resnet1812", "gpt2-xl", "gpt2_large", "bert-tiny"])
def test_another_number_or_size_is_another_model(name):
    assert described("model", name) is None


def test_a_family_ends_at_its_first_digit():
    assert family("resnet18") == family("ResNet-50") == "resnet"


def test_small_pictures_leave_out_the_stem():
    assert operations_per_sample(RESNET) == pytest.approx(6e9 * 1.814 * (32 / 224) ** 2 * 16)
