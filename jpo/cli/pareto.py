"""`jpo pareto`: its options and help."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click

from jpo.cli.arguments import config_of, load_settings
from jpo.cli.options import FILE, colour_option, config_ini, options, seed_option, toml_option, verbose_option
from jpo.cli.output import coloured, put, save, width, writable


@click.command()
@config_ini
@click.option(
    "--objectives", metavar="A,B[,...]", help="Of time, cost, loss, efficiency; default: time,cost where cost is known."
)
@click.option("--reference", metavar="NAME=V,...", help="Reference point of the hypervolume; default: 1.1 times the worst run.")
@click.option("--plot", "picture", type=FILE, metavar="FILE", help="The front as a picture: .png or .svg.")
@click.option("-o", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--output-file", "files", type=FILE, multiple=True, help="Write it there too; .json chooses its form.")
@options(seed_option, toml_option, colour_option, verbose_option)
def pareto(
    given: Path | None,
    objectives: str | None,
    reference: str | None,
    picture: Path | None,
    form: str,
    files: Sequence[Path],
    seed: int,
    toml: Path | None,
    *,
    no_color: bool,
) -> None:
    """The trade-off front: measured runs, and predicted configurations marked as such.

    \b
    Examples:
      jpo pareto config.ini --plot front.svg
      jpo pareto config.ini --objectives time,cost,loss -o json
    """
    from jpo.commands.pareto import can_plot, plot, rendered
    from jpo.commands.pareto import pareto as command

    settings = load_settings(given, toml, {})
    config = config_of(given, settings)
    if picture:
        can_plot(picture)
    writable([*files, *([picture] if picture else [])], config, settings)
    front = command(config, settings, objectives=objectives, reference=reference, seed=seed, now=time.time())
    for file in files:
        save(file, rendered(front, "json" if file.suffix == ".json" else form, width=120, colour=False))
    if picture:
        plot(front, picture)
    put(rendered(front, form, width=width(), colour=coloured(no_color)))
