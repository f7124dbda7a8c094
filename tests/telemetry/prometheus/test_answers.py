"""Which answers are believed; whole faults are in tests/commands/test_faults.py."""

from __future__ import annotations

import json
import math

import pytest

from jpo.errors import TelemetryError
from jpo.http.answers import Busy, TooMuch
from jpo.telemetry.prometheus.answers import check, rows, texts

JSON = {"Content-Type": "application/json"}
GOOD = b'{"status":"success","data":{"resultType":"vector","result":[]}}'


def test_a_good_answer_has_no_warnings():
    assert check("p", 200, {"Content-Type": "application/json; charset=utf-8"}, GOOD).warnings == ()


def test_a_remark_on_a_name_is_no_warning_and_a_partial_answer_is_one():
    remarks = b',"warnings":["PromQL info: metric might not be a counter","PromQL warning: x"]}'
    assert check("p", 200, JSON, GOOD[:-1] + remarks).warnings == ("PromQL warning: x",)
    assert check("p", 200, JSON, GOOD[:-1] + b',"isPartial":true}').warnings == ("the answer is partial",)
    assert check("p", 200, JSON, GOOD[:-1] + b',"isPartial":false}').warnings == ()


def test_warnings_of_any_shape_are_kept():
    assert check("p", 200, JSON, GOOD[:-1] + b',"warnings":["a","b"]}').warnings == ("a", "b")
    assert check("p", 200, JSON, GOOD[:-1] + b',"warnings":"a"}').warnings == ("a",)


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"status": "success", "data": 5}', b'{"status": "success"}', b'"success"', b"\xff\xfe"]
)
def test_strange_json_is_refused(body):
    with pytest.raises(TelemetryError):
        check("p", 200, JSON, body)


def vector(*series):
    return {"resultType": "vector", "result": list(series)}


def matrix(*series):
    return {"resultType": "matrix", "result": list(series)}


def one(value="1", time=1.0, **labels):
    return {"metric": labels, "value": [time, value]}


def test_vectors_and_matrices_become_rows():
    (row,) = rows("p", vector(one("NaN", 1.5, a="b")), "vector")
    assert (row.labels, math.isnan(row.value)) == ({"a": "b"}, True)
    (row,) = rows("p", matrix({"metric": {}, "values": [[1, "2"], [2, "+Inf"]]}), "matrix")
    assert row.points == ((1.0, 2.0), (2.0, math.inf))


@pytest.mark.parametrize(
    "result",
    [
        [{"metric": {}, "value": [1, 10**400]}],
        None,
        [None],
        [{}],
        [{"metric": {}, "values": []}],
        [{"metric": 1, "value": [1, "1"]}],
        ["x"],
        [{"metric": {"a": 1}, "value": [1, "1"]}],
        *([one(value)] for value in ("\u0663\u0662", "3_2", " 32 ", "1e400", "0x10", "+5", "", 5, True, None)),
        *([one("1", time)] for time in ("1", True, None, math.nan, math.inf)),
        [one(a="b"), one("2", a="b")],
        [one("1", 500.0)],
        {},
    ],
)
def test_malformed_series_are_refused(result):
    with pytest.raises(TelemetryError) as caught:
        rows("p", {"resultType": "vector", "result": result}, "vector", 0.0, 100.0)
    assert caught.value.code == "JPO-E104"


@pytest.mark.parametrize("values", [[], [[2, "1"], [1, "1"]], [[1, "1"], [401, "1"]], [[-301, "1"]]])
def test_samples_of_another_time_or_order_are_refused(values):
    with pytest.raises(TelemetryError) as caught:
        rows("p", matrix({"metric": {}, "values": values}), "matrix", 0.0, 100.0)
    assert caught.value.code == "JPO-E104"


@pytest.mark.parametrize(
    "data",
    [
        matrix(),
        {"resultType": "scalar", "result": [1, "1"]},
        {"resultType": "string", "result": [1, "x"]},
        {"result": []},
        {},
        [],
    ],
)
def test_an_answer_of_another_kind_is_no_empty_answer(data):
    with pytest.raises(TelemetryError) as caught:
        rows("p", data, "vector")
    assert caught.value.code == "JPO-E104"


