import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraints.names import IDENTITY, WELL_KNOWN, WHOLE, memory_unit_gib, parse_value
from jpo import records


def test_the_guard_and_jpo_speak_of_the_same_parameters():
    assert tuple(WELL_KNOWN) == (*records.PARAMETERS, *records.COUNTS)
    assert {*records.WHOLE, *records.COUNTS} == WHOLE
    assert set(IDENTITY) == {"dataset", "model", "framework"}


def test_no_option_name_means_two_things_and_all_are_lower_case():
    names = [name for table in (WELL_KNOWN, IDENTITY) for options in table.values() for name in options]
    assert len(names) == len(set(names))
    assert all(name == name.lower() for name in names)


def test_a_batch_size_per_device_is_not_the_batch_size():
    assert not any("per_device" in option for option in WELL_KNOWN["batch_size"])


@pytest.mark.parametrize(
    ("name", "option", "text", "value"),
    [
        ("batch_size", "bs", "64", 64.0),
        ("batch_size", "bs", "64.0", 64.0),
        ("epochs", "epochs", "1e3", 1000.0),
        ("learning_rate", "lr", "3e-4", 0.0003),
        ("learning_rate", "lr", ".01", 0.01),
        ("cpus", "cpus", "0.5", 0.5),
        ("memory_gib", "memory_gib", "16", 16.0),
        ("memory_gib", "memory_mib", "512", 0.5),
        ("memory_gib", "memory_gb", "1073.741824", 1000.0),
        ("memory_gib", "mem", "16Gi", 16.0),
        ("memory_gib", "mem", "16 GiB", 16.0),
        ("memory_gib", "mem", "512Mi", 0.5),
        ("memory_gib", "mem", "16G", 16e9 / 2**30),
        ("memory_gib", "mem", "16gb", 16e9 / 2**30),
        ("memory_gib", "memory_gb", "2Ti", 2048.0),
        ("memory_gib", "memory", "16", None),
    ],
)
def test_the_text_of_a_value_becomes_a_number(name, option, text, value):
    assert parse_value(name, option, text) == (value if value is None else pytest.approx(value, rel=1e-12))


@pytest.mark.parametrize(
    "text", ["", "auto", "6 4", "64k", "48.5", "nan", "inf", "1_000", "0x40", "٦٤", "64\n", "9" * 400, "9007199254740993"]
)
def test_what_is_no_whole_number_is_no_batch_size(text):
    with pytest.raises(ValueError, match=r"^batch_size = .+ is not a whole number; write e\.g\. batch_size = 32$"):
        parse_value("batch_size", "batch_size", text)


@pytest.mark.parametrize(("name", "text"), [("learning_rate", "1e999"), ("learning_rate", "fast"), ("memory_gib", "16 apples")])
def test_what_is_no_number_is_refused_with_an_example(name, text):
    with pytest.raises(ValueError, match=r"is not a .+; write e\.g\. "):
        parse_value(name, name, text)


def test_a_message_does_not_repeat_a_very_long_value():
    with pytest.raises(ValueError, match="<1000000 characters>") as caught:
        parse_value("batch_size", "batch_size", "x" * 1_000_000)
    assert len(str(caught.value)) < 200


def test_the_unit_of_a_memory_size_is_in_the_value_or_in_the_option():
    assert memory_unit_gib("memory_gb", "16Gi") == 1.0
    assert memory_unit_gib("memory-mib", "16") == 2**-10
    assert memory_unit_gib("memory", "16") is None


@given(st.sampled_from(sorted(WELL_KNOWN)), st.text(max_size=80))
def test_any_text_is_answered_by_a_finite_number_or_nothing_or_a_reason(name, text):
    try:
        value = parse_value(name, WELL_KNOWN[name][0], text)
    except ValueError:
        return
    assert value is None or math.isfinite(value)
