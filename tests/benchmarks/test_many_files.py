"""The benchmark of many workloads: that it runs, and that what one call answers is what a call for each answers."""

import many_files
import pytest


def test_many_are_answered_as_each_alone_by_several_processes(tmp_path_factory: pytest.TempPathFactory) -> None:
    figures = many_files.measured(tmp_path_factory.mktemp("many"), workloads=30, alone=3)
    assert figures["alike"], "30 are two parts, each for a process of its own where there are two cores"
    assert figures["ratio"] == figures["cpu_seconds_of_many"] / figures["cpu_seconds_alone"]
    assert "Many workloads at once" in many_files.in_words(figures)
