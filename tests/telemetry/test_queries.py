"""The text of the queries."""

from __future__ import annotations

import re

import pytest

from jpo.records import Identity
from jpo.telemetry import queries

DIGITS = Identity("digits", "cnn", "pytorch")


def test_label_values_are_escaped():
    chosen = queries.selector(Identity('a"b', "c\\d", "e\nf"))
    assert chosen == r'{dataset="a\"b",model="c\\d",framework="e\nf"}'


def test_run_ids_are_literal_text_in_the_pattern():
    assert queries.selector(DIGITS, ["a.b", "c|d"]).endswith(r',run_id=~"a\\.b|c\\|d"}')


def test_too_many_runs_are_not_named():
    assert queries.selector(DIGITS, [str(i) for i in range(201)]) == queries.selector(DIGITS)


@pytest.mark.parametrize(("begin", "until", "text"), [(0.0, 90.0, "[89999ms]"), (5.0, 5.0, "[1ms]"), (9.0, 5.0, "[1ms]")])
def test_a_window_leaves_out_its_left_edge_and_is_never_empty(begin, until, text):
    assert queries.window(begin, until) == text


def test_no_query_runs_over_the_window_step_by_step():
    asked = [queries.discovery("{}", "[9ms]"), queries.configuration("{}", "[9ms]"), queries.endings("{}", "[9ms]")]
    asked += [queries.quantity(field, "{}", "[9ms]") for field in queries.QUANTITIES]
    for query in asked:
        assert not re.search(r"\brate\(|\[[^\]]*:", query)
        assert "by (run_id" in query
