"""`jpo history`: its options and help."""

from __future__ import annotations

import time
from pathlib import Path

import click

from jpo.cli.arguments import config_of, load_settings
from jpo.cli.options import FILE, colour_option, options, toml_option, verbose_option
from jpo.cli.output import coloured, put, width, writable
from jpo.errors import UsageError


@click.command()
@click.option("-o", "--format", "form", type=click.Choice(["table", "json", "csv"]), default="table", show_default=True)
@click.option("--limit", type=click.IntRange(1), help="Newest N only.")
@click.option("--compare", is_flag=True, help="Time, cost, utilisation and loss before JPO's first change and after it.")
@click.option("--for", "given", type=FILE, metavar="CONFIG.INI", help="With --compare: this workload alone.")
@click.option("--plot", "picture", type=FILE, metavar="FILE", help="With --compare: the ratios as a picture, .png or .svg.")
@options(toml_option, colour_option, verbose_option)
def history(
    form: str,
    limit: int | None,
    given: Path | None,
    picture: Path | None,
    toml: Path | None,
    *,
    compare: bool,
    no_color: bool,
) -> None:
    """Runs and suggestions on record, and how right the last forecasts were.

    \b
    Examples:
      jpo history
      jpo history --format json
      jpo history --compare --for config.ini --plot before-after.svg
    """
    if compare and limit:
        raise UsageError("--limit", "compares no runs", "leave out --limit or --compare", code="JPO-E853")
    if (given or picture) and not compare:
        raise UsageError("--for and --plot", "belong to --compare", "add --compare, or leave them out", code="JPO-E853")
    settings, colour = load_settings(given, toml, {}), coloured(no_color)
    if compare:
        from jpo.commands.compare import before_after

        if picture:
            writable([picture], config_of(given, settings), settings)
        put(before_after(given, settings, form=form, picture=picture, now=time.time(), width=width(), colour=colour))
    else:
        from jpo.commands.history import history as command

        put(command(settings, form=form, limit=limit, width=width(), colour=colour))
