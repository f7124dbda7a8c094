"""`jpo prices`: its options and help."""

import time
from pathlib import Path

import click

from jpo.cli.arguments import config_of, load_settings
from jpo.cli.gate import answer
from jpo.cli.options import FILE, output_options, verbose_option
from jpo.cli.output import READABLE, Output, can_be_kept
from jpo.cli.subject import job_options
from jpo.files import refuse_unwritable


@click.group()
def prices() -> None:
    """Show the prices of resources, and their source."""


@prices.command("show")
@click.option("--gpu-type", metavar="TYPE", help="Only instances with these GPUs, e.g. a10g.")
@output_options(*READABLE)
@job_options
def show_prices(given: Path | None, gpu_type: str | None, output: Output, toml: Path | None) -> None:
    """Show the prices in force, with source and date.

    Also what an hour of today's configuration costs, and the catalogue's instances.

    \b
    Examples:
      jpo prices show
      jpo prices show --gpu-type a10g -o json
    """
    from jpo.commands.prices import show as command
    from jpo.report import prices as subject

    settings = load_settings(given, toml, {})
    config = config_of(given, settings)
    about = config if given or config.exists() else None
    output.show(subject, command(about, settings, gpu_type=gpu_type, now=time.time()))


@prices.command("refresh")
@click.argument("file", type=FILE, metavar="[FILE.csv]", required=False)
@click.option("--region", default="us-east-1", show_default=True, metavar="REGION", help="Where they apply.")
@click.option(
    "--families", default="p3,p3dn,p4d,p4de,p5,g4dn,g5,g6", show_default=True, metavar="A,B,...", help="Instance families."
)
@click.option("--timeout", metavar="DURATION", default="60s", show_default=True, help="Deadline for all requests together.")
@verbose_option
def refresh_prices(file: Path | None, region: str, families: str, timeout: str) -> None:
    """Read today's AWS prices, on demand and spot by zone.

    Without a file for the regions of [launch.aws], kept in .jpo; else
    into a catalogue file. Needs jpo[aws].

    \b
    Examples:
      jpo prices refresh
      jpo prices refresh aws.csv --region eu-central-1      then: [prices] catalogue = "aws.csv"
    """
    from jpo.commands.prices import refresh as command
    from jpo.commands.prices import refresh_market

    if file is None:
        answer(refresh_market(load_settings(None, None, {})))
        return
    if file.exists():
        refuse_unwritable(file)  # it must be a catalogue
    else:
        can_be_kept([file])
    answer(command(file, region=region, families=families.split(","), timeout=timeout, now=time.time()))
