from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from made import DIGITS

from jpo.errors import UsageError
from jpo.optimizer.front import Front, Point, Volumes, difference, shown
from jpo.records import Currency, Interval
from jpo.report import front_json, front_text
from jpo.report.plots.front import plot

TODAY = {"batch_size": 16.0, "gpus": 1.0}
TIME, COST = "duration_seconds", "cost_usd"


def fact(batch_size: float, seconds: float, cost: float, **changes: object) -> Point:
    return replace(Point({**TODAY, "batch_size": batch_size}, 2, {TIME: seconds, COST: cost}), **changes)


def guess(batch_size: float, seconds: float, cost: float, **changes: object) -> Point:
    values = {TIME: seconds, COST: cost}
    bounds = {quantity: Interval(value, 0.8 * value, 1.25 * value) for quantity, value in values.items()}
    return replace(Point({**TODAY, "batch_size": batch_size}, 0, values, bounds, p_fail=0.01), **changes)


FRONT = Front(
    workload=DIGITS,
    objectives={"time": TIME, "cost": COST},
    points=(
        fact(64, 7200, 8.0, on_front=True),
        fact(16, 14400, 9.0, marks=("today",), breaks=("cost_max",)),
        guess(128, 5400, 7.0, on_expected_front=True, marks=("suggested", "prefer time", "prefer night"), p_fail=0.12),
        guess(256, 7000, 6.0, on_expected_front=True),
    ),
    today=TODAY,
    suggested={**TODAY, "batch_size": 128.0},
    because="batch_size 128 was not run yet",
    preferences={"time": {**TODAY, "batch_size": 128.0}},
    volumes=Volumes({TIME: 15840.0, COST: 9.9}, 8640 * 1.9, 40000.0, 8640 * 1.9),
    left_out={"runs that did not end well": 3},
    notes=("a note",),
    codes=("JPO-I831",),
)
NOTHING = replace(FRONT, points=(Point(TODAY, 0, {}, marks=("today", "suggested")),), volumes=None)


def test_facts_and_predictions_are_told_apart_by_words() -> None:
    text = front_text.render(FRONT)
    facts, predictions = text.split("Predicted, not measured: with 90% intervals")
    assert "Measured: medians of the runs that ended well" in facts
    assert "2h 00m  8.00 USD  yes; a prediction beats it" in facts
    assert "no                          today; breaks cost_max" in facts
    assert "1h 30m (1h 12m to 1h 52m)  7.00 USD (5.60 to 8.75)  yes" in predictions
    assert "suggested; prefer time, night; fails with 12%" in " ".join(predictions.split())


def test_what_must_be_known_to_read_it_is_said() -> None:
    text = " ".join(front_text.render(FRONT).split())
    for sentence in (
        "Reference point: time 4h 24m, cost 9.90 USD.",
        "Hypervolume of the measured front up to it: 4.56 h × USD (more is better).",
        "Predicted points would add 144%, and at the worse ends of their intervals nothing: a prediction",
        "The same in all: gpus 1.",
        "`jpo suggest` would choose: batch 128; batch_size 128 was not run yet.",
        "Not shown: runs that did not end well (3).",
        "Note: a note",
    ):
        assert sentence in text, sentence


def test_amounts_are_shown_in_the_currency_and_written_in_usd() -> None:
    euros = replace(FRONT, currency=Currency("EUR", 0.5))
    assert "4.00 EUR" in front_text.render(euros)
    assert "2.28 h × EUR" in front_text.render(euros)
    assert "USD" not in front_text.render(euros)
    assert json.loads(front_json.render(euros)) == json.loads(front_json.render(FRONT))


def test_before_the_first_run_there_is_one_clear_line_and_no_table() -> None:
    text = front_text.render(replace(NOTHING, left_out={}, notes=("there is no front yet",)))
    assert "Note: there is no front yet" in text
    assert not any(word in text for word in ("Measured", "Predicted", "Reference", "The same"))


