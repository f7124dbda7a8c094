from __future__ import annotations

import click
import pytest
from command_lines import group

from jpo.cli.main import SUMMARY

GROUP = group("sla")
assert isinstance(GROUP, click.Group)
LEAVES = list(GROUP.commands.values())


def test_the_group_has_its_commands() -> None:
    assert [leaf.name for leaf in LEAVES] == ["check", "suggest"]


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.name)
def test_a_summary_is_not_cut_off(leaf: click.Command) -> None:
    assert not leaf.get_short_help_str(SUMMARY).endswith("...")


@pytest.mark.parametrize("leaf", LEAVES)
def test_every_form_is_offered(leaf: click.Command) -> None:
    (option,) = [option for option in leaf.params if option.name == "form"]
    assert isinstance(option.type, click.Choice)
    assert tuple(option.type.choices) == ("text", "json", "markdown", "html")
