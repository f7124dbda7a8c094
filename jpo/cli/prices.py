"""`jpo prices`: its options and help."""

from __future__ import annotations

import time
from pathlib import Path

import click

from jpo.cli.arguments import config_of, load_settings
from jpo.cli.options import FILE, colour_option, config_ini, options, toml_option, verbose_option
from jpo.cli.output import can_be_kept, coloured, put, width


@click.group()
def prices() -> None:
    """What resources cost, and where that is known from."""


@prices.command("show")
@config_ini
@click.option("--gpu-type", metavar="TYPE", help="Only instances with these GPUs, e.g. a10g.")
@click.option("-o", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@options(toml_option, colour_option, verbose_option)
def show_prices(given: Path | None, gpu_type: str | None, form: str, toml: Path | None, *, no_color: bool) -> None:
    """Prices in force, with source and date; what an hour of today's configuration costs; the catalogue's instances.

    \b
    Examples:
      jpo prices show
      jpo prices show --gpu-type a10g -o json
    """
    from jpo.commands.prices import show as command

    settings = load_settings(given, toml, {})
    told = command(
        config_of(given, settings),
        settings,
        gpu_type=gpu_type,
        form=form,
        now=time.time(),
        width=width(),
        colour=coloured(no_color),
    )
    put(told)


@prices.command("refresh")
@click.argument("file", type=FILE, metavar="FILE.csv")
@click.option("--region", default="us-east-1", show_default=True, metavar="REGION", help="Whose prices.")
@click.option(
    "--families", default="p3,p3dn,p4d,p4de,p5,g4dn,g5,g6", show_default=True, metavar="A,B,...", help="Instance families."
)
@click.option("--timeout", metavar="DURATION", default="60s", show_default=True, help="Deadline for all requests together.")
@options(verbose_option)
def refresh_prices(file: Path, region: str, families: str, timeout: str) -> None:
    """Read AWS' on-demand prices and the last week's spot prices into a catalogue file (needs jpo[aws]).

    \b
    Example:
      jpo prices refresh aws.csv --region eu-central-1      then: [prices] catalogue = "aws.csv"
    """
    from jpo.commands.prices import refresh as command

    can_be_kept([file])
    put(command(file, region=region, families=families.split(","), timeout=timeout, now=time.time()))
