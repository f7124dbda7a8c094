from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from jpo.records import (
    Alternative,
    Change,
    Currency,
    Evidence,
    Forecast,
    Guarded,
    Identity,
    Interval,
    Preference,
    Skipped,
    SlaCheck,
    Suggestion,
    TrackRecord,
)
from jpo.report import Report, as_json, markdown, terminal
from jpo.wording import numbers

SUGGESTION = Suggestion(
    suggestion_id="20261121-120000-abcdef",
    identity=Identity("cifar10", "resnet18", "pytorch"),
    status="changed",
    keys={"batch_size": "training.batch_size", "gpus": "resources.gpus"},
    current={"batch_size": 64.0, "gpus": 2.0},
    suggested={"batch_size": 128.0, "gpus": 2.0},
    changes=(Change("batch_size", "training.batch_size", 64, 128, "64", "128", "6 runs at 128", 0.95),),
    now=Forecast(Interval(13920, 13000, 15000)),
    next=Forecast(Interval(10680, 9660, 12000)),
    guard=Guarded(True),
    evidence=Evidence(18, (Skipped("r9", "no end"),), requests=11, seconds=0.1, notes=("the history is old",)),
    decided_by="belief",
    confidence=0.95,
    reasons=("batch_size 128 was run 6 times",),
    codes=("JPO-I603",),
    created_at=1_795_000_000.0,
    preference=Preference(),
    seed=0,
    sla=(SlaCheck("time_max", 21600, "ok"), SlaCheck("gpu_util_min", 0.5, "unknown")),
)
TRACK = (TrackRecord("duration_seconds", 10, 0.06, 9),)
REPORT = Report(SUGGESTION, Path("config.ini"), written=True, track=TRACK, diff="--- a\n+++ b")


def test_the_terminal_shows_the_form_of_the_user_guide() -> None:
    lines = [" ".join(line.split()) for line in terminal.render(REPORT).split("\n")]
    assert "Workload cifar10/resnet18/pytorch 18 finished runs used, 1 skipped (no end) Prometheus 0.1 s" in lines
    assert "training.batch_size 64 → 128 6 runs at 128 high (95%)" in lines
    assert "resources.gpus 2 2" in lines
    assert "duration 3h 52m 2h 58m (2h 41m to 3h 20m) ≤ 6h 00m ok" in lines
    assert "cost unknown unknown" in lines
    assert "Last 10 forecasts: duration off by 6% (median), 9 of 10 inside the interval." in lines
    assert "Note: the history is old" in lines


def test_an_unchanged_parameter_says_what_another_value_of_it_alone_would_mean() -> None:
    why = "takes 11% less time, costs 38% more: expected 9% worse under the preference"
    alone = Alternative({"batch_size": 128.0, "gpus": 4.0}, Forecast(), why)
    both = Alternative({"batch_size": 64.0, "gpus": 8.0}, Forecast(), "another reason")
    told = replace(REPORT, suggestion=replace(SUGGESTION, alternatives=(both, alone)))
    lines = [" ".join(line.split()) for line in terminal.render(told, width=200).split("\n")]
    assert f"resources.gpus 2 2 4 {why}" in lines
    assert "another reason" not in "\n".join(lines)


def test_a_forecast_beside_the_usual_ones_is_shown_where_it_was_promised_or_changes() -> None:
    now = replace(SUGGESTION.now, memory_gib=Interval(10, 9, 11), gpu_utilisation=Interval(0.5, 0.4, 0.6))
    then = replace(SUGGESTION.next, memory_gib=Interval(12, 9, 15), gpu_utilisation=Interval(0.51, 0.4, 0.6))
    quiet = replace(SUGGESTION, now=now, next=then, sla=())
    assert "memory, GiB" in terminal.render(replace(REPORT, suggestion=quiet))
    assert "GPU utilisation" not in terminal.render(replace(REPORT, suggestion=quiet))
    promised = replace(REPORT, suggestion=replace(quiet, sla=(SlaCheck("gpu_util_min", 0.5, "at risk"),)))
    assert "GPU utilisation 0.5 0.51 (0.4 to 0.6) ≥ 0.5 at risk" in " ".join(terminal.render(promised).split())
    assert "| GPU utilisation | 0.5 | 0.51 (0.4 to 0.6) | at risk |" in markdown.render(promised)


def test_amounts_are_shown_in_the_currency_and_stay_usd_in_json() -> None:
    priced = replace(SUGGESTION, next=Forecast(cost_usd=Interval(2.0, 1.0, 3.0)), sla=(SlaCheck("cost_max", 4.0, "ok"),))
    told = replace(REPORT, suggestion=priced, currency=Currency("EUR", 0.5))
    assert "1.00 EUR (0.50 EUR to 1.50 EUR) ≤ 2.00 EUR ok" in " ".join(terminal.render(told).split())
    assert "1.00 EUR (0.50 EUR to 1.50 EUR)" in markdown.render(told)
    assert json.loads(as_json.render(told))["forecast"]["cost_usd"]["next"]["mean"] == 2.0


