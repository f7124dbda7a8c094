"""`jpo check`: its options and help."""

from __future__ import annotations

import time
from pathlib import Path

import click

from jpo.cli.arguments import config_of, load_settings
from jpo.cli.options import config_ini, options, toml_option, verbose_option
from jpo.cli.output import put


@click.command()
@config_ini
@options(toml_option, verbose_option)
def check(given: Path | None, toml: Path | None) -> None:
    """Is CONFIG.INI valid, identified and within limits?

    \b
    Example:
      jpo check config.ini
    """
    from jpo.commands.check import check as command

    settings = load_settings(given, toml, {})
    put(command(config_of(given, settings), settings, now=time.time()))
