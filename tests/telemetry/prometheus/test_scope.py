"""What is asked goes out in the site's names and comes back in JPO's."""

from __future__ import annotations

import pytest

from jpo.errors import TelemetryError
from jpo.telemetry.prometheus.answers import AnswerRow
from jpo.telemetry.prometheus.names import Names


def test_rows_carry_jpos_labels_next_to_the_servers(scope_on):
    scope = scope_on({"x": [({"pod": "exporter", "exported_pod": "trainer", "job": "a"}, 1.0)]})
    (row,) = scope.ask("x{}")
    assert (row.labels["pod"], row.labels["exported_pod"], row.labels["job"]) == ("trainer", "trainer", "a")


@pytest.mark.parametrize("labels", [{}, {"quantity": "b"}, {"quantity": ""}])
def test_rows_that_no_query_asked_for_are_no_answer(scope_on, labels):
    scope = scope_on()
    scope.client.query = lambda *_, **__: [AnswerRow(labels, ((1e4, 1.0),))]
    with pytest.raises(TelemetryError, match="not asked for") as caught:
        list(scope.ask_all({"a": "x{}"}))
    assert caught.value.code == "JPO-E104"


def test_samples_of_another_workload_are_no_answer(scope_on):
    scope = scope_on({"jpo_samples_total": [({"run_id": "r1", "dataset": "imagenet"}, [(1.0, 1.0)])]})
    with pytest.raises(TelemetryError, match="not asked for"):
        scope.samples("jpo_samples_total", ["r1"])


def test_samples_are_asked_in_the_sites_names_over_the_window(scope_on):
    scope = scope_on(names=Names.of({"jpo_samples_total": "seen"}, {"run_id": "run"}))
    scope.samples("jpo_samples_total", ["r1"])
    assert scope.client.asked == ['seen{dataset="digits",model="cnn",framework="pytorch",run=~"r1"}[9999999ms]']
