from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from made import altered

from jpo.cli.output import rendered
from jpo.records import (
    Alternative,
    Change,
    Currency,
    Evidence,
    Forecast,
    Guarded,
    Identity,
    Interval,
    Note,
    Preference,
    Skipped,
    SlaCheck,
    TrackRecord,
    suggestion_from,
    texts_of,
    uncoded,
)
from jpo.report import suggestion
from jpo.report.answer import Report

SUGGESTION = suggestion_from(
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
    evidence=Evidence(18, (Skipped("r9", "no end"),), requests=11, seconds=0.1, notes=uncoded(["the history is old"])),
    decided_by="belief",
    confidence=0.95,
    reasons=(Note("JPO-I603", "batch_size 128 was run 6 times"),),
    kind="return",
    created_at=1_795_000_000.0,
    preference=Preference(),
    seed=0,
    sla=(SlaCheck("time_max", 21600, "ok"), SlaCheck("gpu_util_min", 0.5, "unknown")),
)
TRACK = (TrackRecord("duration_seconds", 10, 0.06, 9),)
REPORT = Report(SUGGESTION, Path("config.ini"), written=True, track=TRACK, diff="--- a\n+++ b")


def shown(report: Report = REPORT, form: str = "text", *, colour: bool = False, columns: int = 120) -> str:
    return rendered(suggestion, report, form, colour=colour, columns=columns)


def lines(report: Report = REPORT) -> list[str]:
    """Without the blanks between columns."""
    return [" ".join(line.split()) for line in shown(report).split("\n")]


def test_a_report_is_read_in_ten_seconds() -> None:
    change = replace(SUGGESTION.changes[0], capped_by="max_change")
    now = Forecast(Interval(13920, 13000, 15000), Interval(9.3, 9, 10), Interval(0.401, 0.4, 0.42))
    then = Forecast(Interval(10680, 9660, 12000), Interval(7.1, 6.4, 8), Interval(0.403, 0.395, 0.414))
    difference = {
        "duration_seconds": Interval(0.77, 0.71, 0.84),
        "cost_usd": Interval(0.76, 0.7, 0.82),
        "val_loss": Interval(1.0, 0.99, 1.01),
        "objective": Interval(0.766, 0.7, 0.83),
    }
    known = altered(SUGGESTION, changes=(change,), now=now, next=then, difference=difference)
    assert shown(replace(REPORT, suggestion=known, diff=None)) == (
        "RETURN: training.batch_size 64 → 128, expected time -23%  cost -24%  loss ±0%, 95% likely to be better\n"
        "\n"
        "Workload cifar10/resnet18/pytorch: 18 finished runs used, 1 skipped (no end); Prometheus 0.1s\n"
        "\n"
        "key                  now     next  why\n"
        "training.batch_size  64   →  128   6 runs at 128; capped by max_change\n"
        "\n"
        "unchanged: gpus 2\n"
        "\n"
        "expected      change (90% interval)  SLA\n"
        "duration      -23% (-29% to -16%)    ≤ 6h 00m  ok\n"
        "cost          -24% (-30% to -18%)\n"
        "val loss      ±0% (-1% to +1%)\n"
        "weighed       -23% (-30% to -17%)\n"
        "gpu_util_min                         ≥ 50%     unknown\n"
        "\n"
        "Last 10 forecasts: duration off by 6% (median), 9 of 10 inside the interval.\n"
        "Note: the history is old\n"
        "\n"
        "config.ini: 1 value written. Suggestion 20261121-120000-abcdef\n"
    )


def test_what_is_not_known_is_called_unknown_and_no_change_is_made_of_it() -> None:
    assert lines()[0] == "RETURN: training.batch_size 64 → 128, expected time -23%, 95% likely to be better"
    assert "cost unknown" in lines()
    assert shown().endswith("--- a\n+++ b\n\n" + suggestion.verdict(REPORT) + "\n")


def test_of_several_reasons_the_first_is_shown_and_of_a_rollback_all() -> None:
    several = altered(SUGGESTION, reasons=uncoded(["it is faster", "it was run", "intervals are widened"]))
    assert lines(replace(REPORT, suggestion=several))[8:11] == [
        "because it is faster",
        "2 more reasons: jpo explain, or -o json",
        "",
    ]
    undone = altered(several, decided_by="rollback")
    assert lines(replace(REPORT, suggestion=undone))[8:11] == ["because it is faster", *texts_of(several.decision.reasons[1:])]


