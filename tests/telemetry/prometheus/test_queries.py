"""The text of the queries."""

from __future__ import annotations

import re

import pytest

from jpo.records import Identity, Quality
from jpo.telemetry.outcome import Own
from jpo.telemetry.prometheus import cluster, queries
from jpo.telemetry.prometheus.names import METRICS, Names

DIGITS = Identity("digits", "cnn", "pytorch")


def test_label_values_are_escaped():
    chosen = queries.selector(Identity('a"b', "c\\d", "e\nf"))
    assert chosen == r'{dataset="a\"b",model="c\\d",framework="e\nf"}'


def test_run_ids_are_literal_text_in_the_pattern():
    assert queries.selector(DIGITS, ["a.b", "c|d"]).endswith(r',run_id=~"a\\.b|c\\|d"}')


def test_too_many_runs_are_not_named():
    assert queries.selector(DIGITS, [f"run-{i}" for i in range(40)]) == queries.selector(DIGITS)


def test_pushgateways_own_series_may_lack_the_identity():
    chosen = queries.selector(Identity("a.b", "c", "d"), loose=True)
    assert chosen == r'{dataset=~"a\\.b|",model=~"c|",framework=~"d|",run_id!=""}'


def test_a_union_marks_its_rows_and_is_cut_where_servers_would_refuse_it():
    first, second = queries.unions({"a": "x" * 3000, "b": "y" * 2000, "c": "z" * 3000})
    assert first.endswith("or label_replace(" + "y" * 2000 + ',"quantity","b","","")')
    assert second.startswith("label_replace(z")


def test_renamed_metrics_and_labels_are_asked():
    names = Names.of({"jpo_samples_total": "my_samples"}, {"run_id": "run"})
    asked = queries.quantities(names, "{}", "[9ms]")
    assert asked["samples"].startswith("max by (run) (((max_over_time(my_samples{}[9ms])")


@pytest.mark.parametrize(("begin", "until", "text"), [(0.0, 90.0, "[89999ms]"), (5.0, 5.0, "[1ms]"), (9.0, 5.0, "[1ms]")])
def test_a_window_leaves_out_its_left_edge_and_is_never_empty(begin, until, text):
    assert queries.window(begin, until) == text


def test_no_query_runs_over_the_window_step_by_step():
    names = Names()
    discovery = queries.discovery(names, "{}", "{}", "[9ms]", mark_seconds=9)
    asked = {**discovery, **queries.descriptions(names, "{}", "[9ms]"), **queries.quantities(names, "{}", "[9ms]")}
    for query in asked.values():
        assert not re.search(r"\brate\(|\[[^\]]*:", query)
        assert "by (run_id" in query


def test_only_what_is_called_a_total_is_asked_for_its_increase():
    """Thanos, and Prometheus 2.48 to 2.53, warn of any other name, as if the answer were partial."""
    roles = [role for role, how in cluster_roles() if "increase(" in how]
    assert roles
    assert [name for role in roles for name in METRICS[role] if not name.endswith("_total")] == []


def cluster_roles():
    yield from queries.QUANTITIES.values()
    yield from ((role, how) for role, _, how in cluster.OF_CONTAINERS.values())
    yield from ((role, how) for roles, _, _, how, _ in cluster.OF_GPUS.values() for role in roles)


def test_hardware_is_asked_for_only_where_it_is_said():
    assert "hardware" not in queries.selector(DIGITS)
    assert queries.selector(Identity("d", "m", "f", "a100")) == '{dataset="d",model="m",framework="f",hardware="a100"}'


def test_a_metric_of_the_users_own_is_asked_for_by_its_name_and_only_where_there_is_one():
    f1 = Quality("f1", more_is_better=True, best=1.0)
    assert queries.OWN not in queries.quantities(Names(), '{a="b"}', "[1m]")
    asked = queries.quantities(Names.of({}, {}, own=Own(metrics={"f1": f1})), '{a="b"}', "[1m]")
    assert 'last_over_time(jpo_metric{a="b",metric="f1"}[1m])' in asked[queries.OWN]
    renamed = queries.quantities(Names.of({"jpo_metric": "eval_f1"}, {}, own=Own(metrics={"f1": f1})), '{a="b"}', "[1m]")
    assert 'last_over_time(eval_f1{a="b"}[1m])' in renamed[queries.OWN]
    assert len(queries.unions(asked)) == len(queries.unions(queries.quantities(Names(), '{a="b"}', "[1m]")))
