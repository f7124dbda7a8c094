"""Scenarios are tested by the commands that take them; here the rules that are named."""

from __future__ import annotations

import pytest

from jpo.errors import UsageError
from jpo.plugins.cluster.story.scenarios import named_rules, words


def test_rules_are_named_once_and_may_bring_their_own() -> None:
    names = [rule.name for rule in named_rules(["saf-pack+easy,fcfs", "fcfs"], ["none", "conservative"])]
    assert names == ["saf-pack+easy", "fcfs", "fcfs+conservative"]
    assert [rule.name for rule in named_rules(["sjf"], ["easy"], ["first,spread"])] == ["sjf-first+easy", "sjf-spread+easy"]
    elastic = named_rules(["saf+elastic+easy,fcfs+elastic"], ["none", "conservative"])
    assert [rule.name for rule in elastic] == ["saf+easy+elastic", "fcfs+elastic", "fcfs+conservative+elastic"]
    for wrong in ("", "saf-", "saf+", "saf-easy", "saf+pack", "saf+elastic+elastic", "saf+easy+none", "saf+elastic+"):
        with pytest.raises(UsageError):
            named_rules([wrong], ["none"])


def test_words_are_separated_by_commas_or_repetition() -> None:
    assert words(["a, b", "a", "c"]) == ["a", "b", "c"]