def test_many_dominated_points_do_not_hide_the_others() -> None:
    dominated = tuple(fact(1000 + n, 20000 + n, 99) for n in range(40))
    text = front_text.render(replace(FRONT, points=FRONT.points + dominated))
    assert "and 28 more that are dominated" in text
    assert "1011" in text
    assert "1012" not in text


def test_a_suggestion_behind_the_front_is_explained() -> None:
    points = (*FRONT.points[:2], guess(128, 99999, 99, marks=("suggested",)))
    assert "It lies behind this front" in front_text.render(replace(FRONT, points=points))
    assert "It lies behind this front" not in front_text.render(FRONT)


def test_the_json_has_every_point_with_its_kind() -> None:
    document = json.loads(front_json.render(FRONT))
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
    document = json.loads(front_json.render(replace(NOTHING, suggested=None)))
    assert document["points"][0]["values"] == {TIME: None, COST: None}
    assert (document["hypervolume"], document["suggested"]) == (None, None)


def test_a_name_steers_no_terminal() -> None:
    strange = replace(FRONT, workload=replace(DIGITS, model="a\x1b[31m[red]"), notes=("b\x1bc",))
    text = front_text.render(strange)
    assert "\x1b" not in text
    assert "[red]" in text


@pytest.mark.parametrize(
    ("values", "expected"), [({"batch_size": 64.0, "gpus": 2.0}, "batch 64, gpus 2"), (dict(TODAY), "as today")]
)
def test_a_difference_is_told_in_short(values: dict[str, float], expected: str) -> None:
    assert difference(values, TODAY) == expected


def test_utilisation_is_shown_in_per_cent() -> None:
    assert shown("gpu_utilisation", 0.314, Currency()) == "31%"


def texts(file: Path) -> list[str]:
    """What a picture says: matplotlib notes each text in a comment beside its outlines."""
    return re.findall("<!-- (.*?) -->", file.read_text())


def test_the_picture_says_what_is_what(tmp_path: Path) -> None:
    plot(FRONT, tmp_path / "front.svg")
    told = texts(tmp_path / "front.svg")
    for text in (
        "time, h",
        "cost, USD",
        "measured, on the front",
        "predicted, on the front",
        "today",
        "suggested",
        "batch 64",
        "batch 128",
    ):
        assert text in told, text


def test_the_same_front_gives_the_same_picture(tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        plot(FRONT, tmp_path / name)
    one, two = ((tmp_path / name).read_bytes() for name in ("one.svg", "two.svg"))
    assert one == two
    assert b"<dc:date>" not in one


@pytest.mark.parametrize(
    "front", [NOTHING, replace(FRONT, points=FRONT.points[:1]), replace(FRONT, workload=replace(DIGITS, model="$x_1^$"))]
)
def test_awkward_fronts_are_drawn_too(front: Front, tmp_path: Path) -> None:
    plot(front, tmp_path / "front.png")
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")


def test_points_far_apart_get_a_logarithmic_axis(tmp_path: Path) -> None:
    plot(replace(FRONT, points=(*FRONT.points, fact(8, 7200 * 40, 300))), tmp_path / "front.svg")
    assert {"10", "100"} <= set(texts(tmp_path / "front.svg"))


def test_each_further_objective_has_a_panel(tmp_path: Path) -> None:
    loss = "val_loss"
    points = tuple(
        replace(p, values={**p.values, loss: 0.1}, bounds=p.bounds and {**p.bounds, loss: Interval(0.1, 0.09, 0.2)})
        for p in FRONT.points
    )
    three = replace(FRONT, objectives={**FRONT.objectives, "loss": loss}, points=points)
    plot(three, tmp_path / "front.svg")
    assert texts(tmp_path / "front.svg").count("time, h") == 2


def test_a_picture_that_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        plot(FRONT, tmp_path / "missing" / "front.png")
