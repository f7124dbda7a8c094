"""Amounts as Kubernetes writes them, there and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jpo.plugins.launch.engines.kubernetes.quantities import GIB, amount, cpu_quantity, memory_quantity


@pytest.mark.parametrize(("cpus", "text"), [(2.0, "2"), (1.5, "1500m"), (0.1, "100m"), (1e-9, "1m"), (0.3, "300m"), (96.0, "96")])
def test_cpus(cpus: float, text: str) -> None:
    assert cpu_quantity(cpus) == text


@pytest.mark.parametrize(("gib", "text"), [(2.0, "2Gi"), (1.5, "1536Mi"), (0.0001, "1Mi"), (0.1, "103Mi"), (1024.0, "1024Gi")])
def test_memory(gib: float, text: str) -> None:
    assert memory_quantity(gib) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8.0),
        (8, 8.0),
        ("1500m", 1.5),
        ("64Gi", 64 * GIB),
        ("64G", 64e9),
        ("1e3", 1000.0),
        ("12E", 12e18),
        (".5", 0.5),
        ("1Ki", 1024.0),
    ],
)
def test_amounts_that_servers_write(text: object, value: float) -> None:
    assert amount(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "x", "1 Gi", "1e999", "Gi", None, True, "1_000", "١", "nan", [], {}])
def test_what_is_no_quantity(text: object) -> None:
    assert amount(text) is None


@given(st.floats(0.001, 4096))
def test_nobody_gets_less_than_was_asked_for(value: float) -> None:
    cpus, memory = amount(cpu_quantity(value)), amount(memory_quantity(value))
    assert cpus is not None
    assert memory is not None
    assert value - 1e-6 <= cpus <= value + 0.001 + 1e-6
    assert value - 1e-6 <= memory / GIB <= value + 1 / 1024 + 1e-6
