"""`jpo doctor`: its options and help."""

import os
import time
from pathlib import Path

import click

from jpo.cli.arguments import load_settings
from jpo.cli.options import Network, network_options, options, output_options
from jpo.cli.output import READABLE, Output, track
from jpo.cli.subject import job_options


@click.command()
@output_options(*READABLE)
@options(network_options, job_options)
@click.option("--drill", is_flag=True, help="Kill and freeze commands on a copy of the project, for at most a minute.")
def doctor(given: Path | None, toml: Path | None, *, drill: bool, network: Network, output: Output) -> int:
    """Check everything that JPO needs; write nothing.

    Looks at settings, CONFIG.INI, this machine, Prometheus, logs and the store.

    --drill instead tries on a copy what docs/reliability.md promises; no file of yours is touched.

    Ends with 0 when there is no problem (a warning is none), else with what `jpo suggest --strict` would end with at the first
    one: 2 settings or CONFIG.INI, 3 limits, 4 Prometheus, 5 the store, 6 CONFIG.INI cannot be replaced.

    \b
    Examples:
      jpo doctor
      jpo doctor config.ini --offline
      jpo doctor --drill -o json > drill.json
      jpo doctor -o json | jq '.checks[] | select(.status != "ok")'
    """
    from jpo.commands.doctor.case import Case
    from jpo.commands.doctor.doctor import doctor as command
    from jpo.commands.doctor.drill import drill as drilled
    from jpo.report import doctor as report

    flags = {"prometheus": network.flags}
    case = Case(given, lambda: load_settings(given, toml, flags), os.environ, now=time.time(), offline=network.offline)
    checkup = drilled(case, track) if drill else command(case)
    output.show(report, checkup)
    return checkup.exit_code
