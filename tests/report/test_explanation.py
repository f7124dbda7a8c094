"""A suggestion retold in full: every section has what it is for, older suggestions have fewer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from made import a_run, a_suggestion

from jpo.records import Alternative, Change, Currency, Forecast, Interval, Outcome, RunStatus, TrackRecord
from jpo.report import Report, explanation, explanation_json
from jpo.report.explanation import Explanation, sections

OTHER = Alternative(
    {"batch_size": 128.0, "learning_rate": 0.1},
    Forecast(Interval(60.0, 50.0, 70.0), Interval(2.0, 1.5, 2.5)),
    "takes 40% more time: expected 12% worse under the preference",
)
SUGGESTION = a_suggestion(
    next=Forecast(Interval(50.0, 45.0, 55.0), Interval(1.0, 0.8, 1.2)),
    changes=(Change("batch_size", "training.batch_size", 32, 64, "32", "64", "fewer steps", 0.9, "max_change"),),
    alternatives=(OTHER,),
    seen={"chance that it fails": 0.25},
    would_change=("with explore = off the choice would be today's configuration",),
)
TOLD = Explanation(
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


def lines(told: Explanation = TOLD) -> list[str]:
    return [" ".join(line.split()) for line in explanation.as_text(told, width=160, colour=False).split("\n")]


def test_each_question_has_its_answer() -> None:
    text = lines()
    assert "written into config.ini on 1970-01-01 00:01 UTC" in text
    assert "r3: succeeded duration 50 s (45 s to 55 s) 54 s inside" in text
    assert "cost 0.50 EUR (0.40 EUR to 0.60 EUR) 1.50 EUR outside" in text
    assert "r4: oom killed nothing to compare" in text
    assert "the SAC agent (policy abababababab)" in text
    assert "training.batch_size = 64 is capped by max_change" in text
    assert f"batch_size 128 1m 00s 1.00 EUR unknown {OTHER.why_not}" in text
    assert "with explore = off the choice would be today's configuration" in text
    assert "r2 1970-01-01 00:05 succeeded 32 50 s unknown unknown" in text
    assert "chance that it fails 0.25" in text
    assert "cost 4 10% 3 of 4 35 to 94%" in text


def test_an_older_suggestion_is_explained_without_what_it_does_not_hold() -> None:
    old = a_suggestion(changes=(), decided_by="belief", policy="belief rule")
    told = Explanation(Report(old, Path("config.ini"), written=False), (), (), {}, ("nothing was to be written",))
    titles = [section.title for section in sections(told)]
    assert titles == ["Where it stands now", "Who decided", "What held it back"]  # made.py's suggestion has a notice
    assert "the belief rule" in lines(told)


def test_the_track_record_is_told_once() -> None:
    assert "Last 4 forecasts" not in explanation.as_text(TOLD, width=120, colour=False)
    assert "Last 4 forecasts" not in explanation.as_markdown(TOLD)


def test_of_many_runs_that_followed_the_newest_are_told_and_json_has_all() -> None:
    many = replace(TOLD, followers=tuple(a_run(f"f{n:02}", 400.0 + n) for n in range(30)))
    text = explanation.as_text(many, width=120, colour=False)
    assert ("f24:" in text, "f25:" in text, "f29:" in text) == (False, True, True)
    assert "the newest 5 of 30 runs; -o json has all" in text
    assert len(json.loads(explanation_json.render(many))["followed_by"]) == 30
    markdown = explanation.as_markdown(many)
    assert "has all\n\n| run |" in markdown, "a table needs a blank line above"


def test_names_cannot_steer_a_terminal_nor_break_out_of_markdown() -> None:
    hostile = replace(TOLD, standing=("a\x1b[31m|<script>",), followers=(a_run("r\x1b]0;x|<b>~~$x$\u202e"),))
    assert "\x1b" not in explanation.as_text(hostile, width=120, colour=False)
    assert not {"\x1b", "\u202e"} & set(explanation.as_markdown(hostile))
    assert r"\~\~\$x\$" in explanation.as_markdown(hostile)
    assert "<script>" not in explanation.as_markdown(hostile)
    assert "<b>" not in explanation.as_markdown(hostile)


def test_markdown_tables_have_as_many_cells_as_heads() -> None:
    rows = [line for line in explanation.as_markdown(TOLD).split("\n") if line.startswith("| ")]
    assert all(line.endswith(" |") for line in rows)
    assert "| batch\\_size 128 | 1m 00s | 1.00 EUR | unknown | takes 40% more time: expected" in "\n".join(rows)


def test_json_has_the_suggestion_and_what_came_of_it() -> None:
    document = json.loads(explanation_json.render(TOLD))
    assert document["suggestion"]["alternatives"][0]["parameters"] == OTHER.parameters
    assert [one["inside"] for one in document["followed_by"]] == [{"duration_seconds": True, "cost_usd": False}, {}]
    assert document["coverage"] == {"cost_usd": {"mean": 0.75, "low": 0.35, "high": 0.94}}
    assert [one["run_id"] for one in document["evidence_runs"]] == ["r1", "r2"]


def test_a_narrow_terminal_keeps_every_line_within_it() -> None:
    assert max(map(len, explanation.as_text(TOLD, width=60, colour=False).split("\n"))) <= 60
