from dataclasses import replace
from pathlib import Path

import pytest
from made import DIGITS
from prediction_rows import UNKNOWN, a_row

from jpo.cli.output import rendered
from jpo.optimizer.prediction import Answer, Expected, Option, Prediction
from jpo.records import NO_EVIDENCE, Currency, Forecast, Interval, SlaCheck, uncoded
from jpo.report import prediction as subject
from jpo.report.prediction import as_json

QUICKER = Answer(7200.0, None, True, 0, 0.9, "The cheapest", (Option(1, 1800.0, 1.0, 2.0),))


def shown(*rows, **changes):
    return Prediction(Path("config.ini"), DIGITS, 3, rows, **changes)


def text(prediction, width=120):
    return rendered(subject, prediction, "text", columns=width)


@pytest.mark.parametrize("width", [80, 120])
def test_the_table_shows_each_figure_with_its_interval_and_fits(width):
    out = text(shown(a_row(), a_row(differs={"batch_size": 128.0}, runs=0)), width)
    assert out.startswith("Workload digits/cnn/pytorch: 3 finished runs\n")
    assert "today      1h 00m (30m 00s to 2h 00m)  2.00 USD (1.00 to 4.00)   unknown     3\n" in out
    assert "batch 128  1h 00m (30m 00s to 2h 00m)  2.00 USD (1.00 to 4.00)   unknown     0\n" in out
    assert max(map(len, out.splitlines())) <= width


def test_every_form_has_the_figures():
    prediction = shown(a_row(), evidence=NO_EVIDENCE.noting(uncoded(["a | b"])))
    assert "| today | 1h 00m (30m 00s to 2h 00m) | 2.00 USD (1.00 to 4.00) | unknown | 3 |" in rendered(
        subject, prediction, "markdown"
    )
    page = rendered(subject, replace(prediction, evidence=NO_EVIDENCE.noting(uncoded(["<script>"]))), "html")
    assert "1h 00m" in page
    assert "<script>" not in page


def test_what_is_not_known_is_called_so_and_is_null_in_json():
    prediction = shown(UNKNOWN)
    assert text(prediction).count("unknown") >= 3
    (row,) = as_json(prediction)["rows"]
    assert row["forecast"]["duration_seconds"] is None
    assert row["basis"] == {"kind": "unknown", "words": "nothing"}


def test_what_a_run_would_use_is_shown_where_it_is_known():
    expected = Expected(
        "history", "the history", Forecast(memory_gib=Interval(3.0, 2.0, 4.0), gpu_utilisation=Interval(0.9, 0.8, 1.0))
    )
    out = text(shown(a_row(expected=expected)))
    assert "it would use          memory    GPU utilisation\n" in out
    assert "today         3 GiB (2 to 4)  90% (80% to 100%)\n" in out
    assert "it would use" not in text(shown(a_row()))


def test_a_row_that_may_not_be_says_why():
    out = text(shown(a_row(why_not=("batch_size = 64 is above 32",))))
    assert "today    not admissible  " in out
    assert "today is not admissible: batch_size = 64 is above 32\n" in out


def test_the_worst_verdict_of_the_sla_counts():
    checks = (SlaCheck("time_max", 1.0, "broken"), SlaCheck("cost_max", 9.0, "ok"))
    out = text(shown(a_row(sla=checks)))
    assert "today    SLA broken  " in out
    assert "today is expected to break time_max.\n" in out
    assert "today    SLA ok  " in text(shown(a_row(sla=checks[1:])))


def test_amounts_are_shown_in_the_currency_and_written_in_usd():
    prediction = shown(a_row(), currency=Currency("EUR", 0.5))
    assert "1.00 EUR" in text(prediction)
    assert as_json(prediction)["rows"][0]["forecast"]["cost_usd"]["mean"] == 2.0


def test_more_expensive_options_show_the_price_of_a_saved_hour_above_the_answer():
    prediction = shown(a_row(), a_row(1800.0, 3.0, differs={"gpus": 2.0}), answer=QUICKER)
    assert "  30m 00s    1.00 USD        2.00 USD\n\nThe cheapest\n" in text(prediction)
    assert "faster, but more expensive" in text(prediction)
    assert as_json(prediction)["answer"]["options"][0]["usd_per_saved_hour"] == 2.0


def test_a_name_from_a_file_cannot_steer_the_terminal():
    prediction = shown(a_row(), evidence=NO_EVIDENCE.noting(uncoded(["\x1b[2J gone"])))
    assert "\x1b" not in text(prediction)
