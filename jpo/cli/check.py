"""`jpo check`: its options and help."""

import time
from pathlib import Path

import click

from jpo.cli.arguments import config_of, load_settings
from jpo.cli.options import output_options
from jpo.cli.output import READABLE, Output
from jpo.cli.subject import job_options


@click.command()
@output_options(*READABLE)
@job_options
def check(given: Path | None, toml: Path | None, *, output: Output) -> None:
    """Is CONFIG.INI valid, identified and within limits?

    \b
    Examples:
      jpo check config.ini
      jpo check -o json | jq '.parameters[] | select(.held == null)'
    """
    from jpo.commands.check import check as command
    from jpo.report import check as report

    settings = load_settings(given, toml, {})
    output.show(report, command(config_of(given, settings), settings, now=time.time()))