@pytest.mark.parametrize("more", ['"partial":true', '"isPartial":"true"', '"partialResponse":1', '"warnings":{"a":"b"}'])
def test_every_way_to_say_that_something_is_missing_counts(more):
    assert len(check("p", 200, JSON, GOOD[:-1] + f",{more}}}".encode()).warnings) == 1
    assert check("p", 200, JSON, GOOD[:-1] + b',"infos":["a remark"],"partial":false}').warnings == ()


@pytest.mark.parametrize("header", ["Warning", "X-Partial-Response", "M3-Results-Limited", "M3-Warnings"])
def test_headers_that_say_so_count_as_well(header):
    assert len(check("p", 200, {**JSON, header: "true"}, GOOD).warnings) == 1
    assert check("p", 200, {**JSON, header: "false"}, GOOD).warnings == ()


def test_values_of_a_label_are_texts():
    assert texts("p", ["a", "7"]) == ("a", "7")
    for other in ({"result": []}, ["a", 7], "a"):
        with pytest.raises(TelemetryError):
            texts("p", other)


def refused(status, reason, kind="execution"):
    body = json.dumps({"status": "error", "errorType": kind, "error": reason}).encode()
    with pytest.raises(TelemetryError) as caught:
        check("p", status, JSON, body)
    return caught.value


REPEATED = 'error when executing query="up{a=~\\"' + "x" * 5000 + '\\"}" for (time=1, step=300000): cannot evaluate "up": '


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (422, "query processing would load too many samples into memory in query execution"),
        (400, "exceeded maximum resolution of 11,000 points per timeseries"),
        (422, REPEATED + "cannot select more than -search.maxSamplesPerQuery=10 samples; possible solutions: to increase"),
        (422, "too long query; got 308 bytes; mustn't exceed `-search.maxQueryLen=200` bytes"),
        (422, REPEATED + "timeout exceeded during the query: 30.000 seconds"),
        (422, "the query exceeded the maximum number of chunks (err-mimir-max-chunks-per-query)"),
        (500, "exceeded series limit: limit 100 violated (got 101)"),
    ],
)
def test_limits_of_each_server_ask_for_a_narrower_question(status, reason):
    error = refused(status, reason)
    assert (type(error), error.code) == (TooMuch, "JPO-E105")
    assert "xxxx" not in error.finding


@pytest.mark.parametrize("kind", ["timeout", "canceled"])
def test_a_query_that_the_server_gave_up_asks_for_a_narrower_one(kind):
    error = refused(503, "query timed out", kind)
    assert (type(error), error.code) == (TooMuch, "JPO-E103")


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (429, "too many outstanding requests"),
        (429, "the request rate limit exceeded"),
        (
            503,
            "cannot handle more than 8 concurrent requests; increase `-search.maxQueueDuration`, `-search.maxQueryDuration`",
        ),
    ],
)
def test_a_crowd_before_us_asks_for_patience(status, reason):
    assert type(refused(status, reason)) is Busy


@pytest.mark.parametrize("reason", ["many-to-many matching not allowed", "1:9: parse error", REPEATED + "unexpected token"])
def test_a_wrong_question_is_neither(reason):
    assert type(refused(422, reason)) is TelemetryError


def test_a_query_too_long_for_a_proxy_asks_for_a_narrower_one():
    with pytest.raises(TooMuch):
        check("p", 414, {"Content-Type": "text/html"}, b"<html>Request-URI Too Large")


def test_words_of_amazon_are_heard():
    with pytest.raises(TelemetryError, match=r"does not allow this user to query \(HTTP 403\): expired; check user"):
        check("p", 403, JSON, b'{"message":"expired"}')


def test_a_404_in_the_servers_own_form_asks_for_the_route_prefix():
    body = b'{"status":"error","errorType":"not_found","error":"no route"}'
    with pytest.raises(TelemetryError, match="route prefix") as caught:
        check("p", 404, JSON, body)
    assert caught.value.code == "JPO-E104"
