from __future__ import annotations

import numpy as np
import pytest

from jpo.plugins.phases.files.series import ExportedSeries, labels_of, named


def test_a_series_has_no_unit_unless_its_cells_have() -> None:
    assert ExportedSeries("f.csv", "f.csv:1", "a", "a", {}, np.zeros(0), np.zeros(0)).unit is None


@pytest.mark.parametrize(
    ("title", "name", "labels"),
    [
        ('up{pod="a", container="b,}"}', "up", {"pod": "a", "container": "b,}"}),
        ('{pod="a"}', "", {"pod": "a"}),
        ('{__name__="up", pod="a\\"b"}', "up", {"__name__": "up", "pod": 'a"b'}),
        ("trainer-1", "trainer-1", {}),
        ('sum(rate(cpu_total{pod="a"}[5m]))', "sum(rate(cpu_total[5m]))", {"pod": "a"}),
        ('a(cpu{pod=~"a.*"}[5m])', 'a(cpu{pod=~"a.*"}[5m])', {}),
        ("a{b", "a{b", {}),
        ("{}", "", {}),
    ],
)
def test_metrics_have_labels_and_legends_do_not(title: str, name: str, labels: dict[str, str]) -> None:
    assert named(title) == (name, labels)


@pytest.mark.parametrize(
    "text", ['{"pod": "a", "job": "b"}', "pod=a,job=b", "pod=a;job=b", '{pod="a",job="b"}', '{ pod="a" , job="b", }']
)
def test_labels_are_read_as_exporters_write_them(text: str) -> None:
    assert labels_of(text) == {"pod": "a", "job": "b"}


@pytest.mark.parametrize("text", ["a b", "=", 'a="', "a=b=c" * 700])
def test_what_is_no_label_is_none(text: str) -> None:
    assert labels_of(text) is None


@pytest.mark.parametrize(
    "text", [" " * 500_000 + "x", '"' * 500_000, "a=" + '"' + "\\x" * 250_000, "a" * 500_000, "a=b," * 100_000 + "!"]
)
def test_long_texts_are_read_once(text: str) -> None:
    """Whatever begins anew at each character would take hours."""
    assert labels_of(text) is None