def test_an_unchanged_parameter_says_what_another_value_of_it_alone_would_mean() -> None:
    why = "time -11%  cost +38%: expected 9% worse under the preference"
    alone = Alternative({"batch_size": 128.0, "gpus": 4.0}, Forecast(), why)
    both = Alternative({"batch_size": 64.0, "gpus": 8.0}, Forecast(), "another reason")
    report = replace(REPORT, suggestion=altered(SUGGESTION, alternatives=(both, alone)))
    assert f"resources.gpus 2 2 4: {' '.join(why.split())}" in lines(report)
    assert "another reason" not in shown(report)


def test_values_that_stay_have_no_difference_but_a_forecast() -> None:
    kept = replace(REPORT, suggestion=altered(SUGGESTION, status="kept", changes=(), kind="kept"))
    assert "expected next (90% interval) SLA" in lines(kept)
    assert "duration 2h 58m (2h 41m to 3h 20m) ≤ 6h 00m ok" in lines(kept)


def test_what_is_weighed_is_no_row_of_its_own_where_one_quantity_is_all_that_counts() -> None:
    time = Interval(0.77, 0.71, 0.84)
    alone = altered(SUGGESTION, difference={"duration_seconds": time, "objective": time})
    assert "weighed" not in shown(replace(REPORT, suggestion=alone))


def test_a_difference_without_spread_has_no_interval_and_that_of_an_accuracy_is_none_of_ratios() -> None:
    then = replace(SUGGESTION.next, val_loss=Interval(0.4, 0.4, 0.4), val_accuracy=Interval(0.93, 0.92, 0.94))
    told = {"val_loss": Interval(1.0, 1.0, 1.0), "val_accuracy": Interval(0.004, -0.002, 0.01)}
    text = lines(replace(REPORT, suggestion=altered(SUGGESTION, next=then, difference=told)))
    assert "val loss ±0%" in text
    assert "accuracy +0.004 (-0.002 to +0.01)" in text


def test_a_further_forecast_is_shown_where_it_has_an_sla_target() -> None:
    now = replace(SUGGESTION.now, memory_gib=Interval(10, 9, 11), gpu_utilisation=Interval(0.5, 0.4, 0.6))
    then = replace(SUGGESTION.next, memory_gib=Interval(12, 9, 15), gpu_utilisation=Interval(0.51, 0.4, 0.6))
    quiet = altered(SUGGESTION, now=now, next=then, sla=())
    assert "memory" not in shown(replace(REPORT, suggestion=quiet))
    promised = replace(REPORT, suggestion=altered(quiet, sla=(SlaCheck("gpu_util_min", 0.5, "at risk"),)))
    assert "GPU utilisation +2% ≥ 50% at risk" in lines(promised)
    assert "| GPU utilisation | +2% | ≥ 50% | at risk |" in shown(promised, "markdown")


def test_amounts_are_shown_in_the_currency_and_stay_usd_in_json() -> None:
    kept = altered(SUGGESTION, changes=(), status="kept", kind="kept")
    priced = altered(kept, next=Forecast(cost_usd=Interval(2.0, 1.0, 3.0)), sla=(SlaCheck("cost_max", 4.0, "ok"),))
    report = replace(REPORT, suggestion=priced, currency=Currency("EUR", 0.5))
    assert "cost 1.00 EUR (0.50 to 1.50) ≤ 2.00 EUR ok" in lines(report)
    assert "| cost | 1.00 EUR (0.50 to 1.50) | ≤ 2.00 EUR | ok |" in shown(report, "markdown")
    assert json.loads(shown(report, "json"))["forecast"]["cost_usd"]["next"]["mean"] == 2.0


def test_what_held_a_value_back_is_next_to_its_reason() -> None:
    change = replace(SUGGESTION.changes[0], capped_by="max_change")
    report = replace(REPORT, suggestion=replace(SUGGESTION, changes=(change,)))
    assert "6 runs at 128; capped by max_change" in shown(report)
    assert "6 runs at 128; capped by max\\_change" in shown(report, "markdown")


def test_a_track_record_of_other_quantities_alone_says_nothing() -> None:
    assert "Last" not in shown(replace(REPORT, track=(TrackRecord("memory_gib", 3, 0.1, 3),)))
    one = replace(REPORT, track=(TrackRecord("cost_usd", 1, 0.1, 1),))
    assert "Last forecast: cost off by 10% (median), 1 of 1 inside the interval." in lines(one)


def test_the_terminal_colours_only_when_asked() -> None:
    assert "\x1b[" not in shown()
    assert "\x1b[" in shown(colour=True)


def test_brackets_in_names_are_shown_and_not_taken_for_markup() -> None:
    keys = {"batch_size": "tr[/b].batch_size", "gpus": ":smile:.gpus"}
    hostile = altered(
        SUGGESTION, identity=Identity("[red]x", "m", "f"), reasons=uncoded(["[bold]y"]), keys=keys, as_run=tuple(keys), changes=()
    )
    text = shown(replace(REPORT, suggestion=hostile))
    assert "[red]x/m/f" in text
    assert "[bold]y" in text
    assert "tr[/b].batch_size" in text
    assert ":smile:.gpus" in text


