"""`jpo pareto`: its options and help."""

import time
from pathlib import Path

import click

from jpo.cli.arguments import config_of, load_settings
from jpo.cli.options import FILE, options, output_options, seed_option
from jpo.cli.output import READABLE, Output, writable
from jpo.cli.subject import job_options


@click.command()
@click.option(
    "--objectives",
    metavar="A,B[,...]",
    help="Of time, cost, loss, efficiency, accuracy, and your metric; default: time,cost where cost is known.",
)
@click.option("--reference", metavar="NAME=V,...", help="Reference point of the hypervolume; default: 1.1 times the worst run.")
@click.option("--plot", "picture", type=FILE, metavar="FILE", help="The front as a picture: .png or .svg.")
@output_options(*READABLE, files=True)
@options(seed_option, job_options)
def pareto(
    given: Path | None,
    objectives: str | None,
    reference: str | None,
    picture: Path | None,
    output: Output,
    seed: int,
    toml: Path | None,
) -> None:
    """Show the trade-off front: measured and predicted.

    Measured runs are facts; predicted configurations are marked as such. No server is asked, and nothing is written.

    \b
    Examples:
      jpo pareto config.ini --plot front.svg
      jpo pareto config.ini --objectives time,cost,loss -o json
    """
    from jpo.commands.pareto import pareto as command
    from jpo.report import front as subject
    from jpo.report.forms.picture import can_plot, save

    settings = load_settings(given, toml, {})
    config = config_of(given, settings)
    if picture:
        can_plot(picture)
    writable([*output.files, *([picture] if picture else [])], config, settings)
    front = command(config, settings, objectives=objectives, reference=reference, seed=seed, now=time.time())
    if picture:
        save(subject.charts(front), picture, str(front.workload), front.currency)
    output.show(subject, front)
