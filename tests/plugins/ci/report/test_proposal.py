"""The merge request's title, branch, message and text: of what a name says, nothing but letters and digits reaches a machine."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from attacks import ATTACKS, check_markdown, steered
from made import altered
from noted import CHANGE, note, suggested

from jpo.plugins.ci.code_host.notes import LARGEST_BODY
from jpo.plugins.ci.report import proposal
from jpo.records import RISK, Evidence, Identity, Note, uncoded

FILE = "config.ini"


def test_it_says_what_a_merge_means_and_what_the_last_suggestion_was() -> None:
    text = proposal.text(note(suggested(), link="https://ci.example/7"))
    assert text.startswith("The training job runs with these values")
    assert "| `training.batch_size` | 16 | **64** |" in text
    assert text.endswith("[Report and log](<https://ci.example/7>)\n")


def test_each_workload_has_a_branch_of_its_own_and_the_same_one_every_night() -> None:
    one, other = suggested(identity=Identity("a b", "c", "d")), suggested(identity=Identity("a", "b c", "d"))
    assert proposal.branch(one, FILE) == proposal.branch(altered(one, suggestion_id="another", reasons=()), FILE)
    assert re.fullmatch(r"jpo/a_b_c_d\.[0-9a-f]{12}", proposal.branch(one, FILE))
    assert proposal.branch(one, FILE) != proposal.branch(other, FILE)


def test_each_config_ini_of_a_workload_has_a_branch_and_a_title_of_its_own() -> None:
    assert proposal.branch(suggested(), "a/config.ini") != proposal.branch(suggested(), "b/config.ini")
    assert proposal.title(suggested(), FILE) == "JPO: values in force for digits_cnn_pytorch"
    assert proposal.title(suggested(), "jobs/@a/config.ini").endswith(" in jobs_a")


def test_the_same_values_are_the_same_suggestion() -> None:
    one = suggested()
    assert proposal.values(one) == proposal.values(altered(one, suggestion_id="x", reasons=(), created_at=1.0))
    assert proposal.values(one) != proposal.values(altered(one, suggested={**one.values.suggested, "batch_size": 7.0}))


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_no_text_breaks_out_of_it(attack: str) -> None:
    hostile = suggested(
        suggestion_id=attack,
        identity=Identity(attack, attack, attack, attack),
        changes=(replace(CHANGE, key=attack, old_text=attack, new_text=attack, reason=attack, capped_by=attack),),
        reasons=(Note("", attack), Note("JPO-W616", attack), Note(RISK, attack)),
        evidence=Evidence(3, notes=uncoded([attack])),
        decided_by=attack,
    )
    text = proposal.text(replace(note(hostile), report=replace(note(hostile).report, path=Path(attack)), link=attack))
    assert steered(text) == []
    check_markdown(text)
    assert len(text) < LARGEST_BODY
    assert re.fullmatch(r"jpo/[a-z0-9_]{1,40}\.[0-9a-f]{12}", proposal.branch(hostile, attack))
    assert re.fullmatch(r"JPO: values in force for [a-z0-9_]{1,40}( in [a-z0-9_]{1,40})?", proposal.title(hostile, attack))
    assert re.fullmatch(r"Values in force for [a-z0-9_]{1,40}", proposal.message(hostile))
    assert re.fullmatch(r"[0-9a-f]{32}", proposal.values(hostile))
