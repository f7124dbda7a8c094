"""`jpo lab`: its commands."""

import click

from jpo.plugins.lab.cli.logs import logs
from jpo.plugins.lab.cli.replay import replay
from jpo.plugins.lab.cli.simulate import simulate


@click.group(commands=(simulate, replay, logs), context_settings={"show_default": True})
def lab() -> None:
    """Simulated and recorded jobs, and what many logs say."""
