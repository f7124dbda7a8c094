from __future__ import annotations

import json
from collections.abc import Callable

import click
import pytest
from click.testing import CliRunner
from command_lines import group

from jpo.cli.main import SUMMARY, cli

GROUP = group("config")
assert isinstance(GROUP, click.Group)
LEAVES = list(GROUP.commands.values())


def test_the_group_has_its_commands() -> None:
    assert [leaf.name for leaf in LEAVES] == ["check", "show", "schema"]


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.name)
def test_a_summary_is_not_cut_off(leaf: click.Command) -> None:
    assert not leaf.get_short_help_str(SUMMARY).endswith("...")


def test_the_schema_is_that_of_the_settings_unless_another_is_named(jpo: Callable[..., str]) -> None:
    assert jpo("config", "schema") == jpo("config", "schema", "--output", "settings")
    assert json.loads(jpo("config", "schema"))["properties"].keys() >= {"agent", "prices", "sla"}
    assert CliRunner().invoke(cli, ["config", "schema", "--output", "history"]).exit_code == 2


@pytest.mark.parametrize("words", ["config check", "config show", "audit show", "audit verify", "audit export", "state gc"])
def test_a_config_ini_that_was_named_and_is_not_there_is_an_error(words: str) -> None:
    error = CliRunner().invoke(cli, [*words.split(), "nowhere/config.ini"]).exception
    assert getattr(error, "code", "") == "JPO-E201"
