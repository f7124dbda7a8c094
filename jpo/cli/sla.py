"""`jpo sla`: its options and help."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import click

from jpo.cli.arguments import config_of, load_settings
from jpo.cli.options import FILE, options, output_options, toml_option, verbose_option
from jpo.cli.output import READABLE, Output
from jpo.cli.subject import config_and_run, config_ini, for_option

VIOLATED = 3


@click.group()
def sla() -> None:
    """Check runs against [sla], or propose targets."""


@sla.command("check")
@config_and_run
@click.option("--csv", "logs", type=FILE, multiple=True, metavar="FILE", help="CSV log of a run; may be repeated.")
@for_option
@output_options(*READABLE)
@options(toml_option, verbose_option)
def check_sla(run: str | None, logs: Sequence[Path], given: Path | None, output: Output, toml: Path | None) -> int:
    """Check a run against [sla]; exit code 3 if violated.

    Each promise is met, violated or unknown; and how often all runs kept it. Without RUN and logs it is the newest run on
    record.

    \b
    Examples:
      jpo sla check
      jpo sla check run-17
      jpo sla check --csv runs/2026-11-21.csv -o json
    """
    from jpo.commands import sla as command
    from jpo.report import sla as subject

    settings, wanted = load_settings(given, toml, {}), command.WantedRuns(run, logs)
    report = command.check(config_of(given, settings), settings, wanted, now=time.time(), environ=os.environ)
    output.show(subject, report)
    return VIOLATED if report.violated else 0


@sla.command("suggest")
@config_ini
@click.option(
    "--keep",
    "share",
    type=click.FloatRange(0.5, 0.999),
    default=0.95,
    show_default=True,
    help="Share of runs that should meet the target.",
)
@output_options(*READABLE)
@options(toml_option, verbose_option)
def suggest_sla(given: Path | None, share: float, output: Output, toml: Path | None) -> None:
    """Propose thresholds for [sla] as lines for jpo.toml.

    Runs like the last ones would keep them.

    \b
    Example:
      jpo sla suggest config.ini
    """
    from jpo.commands.sla import suggest as command
    from jpo.report import sla as subject

    settings = load_settings(given, toml, {})
    output.show(subject, command(config_of(given, settings), settings, share=share, now=time.time()))
