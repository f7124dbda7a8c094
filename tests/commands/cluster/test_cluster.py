"""The command line of `jpo cluster`."""

from __future__ import annotations

from click.testing import CliRunner

from jpo.cli.cluster import RESOURCES_HELP, SELECTIONS_HELP
from jpo.cli.main import cli
from jpo.cluster.machine.placement import RESOURCES
from jpo.cluster.queueing.selection import NAMES


def test_the_help_names_every_policy() -> None:
    assert [name for name in NAMES if name not in SELECTIONS_HELP] == []
    assert [name for name in RESOURCES if name not in RESOURCES_HELP] == []
    assert "evaluate" in CliRunner().invoke(cli, ["cluster", "--help"]).output
