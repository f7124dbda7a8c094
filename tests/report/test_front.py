from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fronts import COST, FRONT, NOTHING, TIME, fact, guess
from made import DIGITS

from jpo.cli.output import rendered
from jpo.cost.comparison import TradeOff
from jpo.optimizer.pareto.front import Front, Unshown
from jpo.optimizer.surrogate import FailureChance
from jpo.records import NO_EVIDENCE, Currency, uncoded
from jpo.report import front as subject


def text(front: Front) -> str:
    return rendered(subject, front, "text")


def as_json(front: Front) -> dict[str, Any]:
    return dict(subject.as_json(front))


def test_facts_and_predictions_are_distinguished_by_words() -> None:
    out = text(FRONT)
    facts, predictions = out.split("Predicted, not measured: with 90% intervals")
    assert "Measured: medians of the runs that ended well" in facts
    assert "2h 00m  8.00 USD  yes    a prediction beats it" in facts
    assert "no     today; breaks cost_max" in facts
    assert "1h 30m (1h 12m to 1h 52m)  7.00 USD (5.60 to 8.75)  yes" in predictions
    assert "suggested; prefer time, night; fails with 12%" in " ".join(predictions.split())


def test_what_must_be_known_to_read_it_is_said() -> None:
    out = " ".join(text(FRONT).split())
    for sentence in (
        "Reference point: duration 4h 24m, cost 9.90 USD.",
        "Hypervolume of the measured front up to it: 4.56 h × USD (more is better).",
        "Predicted points would add 144%, and at the worse ends of their intervals nothing; predictions are optimistic",
        "The same in all: gpus 1.",
        "`jpo suggest` would choose: batch 128; batch_size 128 has not been tried.",
        "Not shown: runs that did not end well (3).",
        "Note: a note",
    ):
        assert sentence in out, sentence


def test_amounts_are_shown_in_the_currency_and_written_in_usd() -> None:
    euros = replace(FRONT, currency=Currency("EUR", 0.5))
    assert "4.00 EUR" in text(euros)
    assert "2.28 h × EUR" in text(euros)
    assert "USD" not in text(euros)
    assert as_json(euros) == as_json(FRONT)


def test_before_the_first_run_there_is_one_clear_line_and_no_table() -> None:
    out = text(replace(NOTHING, left_out={}, evidence=NO_EVIDENCE.noting(uncoded(["there is no front yet"]))))
    assert "Note: there is no front yet" in out
    assert not any(word in out for word in ("Measured", "Predicted", "Reference", "The same"))


def test_many_dominated_points_do_not_hide_the_others() -> None:
    dominated = tuple(fact(1000 + n, 20000 + n, 99) for n in range(40))
    out = text(replace(FRONT, points=FRONT.points + dominated))
    assert "and 28 more that are dominated" in out
    assert "1011" in out
    assert "1012" not in out


def test_a_suggestion_behind_the_front_is_explained() -> None:
    points = (*FRONT.points[:2], guess(128, 99999, 99, marks=("suggested",)))
    assert "It is dominated by this front" in text(replace(FRONT, points=points))
    assert "It is dominated by this front" not in text(FRONT)


def test_the_json_has_every_point_with_its_kind() -> None:
    document = as_json(FRONT)
    assert document["schema_version"] == 1
    assert [(point["kind"], point["runs"], point["on_front"], point["on_expected_front"]) for point in document["points"]] == [
        ("measured", 2, True, False),
        ("measured", 2, False, False),
        ("predicted", 0, False, True),
        ("predicted", 0, False, True),
    ]
    assert document["points"][2]["intervals"][COST] == pytest.approx({"mean": 7.0, "low": 5.6, "high": 8.75})
    assert document["points"][0]["intervals"] is None
    assert document["hypervolume"]["reference"] == {TIME: 15840.0, COST: 9.9}
    assert document["objectives"][0] == {"name": "time", "quantity": TIME, "better": "lower"}


def test_what_is_not_known_is_null() -> None:
    document = as_json(replace(NOTHING, suggested=None))
    assert document["points"][0]["values"] == {TIME: None, COST: None}
    assert (document["hypervolume"], document["suggested"]) == (None, None)


def test_a_name_steers_no_terminal() -> None:
    strange = replace(FRONT, workload=replace(DIGITS, model="a\x1b[31m[red]"), evidence=NO_EVIDENCE.noting(uncoded(["b\x1bc"])))
    out = text(strange)
    assert "\x1b" not in out
    assert "[red]" in out


def test_every_form_distinguishes_facts_from_predictions() -> None:
    markdown = rendered(subject, FRONT, "markdown")
    assert "#### Measured: medians of the runs that ended well\n" in markdown
    assert "| 128 | 1h 30m (1h 12m to 1h 52m) | 7.00 USD (5.60 to 8.75) | yes |" in markdown
    page = rendered(subject, replace(FRONT, evidence=NO_EVIDENCE.noting(uncoded(["<script>"]))), "html")
    assert "Predicted, not measured: with 90% intervals" in page
    assert "<script>" not in page


def test_reasons_keep_their_published_keys_and_read_well() -> None:
    left_out = {Unshown("risky"): 2, Unshown("unmeasured", ("duration_seconds", "cpu_utilisation")): 1}
    assert as_json(replace(FRONT, left_out=left_out))["left_out"] == {
        "configurations with more than 20 % failures": 2,
        "runs without time and CPU busy": 1,
    }
    assert "Not shown: configurations with more than 20% failures (2); runs without duration and CPU" in text(
        replace(FRONT, left_out=left_out)
    )


def test_each_point_says_how_often_it_fails_and_whether_its_trade_is_acceptable() -> None:
    paid, saved = TradeOff(3.0, saves_time=True, acceptable=True), TradeOff(0.5, saves_time=False, acceptable=False)
    points = [
        replace(point, failure=FailureChance(0.03, "from simulated jobs"), trade=trade)
        for point, trade in zip(FRONT.points, (paid, saved, *[None] * len(FRONT.points)), strict=False)
    ]
    front = replace(FRONT, points=tuple(points))
    out = " ".join(text(front).split())
    assert "fails" in out
    assert " 3% " in out
    assert "acceptable (an hour saved costs 3.00 USD)" in out
    assert "not acceptable (an hour longer saves 0.50 USD)" in out
    assert as_json(front)["points"][0]["trade_off"] == {"usd_per_hour": 3.0, "saves_time": True, "acceptable": True}
    assert as_json(FRONT)["points"][0]["trade_off"] is None
