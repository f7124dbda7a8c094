"""Real answers, one of them changed anywhere: never an internal error, never half a run, and nothing on record that is not so."""

from __future__ import annotations

import copy
import json
import math
import re

import pytest
import requests
from answering import Handler, sends, served
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jpo.errors import TelemetryError
from jpo.history import open_store
from jpo.http.answers import Busy, PassingTrouble
from jpo.http.endpoint import Endpoint
from jpo.records import Identity
from jpo.telemetry.prometheus.runs import Late, finished_runs

HOUR = 3600.0
DIGITS = Identity("digits", "cnn", "pytorch")
REFUSALS = {"JPO-E102", "JPO-E103", "JPO-E104", "JPO-E105", "JPO-E108", "JPO-E109"}

texts = st.sampled_from(
    [
        "",
        "NaN",
        "+Inf",
        "-1",
        "1e400",
        "0x10",
        "+5",
        "3_2",
        "\u0663\u0662",
        " 32 ",
        "9" * 400,
        "\x00",
        "\ud800",
        "run",
        "matrix",
        "true",
    ]
) | st.text(max_size=8)
numbers = st.sampled_from([0, -1, 10**400, 1e308, 1.7e9, 2.5e9, math.nan, -math.inf]) | st.integers() | st.floats()
leaves = st.none() | st.booleans() | numbers | texts
junk = leaves | st.lists(leaves, max_size=3) | st.dictionaries(texts, leaves, max_size=3)


@st.composite
def changes(draw):
    """What becomes of the n-th answer: a function of its JSON."""
    n, kind = draw(st.integers(0, 13)), draw(st.sampled_from(["leaf", "drop", "twice", "mix", "add", "whole"]))
    value, steps = draw(junk), draw(st.lists(st.integers(0, 50), min_size=2, max_size=9))
    return n, lambda document: changed(copy.deepcopy(document), kind, value, steps)


def changed(document, kind, value, steps):
    if kind == "whole":
        return value
    if kind == "add":
        return {**document, ["warnings", "infos", "isPartial", "partial", "data", "status", "error"][steps[0] % 7]: value}
    parent, key = document, "data"
    for step in steps:  # down to a random place
        inside = parent[key]
        if not isinstance(inside, dict | list) or not inside:
            break
        parent, key = inside, step % len(inside) if isinstance(inside, list) else list(inside)[step % len(inside)]
    if kind == "drop":
        del parent[key]
    elif kind == "twice" and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]))
    elif kind == "mix" and isinstance(parent, list):
        parent.reverse()
    else:
        parent[key] = value
    return document


@pytest.fixture
def lying(history, monkeypatch):
    """`lying(n, change) -> url`: the history's server, whose n-th answer from now on is changed on the way."""
    real: dict[str, bytes] = {}
    change = [(-1, None)]

    def reply(handler: Handler):
        key = re.sub(r"timeout=[0-9.]+", "timeout=9", handler.path)
        if key not in real:
            real[key] = requests.get(history.url + key, timeout=10).content
        left, changed = change[0]
        change[0] = left - 1, changed
        sends(changed(json.loads(real[key])) if left == 0 else real[key])(handler)

    for trouble in (PassingTrouble, Busy):
        monkeypatch.setattr(trouble, "pauses", ())
    with served(reply) as server:

        def lying(n, changed):
            change[0] = n, changed
            return server.url

        yield lying


def look(url, history, store=None):
    begin = history.since
    mark = begin + 2 * HOUR
    late = Late(begin, frozenset({"plain", "restarted"}))
    source = Endpoint(url, timeout_seconds=5)
    found = finished_runs(source, DIGITS, since=begin, until=begin + 6 * HOUR, watermark=mark, late=late)
    if store:
        store.record(found, now=begin + 6 * HOUR, identity=DIGITS, source="prometheus http://x")
    return found


@pytest.mark.parametrize("serve", ["prometheus"], indirect=True)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(change=changes())
def test_a_changed_answer_is_refused_or_understood(history, lying, change):
    truth = {run.run_id: run for run in look(history.url, history).runs}
    with open_store("sqlite://") as store:
        found, refusal = None, None
        try:
            found = look(lying(*change), history, store)
        except TelemetryError as error:
            refusal = error.code
        if found is None:
            assert refusal in REFUSALS
            assert (store.runs_of(DIGITS), store.readings(DIGITS)) == ((), {})
            return
        if not found.complete:
            assert (found.runs, found.watermark, store.readings(DIGITS)) == ((), None, {})
        for run in store.runs_of(DIGITS):
            assert run.started_at is not None
            assert history.since <= run.started_at <= run.ended_at <= history.since + 6 * HOUR
            assert run.parameters, "what it ran with belongs to it"
            assert run.outcome.duration_seconds == run.ended_at - run.started_at
        look(history.url, history, store)
        assert truth.keys() <= {run.run_id for run in store.runs_of(DIGITS)}, "the next honest answer brings what is missing"
