"""`jpo logs`: its options and help."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click

from jpo.cli.arguments import load_settings
from jpo.cli.options import FILE, colour_option, options, toml_option, verbose_option
from jpo.cli.output import coloured, put, track, width


@click.command()
@click.argument("given", nargs=-1, type=FILE, metavar="[FOLDER | FILE | PATTERN]...")
@click.option("-o", "--format", "form", type=click.Choice(["table", "json", "csv"]), default="table", show_default=True)
@click.option(
    "--extended", "file", type=FILE, metavar="FILE", help="Write all runs there as CSV, with suggestion, reward and SLA."
)
@options(toml_option, colour_option, verbose_option)
def logs(given: Sequence[Path], form: str, file: Path | None, toml: Path | None, *, no_color: bool) -> None:
    """What many CSV logs say: how runs ended, what they took, which configurations did best. Logs and store are only read.

    \b
    Examples:
      jpo logs runs
      jpo logs "runs/2026-*.csv" old/ -o json
      jpo logs runs --extended runs-with-rewards.csv
    """
    from jpo.commands.logs import logs as command

    settings, now, colour = load_settings(None, toml, {}), time.time(), coloured(no_color)
    put(command(given, settings, form=form, file=file, now=now, track=track, width=width(), colour=colour))