def test_what_held_a_value_back_stands_beside_its_reason() -> None:
    change = replace(SUGGESTION.changes[0], capped_by="max_change")
    told = replace(REPORT, suggestion=replace(SUGGESTION, changes=(change,)))
    assert "6 runs at 128; capped by max_change" in terminal.render(told)
    assert "6 runs at 128; capped by max\\_change" in markdown.render(told)


def test_a_track_record_of_other_quantities_alone_says_nothing() -> None:
    assert "Last" not in terminal.render(replace(REPORT, track=(TrackRecord("memory_gib", 3, 0.1, 3),)))
    one = replace(REPORT, track=(TrackRecord("cost_usd", 1, 0.1, 1),))
    assert "Last forecast: cost off by 10% (median), 1 of 1 inside" in terminal.render(one)


def test_the_terminal_colours_only_when_asked() -> None:
    assert "\x1b[" not in terminal.render(REPORT)
    assert "\x1b[" in terminal.render(REPORT, colour=True)


def test_brackets_in_names_are_shown_and_not_taken_for_markup() -> None:
    keys = {"batch_size": "tr[/b].batch_size", "gpus": ":smile:.gpus"}
    hostile = replace(SUGGESTION, identity=Identity("[red]x", "m", "f"), reasons=("[bold]y",), keys=keys, changes=())
    text = terminal.render(replace(REPORT, suggestion=hostile))
    assert "[red]x/m/f" in text
    assert "[bold]y" in text
    assert "tr[/b].batch_size" in text
    assert ":smile:.gpus" in text


def test_every_output_states_the_confidence_also_when_all_is_kept() -> None:
    kept = replace(
        REPORT, suggestion=replace(SUGGESTION, status="kept", changes=(), suggested=SUGGESTION.current, confidence=0.97)
    )
    told = "kept as it is; decided by the belief rule, confidence high (97%)."
    assert told in terminal.render(kept)
    assert told in markdown.render(kept)
    assert json.loads(as_json.render(kept))["confidence"] == 0.97
    unknown = replace(kept, suggestion=replace(kept.suggestion, confidence=None, decided_by="no evidence"))
    assert "decided by the lack of evidence. Suggestion" in terminal.render(unknown)


def test_a_narrow_terminal_loses_no_value() -> None:
    text = terminal.render(REPORT, width=50)
    assert max(map(len, text.split("\n"))) <= 50
    assert all(value in text for value in ("128", "(95", "2h 58m", "2h 41m"))


def test_json_is_valid_against_its_schema_and_unknown_is_null() -> None:
    document = json.loads(as_json.render(REPORT))
    jsonschema.validate(document, json.loads(as_json.schema()))
    assert document["forecast"]["duration_seconds"]["next"] == {"mean": 10680, "low": 9660, "high": 12000}
    assert document["forecast"]["cost_usd"] == {"now": None, "next": None}
    assert document["reason_codes"] == ["JPO-I603"]


def test_markdown_cannot_be_broken_out_of() -> None:
    change = replace(SUGGESTION.changes[0], key="a`|b", new_text="<script>|")
    text = markdown.render(replace(REPORT, suggestion=replace(SUGGESTION, changes=(change,)), diff="```\nx"))
    assert "<script>" not in text
    assert "| `a'\\|b` |" in text
    assert "````diff" in text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.8412, "0.841 s"), (59.4, "59.4 s"), (65, "1m 05s"), (13920, "3h 52m"), (3599.9, "1h 00m"), (59.99, "1m 00s")],
)
def test_durations_read_as_people_write_them(seconds: float, text: str) -> None:
    assert numbers.duration(seconds) == text


@pytest.mark.parametrize(("value", "text"), [(64.0, "64"), (0.0316227, "0.03162"), (1e-4, "0.0001"), (1e16, "1e+16")])
def test_plain_numbers_have_four_digits_at_most(value: float, text: str) -> None:
    assert numbers.plain(value) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [(7.1, "7.10 USD"), (0.25, "0.25 USD"), (0.014, "0.014 USD"), (0.0000684, "0.000068 USD"), (0.0, "0.00 USD")],
)
def test_amounts_of_money_have_cents(amount: float, text: str) -> None:
    assert numbers.money(amount) == text


def test_confidence_is_a_word_and_a_number_and_never_certainty() -> None:
    assert numbers.confidence(1.0) == "high (> 99%)"
    assert numbers.confidence(0.75) == "medium (75%)"
    assert numbers.confidence(0.3) == "low (30%)"
    assert numbers.confidence(None) == "not stated"
