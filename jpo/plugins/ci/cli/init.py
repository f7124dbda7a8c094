"""`jpo init`: its options and help."""

import time
from pathlib import Path
from typing import Literal

import click

from jpo.cli.arguments import config_of, load_settings
from jpo.cli.options import Network, network_options, options, output_options, settings_options
from jpo.cli.output import READABLE, Output
from jpo.cli.subject import config_ini


@click.command()
@config_ini
@click.option("--ci", type=click.Choice(["gitlab", "github", "none"]), help="Whose pipeline; default: what the repository shows.")
@click.option("--dry-run", is_flag=True, help="Print the files; make none.")
@output_options(*READABLE)
@options(network_options, settings_options)
def init(
    given: Path | None,
    ci: Literal["gitlab", "github", "none"] | None,
    toml: Path | None,
    *,
    dry_run: bool,
    network: Network,
    output: Output,
) -> None:
    """Make the files to begin with; replace none.

    Lists what JPO recognises in CONFIG.INI and what it does not, asks Prometheus what it has (if one is named), and makes a
    commented jpo.toml, .jpo/.gitignore and the pipeline's file. A second job of the repository gets a jpo.toml of its own.

    \b
    Examples:
      jpo init config.ini --dry-run
      jpo init config.ini --prometheus-url http://prometheus:9090 --ci gitlab
    """
    from jpo.plugins.ci.report import setup
    from jpo.plugins.ci.story import init as command

    flags = {"prometheus": network.flags}
    settings = load_settings(given, toml, flags)
    if given and not toml and command.belongs_to_another_job(given, settings):
        settings = load_settings(given, None, flags, of_its_own=True)
    wanted = command.InitOptions(time.time(), ci, dry_run=dry_run, offline=network.offline)
    output.show(setup, command.init(config_of(given, settings), settings, wanted))
