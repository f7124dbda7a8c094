from __future__ import annotations

import math

import pytest

from jpo.records import Identity, Parameter


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
