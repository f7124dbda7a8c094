from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from jpo.cli.output import rendered
from jpo.records import RuleApplied, Suggestion
from jpo.report import rules
from tests.made import a_suggestion, altered

APPLIED = (
    RuleApplied("limits and SLA", "JPO-I670", 4, 60),
    RuleApplied("JPO-I622", "JPO-I622", 20, 40),
    RuleApplied("JPO-I622", "JPO-I622", 10, 30),
    RuleApplied("settled", "JPO-I625", 0, 30),
    RuleApplied("the trial with the largest possible gain", "JPO-I604", 29, 1),
)
MADE = altered(a_suggestion("s1"), kind="trial", trial=(2, 5), rules=APPLIED)


def lines(made: Suggestion) -> list[str]:
    return [" ".join(line.split()) for line in rendered(rules, made, "text").split("\n")]


def test_the_rules_are_a_table_in_their_order_and_the_last_line_says_which_one_chose() -> None:
    told = lines(MADE)
    assert told[0].startswith("TRIAL 2 of 5: ")
    assert "settled JPO-I625 is a trial, where nothing is better with a chance of 80% 0 30" in told
    assert "Chosen of what is left by “the trial with the largest possible gain”." in told


def test_where_sla_promises_nothing_the_rule_of_limits_does_not_speak_of_it() -> None:
    assert "limits and SLA JPO-I670 breaks a limit of `[parameters]` or `[quota]`, or is expected" in " ".join(lines(MADE))
    told = lines(altered(MADE, sla=()))
    assert "limits JPO-I670 breaks a limit of `[parameters]` or `[quota]` 4 60" in told
    assert not any("SLA" in line or "[sla]" in line for line in told)


def test_holds_of_one_name_are_one_row() -> None:
    (row,) = [rule for rule in rules.in_words(MADE) if rule.code == "JPO-I622"]
    assert (row.name, row.removed, row.left) == ("resources unnamed", 30, 30)


def test_a_suggestion_without_rules_says_so() -> None:
    older = replace(MADE, decision=replace(MADE.decision, rules=()))
    assert any(line.startswith("No rules are on record") for line in lines(older))
    assert json.loads(rendered(rules, older, "json"))["chosen_by"] is None


def test_a_rule_of_another_version_keeps_its_name() -> None:
    older = altered(MADE, rules=(RuleApplied("patience", "JPO-I629", 1, 2), *APPLIED))
    assert next(rules.in_words(older)).name == "patience"


def test_json_has_each_rule_with_its_condition() -> None:
    document = json.loads(rendered(rules, MADE, "json"))
    assert document["chosen_by"] == "the trial with the largest possible gain"
    assert [rule["removed"] for rule in document["rules"]] == [4, 30, 0]
    assert all(rule["condition"] for rule in document["rules"])


def test_every_hold_of_the_code_has_a_condition() -> None:
    root = Path(__file__).parents[2] / "jpo"
    source = "".join(path.read_text() for part in ("agent", "optimizer") for path in (root / part).rglob("*.py"))
    literal = set(re.findall(r'Veto\([^\n]*"(JPO-[A-Z]\d+)"', source))
    assert len(literal) > 5
    assert literal <= rules.HOLDS.keys()
