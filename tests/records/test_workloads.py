from __future__ import annotations

import math

import pytest

from jpo.records import Identity, Parameter, as_given


def test_identity_refuses_an_empty_part() -> None:
    with pytest.raises(ValueError, match="model is empty"):
        Identity("digits", " ", "pytorch")


def test_parameter_refuses_values_that_are_not_finite() -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        Parameter("epochs", "a.epochs", math.inf, "inf", 1)


def test_siblings_are_the_same_job_on_other_hardware() -> None:
    here, there, anywhere = (Identity("d", "m", "f", hardware) for hardware in ("t4", "a100", None))
    assert here.is_sibling_of(there)
    assert anywhere.is_sibling_of(here)
    assert not here.is_sibling_of(here)
    assert not here.is_sibling_of(Identity("d", "other", "f", "a100"))
    assert [anywhere.includes(there), here.includes(here), here.includes(there), here.includes(anywhere)] == [
        True,
        True,
        False,
        False,
    ]
    assert (str(here), str(anywhere)) == ("d/m/f on t4", "d/m/f")
    assert anywhere.labels == {"dataset": "d", "model": "m", "framework": "f"}
    assert here.labels == {**anywhere.labels, "hardware": "t4"}
    with pytest.raises(ValueError, match="hardware is empty"):
        Identity("d", "m", "f", " ")


def test_what_a_job_rounds_is_what_it_was_given() -> None:
    assert as_given("memory_gib", 40.0, 39.9)
    assert as_given("memory_gib", 34e9 / 2**30, 32.0)
    assert not as_given("memory_gib", 34e9 / 2**30, 34.0)  # gigabytes taken for GiB
    assert not as_given("memory_gib", 1.6, 2.0)
    assert not as_given("batch_size", 256.0, 255.0)
    assert not as_given("cpus", 1.5, 2.0)
