"""What is asked goes out in the site's names and comes back in JPO's."""

from __future__ import annotations

from jpo.telemetry.prometheus.names import Names


def test_rows_carry_jpos_labels_next_to_the_servers(scope_on):
    scope = scope_on({"x": [({"pod": "exporter", "exported_pod": "trainer", "job": "a"}, 1.0)]})
    (row,) = scope.ask("x{}")
    assert (row.labels["pod"], row.labels["exported_pod"], row.labels["job"]) == ("trainer", "trainer", "a")


def test_rows_that_no_query_asked_for_are_dropped(scope_on):
    scope = scope_on({"a": [({}, 1.0)], "b": [({}, 2.0)]})
    scope.client.query = lambda promql, at, query=scope.client.query: [
        *query(promql, at),
        *query('label_replace(z,"quantity","b","","")', at),
    ]
    assert [(key, row.value) for key, row in scope.ask_all({"a": "x{}"})] == [("a", 1.0)]


def test_samples_are_asked_in_the_sites_names_over_the_window(scope_on):
    scope = scope_on(names=Names.of({"jpo_samples_total": "seen"}, {"run_id": "run"}))
    scope.samples("jpo_samples_total", ["r1"])
    assert scope.client.asked == ['seen{dataset="digits",model="cnn",framework="pytorch",run=~"r1"}[9999999ms]']
