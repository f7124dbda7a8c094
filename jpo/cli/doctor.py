"""`jpo doctor`: its options and help."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from jpo.cli.arguments import load_settings
from jpo.cli.options import Network, colour_option, config_ini, network_options, options, toml_option, verbose_option
from jpo.cli.output import coloured, put, width


@click.command()
@config_ini
@click.option("-o", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@options(network_options, toml_option, colour_option, verbose_option)
def doctor(
    given: Path | None,
    form: str,
    toml: Path | None,
    *,
    network: Network,
    no_color: bool,
) -> int:
    """Is everything there that JPO needs? Looks at settings, CONFIG.INI, Prometheus, logs and store; writes nothing.

    Ends with 0 when there is no problem (warnings are none), else with what `jpo suggest --strict` would end with at the first
    one: 2 settings or CONFIG.INI, 3 limits, 4 Prometheus, 5 the store, 6 CONFIG.INI cannot be replaced.

    \b
    Examples:
      jpo doctor
      jpo doctor config.ini --offline
      jpo doctor -o json | jq '.checks[] | select(.status != "ok")'
    """
    from jpo.commands.doctor.checks import Case
    from jpo.commands.doctor.doctor import doctor as command

    flags = {"prometheus": network.flags}
    case = Case(given, lambda: load_settings(given, toml, flags), os.environ, now=time.time(), offline=network.offline)
    text, code = command(case, form=form, width=width(), colour=coloured(no_color))
    put(text)
    return code
