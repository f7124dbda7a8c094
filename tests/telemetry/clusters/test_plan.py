"""How many requests a look takes, and what happens where a server's limits bite."""

from __future__ import annotations

import re
from itertools import pairwise
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from answering import NOTHING, Handler, refuses, sends, served, tells

from jpo.errors import TelemetryError
from jpo.http.endpoint import Endpoint
from jpo.records import Identity, RunStatus
from jpo.telemetry.prometheus.runs import LAST_REPORTS_SECONDS, finished_runs

DAY = 86400.0
MOST_REQUESTS = 16
"""Discovery, descriptions, names (2), lives, silent runs, the clock, the jobs' own words, losses that were not stored, the
courses of the others, use of pods (2, for so many), who changed its word, single samples (3)."""


def test_new_runs_take_a_dozen_requests_however_many_they_are(reading):
    found = reading("exported", until=7.0)
    assert len(found.runs) >= 12
    assert found.requests <= MOST_REQUESTS


def test_nothing_new_takes_one(reading):
    first = reading("exported", until=10.0)
    again = reading("exported", until=10.1, watermark=(first.watermark - 1_700_000_000) / 3600)
    assert (again.runs, again.series, again.requests) == ((), (), 1)


def test_a_long_window_is_read_in_chunks_and_a_run_over_their_border_is_whole(reading):
    found = reading("months", until=75 * 24.0)
    assert [run.run_id for run in found.runs] == ["first", "border", "last"]
    assert [run.status for run in found.runs] == [RunStatus.SUCCEEDED] * 3
    border = found.runs[1].outcome
    assert (border.duration_seconds, border.samples) == (pytest.approx(1200, rel=0.02), pytest.approx(120_000, rel=0.02))
    assert border.energy_joules == pytest.approx(360_000, rel=0.02)
    assert found.watermark == found.runs[-1].ended_at + LAST_REPORTS_SECONDS


def test_series_of_the_newest_runs_come_with_them(reading):
    found = reading("exported")
    plain = {series.quantity: series for series in found.series if series.run_id == "plain"}
    assert set(plain) == {"cpu_cores", "memory_gib", "gpu_utilisation"}
    assert plain["cpu_cores"].times[0] == pytest.approx(1_700_000_000 + 600, abs=16)
    assert (plain["cpu_cores"].values[3], plain["memory_gib"].values[3]) == (pytest.approx(2), 1)
    assert {series.run_id for series in found.series} == {run.run_id for run in found.runs}
    assert not [series for series in found.series if series.run_id == "cpu-only" and series.quantity == "gpu_utilisation"]


def days_asked(path):
    query = parse_qs(urlsplit(path).query)["query"][0]
    return max(int(ms) for ms in re.findall(r"\[(\d+)ms\]", query)) / 1000 / DAY


def at_most(days):
    """No runs, and no answer about more than some days at once."""
    too_much = refuses(422, "execution", "query processing would load too many samples")
    return lambda handler: (too_much if days_asked(handler.path) > days else tells(NOTHING))(handler)


def hangs(handler: Handler):
    handler.server.over.wait()
    handler.close_connection = True


def queries_only(url):
    """What a proxy shows that lets through queries and nothing else."""

    def answer(handler: Handler):
        if handler.path.startswith("/api/v1/query"):
            real = requests.get(url + handler.path, timeout=10)
            sends(real.content, real.status_code)(handler)
        else:
            sends(b"no", 403)(handler)

    return answer


def repeats(*labels):
    return tells({"resultType": "vector", "result": [{"metric": one, "value": [1e9 + DAY, "NaN"]} for one in labels]})


def look_at(server, days, *, watermark=None, timeout=10.0):
    source = Endpoint(server.url, timeout_seconds=timeout)
    return finished_runs(source, Identity("d", "m", "f"), since=1e9, until=1e9 + days * DAY, watermark=watermark)


@pytest.mark.parametrize("serve", ["prometheus"], indirect=True)
def test_a_server_that_hides_its_index_is_asked_for_all_that_may_be_there(cluster, reading):
    with served(queries_only(cluster)) as server:
        identity = Identity("digits", "honoured", "pytorch")
        found = finished_runs(Endpoint(server.url), identity, since=1.7e9, until=1.7e9 + DAY / 2, watermark=None)
    assert found.runs == reading("honoured").runs


@pytest.mark.parametrize("labels", [{"run_id": "x"}, {"run_id": "x", "quantity": "y"}, {"quantity": ""}])
def test_rows_that_nobody_asked_for_are_a_lie(labels):
    with served(repeats(labels)) as server, pytest.raises(TelemetryError) as caught:
        look_at(server, 1)
    assert caught.value.code == "JPO-E104"


def test_a_server_that_answers_nan_to_everything_lies():
    marks = [{"run_id": "x", "quantity": mark} for mark in ("run", "start", "end", "pushed", "info")]
    with served(repeats(*marks)) as server, pytest.raises(TelemetryError) as caught:
        look_at(server, 1)
    assert caught.value.code == "JPO-E104"


def test_a_chunk_is_halved_until_the_server_can_answer():
    with served(at_most(days=5)) as server:
        found = look_at(server, 60)
    assert (found.runs, found.complete) == ((), True)
    answered = [days for path in server.asked if (days := days_asked(path)) <= 5]
    assert sum(answered) == pytest.approx(60, abs=0.5)  # with an overlap of minutes


def test_a_server_that_cannot_answer_for_a_day_is_an_error():
    with served(at_most(days=0.1)) as server, pytest.raises(TelemetryError, match="too many samples") as caught:
        look_at(server, 60)
    assert caught.value.code == "JPO-E105"
    assert len(server.asked) < 10


def test_a_history_that_cannot_be_read_at_once_is_read_in_several_looks():
    marks = [1e9]
    with served() as server:
        for _ in range(9):
            server.answers = [tells(NOTHING), tells(NOTHING), hangs]
            found = look_at(server, 150, watermark=marks[-1] if marks[1:] else None, timeout=2.0)
            if not found.unread:
                break
            marks.append(found.watermark)
    assert all(later - earlier > 40 * DAY for earlier, later in pairwise(marks))
    assert (found.unread, len(marks)) == (None, 3)


def test_what_was_left_for_the_next_look_is_said():
    with served(tells(NOTHING), refuses(403, "forbidden")) as server:
        found = look_at(server, 60)
    assert "read up to 2001-10-09, the rest next time: does not allow this user" in (found.unread or "")
    assert (found.complete, found.watermark) == (True, pytest.approx(1e9 + 30 * DAY, abs=1000))


def test_nothing_of_an_answer_that_was_partial_on_the_way_counts():
    with served(tells(NOTHING), tells(NOTHING, warnings=["a store is down"]), refuses(403, "forbidden")) as server:
        found = look_at(server, 90)
    assert (found.complete, found.watermark) == (False, None)


def test_nothing_read_at_all_is_an_error():
    with served(refuses(403, "forbidden")) as server, pytest.raises(TelemetryError, match="does not allow"):
        look_at(server, 60)
