import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from made import DIGITS

from jpo.optimizer.prediction import Answer, Expected, Option, Prediction, Row
from jpo.optimizer.what_if import Bounds
from jpo.records import Currency, Forecast, Interval, SlaCheck
from jpo.report import prediction_json, prediction_text


def a_row(seconds=3600.0, usd=2.0, **changes):
    money = None if usd is None else Interval(usd, usd / 2, usd * 2)
    forecast = Forecast(Interval(seconds, seconds / 2, seconds * 2), money)
    row = Row({"batch_size": 64.0}, {}, None, Expected("history", "the history: 3 finished runs", forecast), runs=3)
    return replace(row, **changes)


UNKNOWN = Row({"batch_size": 64.0}, {}, None, Expected("unknown", "nothing", Forecast()))


def shown(*rows, **changes):
    return Prediction(Path("config.ini"), DIGITS, 3, rows, **changes)


@pytest.mark.parametrize("width", [80, 120])
def test_the_table_shows_each_figure_with_its_interval_and_fits(width):
    text = prediction_text.render(shown(a_row(), a_row(differs={"batch_size": 128.0}, runs=0)), width=width)
    assert "1h 00m" in text
    assert "30m 00s – 2h 00m" in text
    assert "1.00 – 4.00 USD" in text
    assert "batch 128" in text
    assert max(map(len, text.splitlines())) <= width


def test_what_is_not_known_is_called_so_and_is_null_in_json():
    prediction = shown(UNKNOWN)
    assert prediction_text.render(prediction).count("unknown") >= 3
    (row,) = json.loads(prediction_json.render(prediction))["rows"]
    assert row["forecast"]["duration_seconds"] is None
    assert row["basis"] == {"kind": "unknown", "words": "nothing"}


def test_a_row_that_may_not_be_says_why():
    text = prediction_text.render(shown(a_row(why_not=("batch_size = 64 is above 32",))))
    assert "is not admissible: batch_size = 64 is above 32" in text


def test_amounts_are_shown_in_the_currency_and_written_in_usd():
    prediction = shown(a_row(), currency=Currency("EUR", 0.5))
    assert "1.00 EUR" in prediction_text.render(prediction)
    assert json.loads(prediction_json.render(prediction))["rows"][0]["forecast"]["cost_usd"]["mean"] == 2.0


def test_dearer_options_show_the_price_of_a_saved_hour():
    answer = Answer(7200.0, None, True, 0, 0.9, "The cheapest", (Option(1, 1800.0, 1.0, 2.0),))
    prediction = shown(a_row(), a_row(1800.0, 3.0, differs={"gpus": 2.0}), answer=answer)
    assert "30m 00s  1.00 USD    2.00 USD" in prediction_text.render(prediction)
    assert json.loads(prediction_json.render(prediction))["answer"]["options"][0]["usd_per_saved_hour"] == 2.0


def test_a_name_from_a_file_cannot_steer_the_terminal():
    prediction = shown(a_row(), notes=("\x1b[2J gone",))
    assert "\x1b" not in prediction_text.render(prediction)


def test_bounds_are_kept_by_the_expected_value_and_say_how_likely():
    assert Bounds(3600.0, None).kept(a_row())
    assert not Bounds(3599.0, None).kept(a_row())
    assert Bounds(3600.0, None).probability(a_row()) == pytest.approx(0.5)
    assert Bounds(7200.0, None).probability(a_row()) == pytest.approx(0.95)
    assert not Bounds(None, 1.0).kept(a_row(usd=None))


def test_a_deadline_wants_the_cheapest_and_a_budget_the_fastest():
    cheap, fast = a_row(3600.0, 1.0), a_row(1800.0, 3.0)
    assert min((fast, cheap), key=Bounds(7200.0, None).order) is cheap
    assert min((fast, cheap), key=Bounds(None, 9.0).order) is fast
    assert min((fast, cheap), key=Bounds(7200.0, 9.0).order) is cheap


def test_unknown_and_free_are_told_apart():
    assert Bounds(60.0, None).miss(UNKNOWN) == math.inf
    assert "is unknown" in Bounds(60.0, None).words(UNKNOWN, met=False)
    assert "The fastest" in Bounds(None, 1.0).words(a_row(usd=0.0), met=True)
    assert "Prices are unknown" in Bounds(7200.0, None).words(a_row(usd=None), met=True)


def test_a_broken_promise_is_not_allowed_and_one_at_risk_is():
    broken, risk = (a_row(sla=(SlaCheck("time_max", 1.0, verdict),)) for verdict in ("broken", "at risk"))
    assert (broken.allowed, risk.allowed) == (False, True)
    assert "expected to break time_max" in prediction_text.render(shown(broken))
