from __future__ import annotations

import csv
from dataclasses import replace
from io import StringIO
from json import loads

from made import a_suggestion

from jpo.forecast.before_after import BeforeAfter
from jpo.optimizer.before_and_after import Spent
from jpo.records import OTHERWISE, USD, Currency, Identity, Interval, Note
from jpo.report import before_after
from jpo.report.before_after import WorkloadChange, WorkloadChanges, sac_in_words, taught, trials_in_words
from jpo.report.forms import html, json, markdown, text

LINES = (
    BeforeAfter("duration_seconds", "ratio", 100.0, 62.0, 10, 8, Interval(0.62, 0.5, 0.78), "better"),
    BeforeAfter("cost_usd", "ratio", None, 1.5, 0, 8, None, "too few"),
    BeforeAfter("failed", "difference", 0.1, 0.0, 10, 8, Interval(-0.1, -0.35, 0.22), "no clear change"),
)
FOUND = WorkloadChange(Identity("d", "m$x", "f"), 100.0, 200.0, 10, 8, 2, LINES, LINES[:1])
NOTHING = WorkloadChange(Identity("d", "m", "f"), None, None, 1, 0, 0, (), ())


def lines(*workloads: WorkloadChange, currency: Currency = USD) -> list[str]:
    document = before_after.document(WorkloadChanges(workloads, currency))
    return [" ".join(line.split()) for line in text.render(document, width=160, colour=False).split("\n")]


def test_the_table_says_how_much_and_how_sure() -> None:
    shown = lines(FOUND, currency=Currency("EUR", 2.0))
    assert "duration per model 1m 40s 1m 02s -38% (-50% to -22%) better -38% (-50% to -22%) better" in shown
    assert "cost per model unknown 3.00 EUR too few" in shown
    assert "runs that failed 10% 0% -10 points (-35 to +22) no clear change" in shown
    head = "first changed on 1970-01-01 00:01, last on 1970-01-01 00:03 (UTC): 10 runs before, 8 runs after it; left out, since"
    assert any(line.startswith(head) for line in shown)


def test_what_had_to_be_compared_by_difference_says_so() -> None:
    line = BeforeAfter("gpu_utilisation", "difference", 0.2, 0.8, 4, 4, Interval(0.6, 0.4, 0.8), "better")
    assert "GPU utilisation (arithmetic) 20% 80% +60 points (+40 to +80) better" in lines(
        replace(FOUND, lines=(line,), since_last=())
    )


def test_no_change_has_no_sign() -> None:
    line = BeforeAfter("val_loss", "ratio", 0.1, 0.1, 4, 4, Interval(1.0, 0.9999, 1.0001), "no clear change")
    assert "val loss 0.1 0.1 ±0% (±0% to ±0%) no clear change" in lines(replace(FOUND, lines=(line,), since_last=()))


def test_without_a_change_there_is_nothing_to_compare() -> None:
    assert "no change by JPO is on record yet: 1 run, nothing to compare" in lines(NOTHING)
    assert "nothing on record yet; start with `jpo suggest config.ini`" in lines()


def test_json_has_ratios_and_null_where_none_is_stated() -> None:
    (one,) = loads(json.dumps(before_after.as_json(WorkloadChanges([FOUND]))))["workloads"]
    assert one["since_first_change"][0]["change"] == {"mean": 0.62, "low": 0.5, "high": 0.78}
    assert (one["since_first_change"][1]["change"], one["since_first_change"][1]["before"]) == (None, None)
    assert [line["kind"] for line in one["since_first_change"]] == ["ratio", "ratio", "difference"]
    assert len(one["since_last_change"]) == 1


def test_csv_has_a_row_for_each_line() -> None:
    rows = list(csv.DictReader(StringIO(before_after.as_csv(WorkloadChanges([FOUND, NOTHING])))))
    assert [(row["since"], row["quantity"], row["low"]) for row in rows] == [
        ("first change", "duration_seconds", "0.5"),
        ("first change", "cost_usd", ""),
        ("first change", "failed", "-0.35"),
        ("last change", "duration_seconds", "0.5"),
    ]


def test_markdown_and_html_have_the_same_tables() -> None:
    document = before_after.document(WorkloadChanges([replace(FOUND, identity=Identity("<b>", "m", "f"))]))
    page = markdown.render(document)
    assert "#### Workload **\\<b\\>/m/f**" in page
    assert "| duration per model | 1m 40s | 1m 02s | -38% (-50% to -22%) | better | -38% (-50% to -22%) | better |" in page
    assert "&lt;b&gt;/m/f" in html.render(document)
    assert '<span class="good">better</span>' in html.render(document)


def test_a_forecast_in_the_place_of_runs_is_marked_in_every_form() -> None:
    line = BeforeAfter("duration_seconds", "ratio", 3600.0, 2000.0, 1, 1, Interval(0.56, 0.4, 0.7), "better", "forecast")
    found = WorkloadChanges([replace(FOUND, lines=(line, *LINES[1:]), since_last=())])
    document = before_after.document(found)
    for shown in (text.render(document, width=120, colour=False), markdown.render(document), html.render(document)):
        assert "forecast 1h 00m" in shown
        assert "for the values before its first change" in " ".join(shown.split())
    (one,) = before_after.as_json(found)["workloads"]
    assert [line["basis"] for line in one["since_first_change"]] == ["forecast", "runs", "runs"]
    assert [row["basis"] for row in csv.DictReader(StringIO(before_after.as_csv(found)))] == ["forecast", "runs", "runs"]
    assert "forecast" not in text.render(before_after.document(WorkloadChanges([FOUND])), width=120, colour=False)


def test_a_trial_says_what_it_taught_and_cost_and_all_of_them_what_they_brought() -> None:
    trial = a_suggestion("s1")
    kept = replace(a_suggestion("s2"), decision=replace(trial.decision, kind="kept"))
    slower, failed, after = Spent(30.0, 60.0, 1.08, 2), Spent(90.0, 90.0, None, 1), Spent(-400.0, 0.0, 1.0, 4)
    assert [taught(trial, one) for one in (slower, failed, None)] == [
        "+8% time per model: cost 1m 00s",
        "no model: cost 1m 30s",
        "",
    ]
    assert taught(kept, after) == ""
    said = trials_in_words([(trial, slower), (trial, failed), (kept, after), (kept, None)])
    assert said == "3 runs of trials cost 2m 30s against keeping; what was learnt saved 7m 10s against before JPO."
    assert trials_in_words([(kept, after)]) == ""


def test_of_sac_is_counted_where_it_had_a_say_and_what_it_expected_of_deciding_otherwise() -> None:
    alike = a_suggestion(runs_saved=Interval(0, 0, 0)).decision
    other = a_suggestion(runs_saved=Interval(0.5, 0.125, 0.75), reasons=(Note(OTHERWISE, "departs"),)).decision
    without = a_suggestion(reasons=(Note(OTHERWISE, "an earlier version said so, whoever chose"),)).decision
    assert sac_in_words([without]) == ""
    assert sac_in_words([alike, without]) == "SAC decided once, never otherwise than the rule"
    said = "SAC decided 3 times, 2 times otherwise than the rule; it expected these to save 1.0 runs (0.2 to 1.5)"
    assert sac_in_words([alike, other, other]) == said
