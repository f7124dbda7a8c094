"""Names that may be meant, and how they are shown."""

from __future__ import annotations

import pytest

from jpo.telemetry.diagnosis.similar_names import nearest, renamings, shown, span


def test_the_most_similar_comes_first_regardless_of_case():
    assert nearest("torch", ["tensorflow", "PyTorch", "jax", "Torch"]) == ["Torch", "PyTorch", "tensorflow"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("ml_container_memory_working_set_bytes", True),  # the same core
        ("k8s_container_mem_ws", True),  # the same thing in other words
        ("container_memory_rss", False),  # a standard exporter's metric of its own
        ("process_resident_memory_bytes", False),
    ],
)
def test_a_renamed_metric_has_the_same_core_or_names_the_same_thing(name, found):
    assert renamings("container_memory_working_set_bytes", [name]) == ([name] if found else [])


def test_values_are_shown_short_on_one_line():
    assert shown("a\nb") == "'a b'"
    assert shown("x" * 100) == f"'{'x' * 48}…'"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(90 * 86400.0, "90 days"), (36 * 3600.0, "36h"), (2 * 86400.0, "2 days"), (600.0, "10m"), (61.0, "61s"), (0.25, "0.25s")],
)
def test_a_length_of_time_is_in_the_largest_unit_of_which_there_are_two(seconds, text):
    assert span(seconds) == text
