from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from command_lines import group

from jpo.cli.main import SUMMARY, cli


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


GROUP = group("audit")
assert isinstance(GROUP, click.Group)
LEAVES = list(GROUP.commands.values())


def test_the_group_has_its_commands() -> None:
    assert [leaf.name for leaf in LEAVES] == ["show", "verify", "export"]


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.name)
def test_a_summary_is_not_cut_off(leaf: click.Command) -> None:
    assert not leaf.get_short_help_str(SUMMARY).endswith("...")


@pytest.mark.parametrize("form", ["text", "json", "markdown", "html"])
def test_show_has_every_form(form: str) -> None:
    runner = CliRunner()
    assert runner.invoke(cli, ["audit", "show", "-o", form]).exit_code == 0


@pytest.mark.parametrize(("form", "output"), [("jsonl", ""), ("csv", "number,time,at,kind")])
def test_an_empty_log_is_exported(form: str, output: str) -> None:
    runner = CliRunner()
    answer = runner.invoke(cli, ["audit", "export", "-o", form])
    assert (answer.exit_code, answer.output[:19]) == (0, output)
