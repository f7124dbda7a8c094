"""A suggestion explained in full: every section has what it is for, older suggestions have fewer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from made import a_run, a_suggestion, altered

from jpo.cli.output import rendered
from jpo.records import Alternative, Change, Currency, Forecast, Interval, Outcome, RunStatus, Seen, TrackRecord, uncoded
from jpo.report import explanation
from jpo.report.answer import Report
from jpo.report.document import Section, plain_text, shown
from jpo.report.explanation import Explanation, sections

OTHER = Alternative(
    {"batch_size": 128.0, "learning_rate": 0.1},
    Forecast(Interval(60.0, 50.0, 70.0), Interval(2.0, 1.5, 2.5)),
    "time +40%: expected 12% worse under the preference",
)
SUGGESTION = a_suggestion(
    next=Forecast(Interval(50.0, 45.0, 55.0), Interval(1.0, 0.8, 1.2)),
    changes=(Change("batch_size", "training.batch_size", 32, 64, "32", "64", "fewer steps", 0.9, "max_change"),),
    alternatives=(OTHER,),
    seen={"chance that it fails": 0.25},
    would_change=("with explore = off the choice would be today's configuration",),
)
EXPLAINED = Explanation(
    Report(
        SUGGESTION, Path("config.ini"), written=True, track=(TrackRecord("cost_usd", 4, 0.1, 3),), currency=Currency("EUR", 0.5)
    ),
    evidence=(a_run("r1"), a_run("r2", 300.0, parameters={"batch_size": 32.0})),
    followers=(
        a_run("r3", 400.0, outcome=Outcome(duration_seconds=54.0, cost_usd=3.0)),
        a_run("r4", 500.0, status=RunStatus.OOM_KILLED, outcome=Outcome()),
    ),
    coverage={"cost_usd": Interval(0.75, 0.35, 0.94)},
    standing=("written into config.ini on 1970-01-01 00:01 UTC",),
)


def text(explained: Explanation = EXPLAINED, width: int = 160) -> str:
    return rendered(explanation, explained, "text", columns=width)


def markdown(explained: Explanation = EXPLAINED) -> str:
    return rendered(explanation, explained, "markdown")


def lines(explained: Explanation = EXPLAINED) -> list[str]:
    return [" ".join(line.split()) for line in text(explained).split("\n")]


def test_each_question_has_its_answer() -> None:
    answers = lines()
    assert "- written into config.ini on 1970-01-01 00:01 UTC" in answers
    assert "r3: succeeded duration 50s (45s to 55s) 54s inside" in answers
    assert "cost 0.50 EUR (0.40 to 0.60) 1.50 EUR outside" in answers
    assert "r4: oom killed nothing to compare" in answers
    assert "- the SAC agent (policy abababababab)" in answers
    assert "- training.batch_size = 64 is capped by max_change" in answers
    assert f"batch_size 128 1m 00s 1.00 EUR unknown {OTHER.why_not}" in answers
    assert "- with explore = off the choice would be today's configuration" in answers
    assert "r2 1970-01-01 00:05 succeeded 32 50s unknown unknown" in answers
    assert "chance that it fails 0.25" in answers
    assert any(line.startswith("cost 4 10% 3 ") and line.endswith("(35% to 94%)") for line in answers)


def test_the_chance_that_a_model_is_kept_has_the_name_of_its_quality() -> None:
    seen = {Seen.LOSS_KEPT: 0.7}
    told = replace(EXPLAINED.report, suggestion=altered(SUGGESTION, seen=seen))
    assert "chance that it keeps the validation loss" in text(replace(EXPLAINED, report=told))
    by_accuracy = altered(SUGGESTION, seen=seen, next=Forecast(val_accuracy=Interval(0.9, 0.8, 0.95)))
    assert "chance that it keeps the accuracy" in text(replace(EXPLAINED, report=replace(told, suggestion=by_accuracy)))


def test_all_reasons_are_given() -> None:
    several = replace(EXPLAINED.report, suggestion=altered(SUGGESTION, reasons=uncoded(["it is faster", "it was run"])))
    answers = lines(replace(EXPLAINED, report=several))
    assert answers[answers.index("Why") : answers.index("Why") + 3] == ["Why", "- it is faster", "- it was run"]


def test_an_older_suggestion_is_explained_without_what_it_does_not_hold() -> None:
    old = a_suggestion(changes=(), decided_by="belief", policy="belief rule")
    explained = Explanation(Report(old, Path("config.ini"), written=False), (), (), {}, ("nothing to write",))
    titles = [plain_text(section.title) for section in shown(sections(explained)) if isinstance(section, Section)]
    assert titles == [
        "Status",
        "Why",
        "Forecast",
        "Decision",
        "Limits that applied",
    ]  # made.py's has a notice
    assert "- the belief rule" in lines(explained)


def test_the_track_record_is_given_once() -> None:
    assert "Last 4 forecasts" not in text()
    assert "Last 4 forecasts" not in markdown()


def test_of_many_runs_that_followed_the_newest_are_shown_and_json_has_all() -> None:
    many = replace(EXPLAINED, followers=tuple(a_run(f"f{n:02}", 400.0 + n) for n in range(30)))
    assert ("f24:" in text(many), "f25:" in text(many), "f29:" in text(many)) == (False, True, True)
    assert "the newest 5 of 30 runs; -o json has all" in text(many)
    assert len(json.loads(rendered(explanation, many, "json"))["followed_by"]) == 30
    assert "has all\n\n| run |" in markdown(many), "a table needs a blank line above"


def test_names_cannot_steer_a_terminal_nor_break_out_of_markdown_and_html() -> None:
    hostile = replace(EXPLAINED, standing=("a\x1b[31m|<script>",), followers=(a_run("r\x1b]0;x|<b>~~$x$\u202e"),))
    assert "\x1b" not in text(hostile)
    assert not {"\x1b", "\u202e"} & set(markdown(hostile))
    assert r"\~\~\$x\$" in markdown(hostile)
    assert "<script>" not in markdown(hostile)
    assert "<b>" not in markdown(hostile)
    page = rendered(explanation, hostile, "html")
    assert not {"\x1b", "\u202e"} & set(page)
    assert "&lt;script&gt;" in page
    assert "<b>" not in page


def test_markdown_tables_have_as_many_cells_as_heads() -> None:
    rows = [line for line in markdown().split("\n") if line.startswith("| ")]
    assert all(line.endswith(" |") for line in rows)
    assert "| batch\\_size 128 | 1m 00s | 1.00 EUR | unknown | time +40%: expected" in "\n".join(rows)


def test_json_has_the_suggestion_and_what_came_of_it() -> None:
    document = json.loads(rendered(explanation, EXPLAINED, "json"))
    assert document["suggestion"]["alternatives"][0]["parameters"] == OTHER.parameters
    assert [followed["inside"] for followed in document["followed_by"]] == [{"duration_seconds": True, "cost_usd": False}, {}]
    assert document["coverage"] == {"cost_usd": {"mean": 0.75, "low": 0.35, "high": 0.94}}
    assert [run["run_id"] for run in document["evidence_runs"]] == ["r1", "r2"]


def test_a_narrow_terminal_keeps_every_line_within_it() -> None:
    assert max(map(len, text(width=60).split("\n"))) <= 60


def test_all_reasons_are_there_and_no_other_command_is_named_for_them() -> None:
    several = altered(SUGGESTION, reasons=uncoded(["it is faster", "it was run"]), seen={Seen.WORSE: 0.25})
    found = lines(replace(EXPLAINED, report=replace(EXPLAINED.report, suggestion=several)))
    assert {"- it is faster", "- it was run", "chance of more than 10% worse than today 0.25"} <= set(found)
    assert not any("more reason" in line for line in found)
