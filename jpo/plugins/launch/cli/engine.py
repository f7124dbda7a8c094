"""`--on`: the engine that runs a job."""

import click

from jpo.cli.options import ChoiceOrInstalled
from jpo.plugins.launch.engines import GROUP, OWN

engine_option = click.option(
    "--on", type=ChoiceOrInstalled(OWN, GROUP), help="Engine that runs it; default: [launch] on, else this machine."
)
