from __future__ import annotations

import numpy as np
import pytest

from jpo.plugins.phases.files.executions import executions
from jpo.plugins.phases.files.quantities import Meaning
from jpo.plugins.phases.files.series import ExportedSeries, named
from jpo.plugins.phases.traces import CPU


def names(*titles: str, is_in_legend: bool = False) -> list[str | None]:
    series = [ExportedSeries("f.csv", "f.csv", title, *named(title), np.zeros(0), np.zeros(0)) for title in titles]
    return executions(series, [Meaning(CPU, is_in_legend=is_in_legend)] * len(titles))


def test_a_pod_is_an_execution_and_so_is_each_of_its_containers_where_it_has_several() -> None:
    titles = ('m{pod="a",container="t"}', 'm{pod="b",container="t"}', 'm{pod="b",container="u"}')
    assert names(*titles) == ["a", "b/t", "b/u"]


def test_pods_as_a_whole_their_pause_and_the_machine_are_none() -> None:
    titles = ('m{pod="a",container="t"}', 'm{pod="a",container="POD"}', 'm{pod="a",container=""}', 'm{pod="a"}', 'm{id="/"}')
    assert names(*titles) == ["a", None, None, None, None]
    assert names('m{pod="a"}', 'm{pod="b"}') == ["a", "b"]


@pytest.mark.parametrize(
    ("title", "execution"),
    [
        ('m{name="job-1",image="x",id="/docker/1"}', "job-1"),
        ('m{job="kubelet",run_id="7"}', "7"),
        ('m{job="trainer",instance="host:1"}', "trainer"),
        ('m{team="x",stage="y",node="n"}', "x,y"),
        ('m{cpu="total"}', ""),
    ],
)
def test_without_pods_other_labels_say_it(title: str, execution: str) -> None:
    assert names(title) == [execution]


@pytest.mark.parametrize(
    ("legend", "execution"),
    [
        ("CPU trainer-1", "trainer-1"),
        ("trainer-1 - memory (GiB)", "trainer-1"),
        ("cpu_usage", ""),
        ("run_7_cpu", "run_7"),
        ("CPU Usage", ""),
    ],
)
def test_a_legend_says_it_beside_what_is_measured(legend: str, execution: str) -> None:
    assert names(legend, is_in_legend=True) == [execution]


def test_a_legend_is_a_name_where_the_file_says_what_is_measured() -> None:
    assert names("cpu-worker-3", "Value") == ["cpu-worker-3", ""]


def test_a_label_can_be_named() -> None:
    titles = ('m{pod="a",run="7"}', 'm{pod="b",run="8"}', 'm{pod="c"}')
    series = [ExportedSeries("f.csv", "f.csv", title, *named(title), np.zeros(0), np.zeros(0)) for title in titles]
    assert executions(series, [Meaning(CPU)] * 3, "run") == ["7", "8", None]
    assert executions(series, [Meaning(CPU)] * 3, "team") == ["a", "b", "c"]


def test_pods_of_the_same_name_are_told_apart_by_their_namespaces() -> None:
    assert names('m{pod="a",namespace="x"}', 'm{pod="a",namespace="y"}', 'm{pod="b",namespace="y"}') == ["x/a", "y/a", "b"]


def test_all_files_together_say_how_fine_executions_are() -> None:
    def of(file: str, *titles: str) -> list[ExportedSeries]:
        return [ExportedSeries(file, file, title, *named(title), np.zeros(0), np.zeros(0)) for title in titles]

    both = of("cpu", 'm{pod="a",container="t"}', 'm{pod="a",container="u"}')
    filtered, whole = of("memory", 'm{pod="a",container="t"}'), of("memory", 'm{pod="a",namespace="x"}')
    assert executions([*both, *filtered], [Meaning(CPU)] * 3) == ["a/t", "a/u", "a/t"]
    assert executions([*both, *whole], [Meaning(CPU)] * 3) == ["a", "a", "a"]
