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


GROUP = group("state")
assert isinstance(GROUP, click.Group)
LEAVES = list(GROUP.commands.values())


def test_the_group_has_its_commands() -> None:
    assert [leaf.name for leaf in LEAVES] == ["export", "import", "gc"]


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.name)
def test_a_summary_is_not_cut_off(leaf: click.Command) -> None:
    assert not leaf.get_short_help_str(SUMMARY).endswith("...")


def test_a_dash_is_stdout_and_an_import_must_name_a_file() -> None:
    runner = CliRunner()
    assert "JPO-E504" in str(getattr(runner.invoke(cli, ["state", "export", "-"]).exception, "code", ""))
    assert runner.invoke(cli, ["state", "import"]).exit_code == 2