def test_a_chance_is_stated_once_of_a_change_and_of_todays_values_in_json_alone() -> None:
    assert (shown().count("95%"), shown(form="markdown").count("95%")) == (1, 1)
    today = {"changes": (), "suggested": SUGGESTION.values.current, "status": "kept", "kind": "kept"}
    kept = replace(REPORT, suggestion=altered(SUGGESTION, **today, confidence=0.97))
    assert lines(kept)[0] == "KEPT: batch_size 128 was run 6 times"
    assert "config.ini: kept as it is. Suggestion 20261121-120000-abcdef" in lines(kept)
    assert "97%" not in shown(kept) + shown(kept, "markdown"), "that today is not worse than today is not a claim"
    assert json.loads(shown(kept, "json"))["confidence"] == 0.97
    unknown = altered(SUGGESTION, confidence=None, decided_by="no evidence")
    assert lines(replace(REPORT, suggestion=unknown))[0] == "RETURN: training.batch_size 64 → 128, expected time -23%"


def test_who_decided_is_said_where_it_is_no_routine() -> None:
    as_rule = altered(SUGGESTION, reasons=(*SUGGESTION.decision.reasons, Note("JPO-I630", "SAC: as the rule")))
    assert "SAC" not in shown(replace(REPORT, suggestion=as_rule))
    other = altered(SUGGESTION, reasons=(*SUGGESTION.decision.reasons, Note("JPO-I631", "SAC: saves 3 runs")))
    assert "config.ini: 1 value written; SAC: saves 3 runs. Suggestion" in shown(replace(REPORT, suggestion=other))


def test_a_narrow_terminal_loses_no_value_and_breaks_no_key() -> None:
    text = shown(columns=50)
    assert max(map(len, text.split("\n"))) <= 50
    assert all(value in text for value in ("training.batch_size", "128", "95%", "-23%", "≤ 6h 00m"))


def test_markdown_and_html_cannot_be_broken_out_of() -> None:
    change = replace(SUGGESTION.changes[0], key="a`|b", new_text="<script>|")
    hostile = replace(REPORT, suggestion=replace(SUGGESTION, changes=(change,)), diff="```\nx")
    text = shown(hostile, "markdown")
    assert "<script>" not in text
    assert "| `a'\\|b` |" in text
    assert "````diff" in text
    page = shown(hostile, "html")
    assert page.startswith("<!DOCTYPE html>")
    assert "<script>" not in page
    assert "&lt;script&gt;|" in page


def test_widened_intervals_are_noted_and_not_counted_as_a_further_reason() -> None:
    widened = "too few of the last runs took as long as forecast; their intervals and risks are widened by a factor of 1.8"
    text = shown(
        replace(REPORT, suggestion=altered(SUGGESTION, reasons=(*uncoded(["first", "third"]), Note("JPO-W616", widened))))
    )
    assert "Note: too few of the last runs" in text
    assert "1 more reason" in text


def test_a_rollback_that_says_widened_intervals_among_its_reasons_does_not_note_them_again() -> None:
    widened = "too few of the last runs took as long as forecast; their intervals and risks are widened by a factor of 1.8"
    back = altered(SUGGESTION, decided_by="rollback", reasons=(Note("JPO-I842", "undone"), Note("JPO-W616", widened)))
    text = " ".join(shown(replace(REPORT, suggestion=back)).split())
    assert text.count("widened by a factor of 1.8") == 1


def test_a_value_that_stays_is_shown_as_the_file_says_it() -> None:
    """32G is 29.8 GiB, and who wrote 32G looks for that; what runs have in its place, or no file says, is a number."""
    values = {**SUGGESTION.values.current, "learning_rate": 0.001, "memory_gib": 29.8}
    keys = {**SUGGESTION.values.keys, "learning_rate": "training.lr", "memory_gib": "resources.memory"}
    texts = {"learning_rate": "1e-3", "memory_gib": "32G", "batch_size": "64", "gpus": "2"}
    made = altered(SUGGESTION, keys=keys, current=values, suggested={**values, "batch_size": 128.0}, texts=texts)
    seen = lines(replace(REPORT, suggestion=made))
    assert "unchanged: lr 0.001, gpus 2, memory 32G" in seen
    assert any(line.startswith("training.batch_size 64 → 128 ") for line in seen)
    assert "resources.memory (as run) 29.8 GiB 29.8 GiB" in lines(
        replace(REPORT, suggestion=altered(made, as_run=("memory_gib",)))
    )
