"""Runs that became visible after younger ones had been read: found by their ids, in real servers of both kinds."""

from __future__ import annotations

import pytest
from answering import Handler, refuses, sends, served

from jpo.http.endpoint import Endpoint
from jpo.records import Identity
from jpo.telemetry.prometheus.runs import Late, finished_runs

HOUR = 3600.0
DIGITS = Identity("digits", "cnn", "pytorch")
ALL = frozenset({"plain", "restarted", "diverged", "failed", "pair", "silent", "vanished", "gap", "killed"})
UNUSABLE = frozenset({"straddling", "text", "twice"})


@pytest.fixture
def reading(history):
    """Look at the digits runs six hours after the beginning, when all up to five hours were read."""

    def reading(settled, url=None):
        begin = history.since
        late = None if settled is None else Late(begin, frozenset(settled))
        source = Endpoint(url or history.url)
        return finished_runs(source, DIGITS, since=begin, until=begin + 6 * HOUR, watermark=begin + 5 * HOUR, late=late)

    return reading


@pytest.mark.parametrize("name", ["plain", "restarted", "silent", "gap"])
def test_a_run_that_came_late_is_read_as_if_it_had_come_in_time(reading, history, name):
    begin = history.since
    in_time = finished_runs(Endpoint(history.url), DIGITS, since=begin, until=begin + 6 * HOUR, watermark=None)
    found = reading((ALL | UNUSABLE) - {name})
    assert found.runs == tuple(run for run in in_time.runs if run.run_id == name)
    assert found.watermark == begin + 5 * HOUR


def test_one_request_more_where_nothing_came_late(reading):
    found = reading(ALL | UNUSABLE)
    assert (found.runs, found.skipped, found.passed_over, found.requests) == ((), (), {}, reading(None).requests + 1)


def test_what_cannot_be_used_is_passed_over_from_then_on(reading):
    found = reading(ALL)
    assert (found.runs, {skip.run_id for skip in found.skipped}) == ((), UNUSABLE)
    assert found.passed_over.keys() == UNUSABLE
    assert reading(ALL | found.passed_over.keys()).requests == reading(None).requests + 1


def test_many_at_once_are_read_in_one_go(reading):
    found = reading(())
    assert {run.run_id for run in found.runs} == ALL
    assert found.requests < 25


def test_runs_that_still_go_on_did_not_come_late(reading):
    found = reading(())
    assert not {"going", "slow", "again"} & found.passed_over.keys()


def forwards(url, refused, answer):
    """A proxy that lets everything through but what is `refused`."""
    import requests

    def reply(handler: Handler):
        if refused(handler.path):
            answer(handler)
        else:
            real = requests.get(url + handler.path, timeout=10)
            sends(real.content, real.status_code)(handler)

    return reply


def test_where_the_index_is_withheld_the_runs_are_asked(reading, history):
    with served(forwards(history.url, lambda path: "/label/" in path, sends(b"no", 403))) as server:
        found = reading((ALL | UNUSABLE) - {"plain"}, url=server.url)
    assert ([run.run_id for run in found.runs], found.unread) == (["plain"], None)


def test_trouble_with_the_late_ones_keeps_the_others(reading, history):
    with served(forwards(history.url, lambda path: "/label/" in path, refuses(422, "execution", "too many series"))) as server:
        found = reading(ALL, url=server.url)
    assert (found.complete, found.runs) == (True, ())
    assert "not asked for runs that came late: rejected the query" in found.unread
    assert found.watermark == history.since + 5 * HOUR
