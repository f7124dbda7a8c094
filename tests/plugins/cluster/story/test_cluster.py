"""The command line of `jpo cluster`."""

from __future__ import annotations

from click.testing import CliRunner

from jpo.cli.main import cli


def test_the_group_lists_its_commands() -> None:
    text = CliRunner().invoke(cli, ["cluster", "--help"]).output
    assert [name for name in ("evaluate", "describe", "plot", "convert", "train", "test") if f"  {name} " not in text] == []
