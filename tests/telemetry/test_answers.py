"""Which answers are believed; the faults of whole servers are in test_client.py."""

from __future__ import annotations

import math

import pytest

from jpo.errors import TelemetryError
from jpo.telemetry.answers import check, quote, rows

GOOD = b'{"status":"success","data":{"resultType":"vector","result":[]}}'


def test_a_good_answer_has_no_warnings():
    assert check("p", 200, "application/json; charset=utf-8", GOOD) == ()


def test_warnings_of_any_shape_are_kept():
    assert check("p", 200, "application/json", GOOD[:-1] + b',"warnings":["a","b"]}') == ("a", "b")
    assert check("p", 200, "application/json", GOOD[:-1] + b',"warnings":"a"}') == ("a",)


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"status": "success", "data": 5}', b'"success"', b"\xff\xfe"])
def test_strange_json_is_refused(body):
    with pytest.raises(TelemetryError):
        check("p", 200, "application/json", body)


def test_vectors_and_matrices_become_rows():
    vector, matrix = rows("p", [{"metric": {"a": "b"}, "value": [1.5, "NaN"]}, {"metric": {}, "values": [[1, "2"], [2, "+Inf"]]}])
    assert vector.labels == {"a": "b"}
    assert math.isnan(vector.value)
    assert matrix.points == ((1.0, 2.0), (2.0, math.inf))


@pytest.mark.parametrize(
    "result", [None, [None], [{}], [{"metric": {}, "values": []}], [{"metric": 1, "value": [1, "1"]}], ["x"]]
)
def test_malformed_series_are_refused(result):
    with pytest.raises(TelemetryError) as caught:
        rows("p", result)
    assert caught.value.code == "JPO-E104"


def test_words_of_a_server_fit_on_one_line_of_a_terminal():
    assert quote("red \x1b[31m\nalert\u202e") == "red [31m alert"
    assert len(quote("x" * 10_000)) == 201
