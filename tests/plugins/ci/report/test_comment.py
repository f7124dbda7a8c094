"""The note about a suggestion: what a reader sees at a glance, and that nothing in it is anything else than text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from attacks import ATTACKS, check_markdown, steered
from noted import CHANGE, NOW, note, suggested

from jpo.plugins.ci.code_host.notes import LARGEST_BODY
from jpo.plugins.ci.report import comment
from jpo.records import RISK, Evidence, Identity, Interval, Note, SlaCheck, uncoded


def test_it_says_in_a_few_lines_what_changes_what_for_why_and_how_sure_that_is() -> None:
    difference = {"duration_seconds": Interval(0.78, 0.7, 0.9)}
    made = suggested(sla=(SlaCheck("time_max", 90.0, "ok"),), kind="improvement", difference=difference)
    text = comment.body(note(made, link="https://ci.example/7"))
    for line in (
        "**IMPROVEMENT:** training.batch\\_size 16 → 64, expected time -22% cost +51% loss ±0%, 95% likely to be better",
        "| duration | -22% (-30% to -10%) | ≤ 1m 30s | ok |",
        "| cost | +51% |  |  |",
        "| `training.batch_size` | 16 | **64** | 3 runs at 64; capped by max\\_change |",
        "- risk: chance that it fails: 3%",
        "- track record: last 8 forecasts: duration off by 5% (median), 7 of 8 inside the interval.",
        "[Report and log](<https://ci.example/7>)",
    ):
        assert line in text.split("\n")
    assert len(text.split("\n")) < 35


def test_values_that_are_kept_are_said_to_be() -> None:
    text = comment.body(note(suggested(status="kept", changes=(), next=NOW)))
    assert "values kept as they are" in text
    assert "| value |" not in text
    assert "%**" not in text.partition("- why")[0]


def test_the_marker_is_that_of_the_workload_and_holds_no_name() -> None:
    one, other = note(suggested()), note(suggested(identity=Identity("a", "--> @admin", "c")))
    assert comment.marker(one) == comment.marker(note(suggested(suggestion_id="another"))) != comment.marker(other)
    assert comment.body(other).split("\n")[0] == comment.marker(other)
    assert "admin" not in comment.marker(other)
    assert comment.marker(one) != comment.marker(replace(one, file="jobs/b/config.ini"))


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_no_text_breaks_out_of_the_note(attack: str) -> None:
    hostile = suggested(
        suggestion_id=attack,
        identity=Identity(attack, attack, attack, attack),
        changes=(replace(CHANGE, key=attack, old_text=attack, new_text=attack, reason=attack, capped_by=attack),),
        reasons=(Note("", attack), Note("JPO-W616", attack), Note(RISK, attack)),
        evidence=Evidence(3, notes=uncoded([attack])),
        decided_by=attack,
    )
    text = comment.body(replace(note(hostile), report=replace(note(hostile).report, path=Path(attack)), link=attack))
    assert steered(text) == []
    head, _, rest = text.partition("\n\n")
    assert head == comment.marker(note(hostile))
    check_markdown(rest)


def test_every_line_begins_with_words_or_signs_of_ours() -> None:
    text = comment.body(
        note(suggested(identity=Identity("/close", "!merge", "bors"), reasons=(Note("", "/close"), Note(RISK, "/close"))))
    )
    begins = (
        "<!-- jpo:",
        "### JPO: ",
        "**config.ini: ",
        "**TRIAL:** ",
        "| ",
        "- why: ",
        "- risk: ",
        "- track record: ",
        "> **Note:** ",
        "",
    )
    assert [line for line in text.split("\n") if line and not line.startswith(begins[:-1])] == []


def test_however_much_there_is_to_say_the_hosts_take_it() -> None:
    long = "<|*_`" * 400
    many = tuple(replace(CHANGE, key=f"s.{long}{n}", old_text=long, new_text=long, reason=long) for n in range(500))
    text = comment.body(
        note(suggested(changes=many, reasons=(Note(RISK, long),) * 300, evidence=Evidence(3, notes=uncoded([long] * 300))))
    )
    assert len(text) < LARGEST_BODY
    assert "and 480 more values: jpo explain" in text
