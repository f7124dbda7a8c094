"""`jpo sla`: its options and help."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

import click

from jpo.cli.arguments import config_of, load_settings
from jpo.cli.options import FILE, output_options, settings_options, writes_with
from jpo.cli.output import READABLE, Output
from jpo.cli.subject import config_and_run, for_option, job_options
from jpo.errors import UsageError

VIOLATED = 3


@click.group()
def sla() -> None:
    """Check runs against [sla], or propose targets."""


@sla.command("check")
@config_and_run
@click.option("--csv", "logs", type=FILE, multiple=True, metavar="FILE", help="CSV log of a run; may be repeated.")
@for_option
@output_options(*READABLE)
@settings_options
def check_sla(run: str | None, logs: Sequence[Path], given: Path | None, output: Output, toml: Path | None) -> int:
    """Check a run against [sla]; exit code 3 if violated.

    Says whether each promise was kept, and how often all runs kept it. Without RUN and logs it is about the newest run on
    record. Where nothing is promised, nothing is violated.

    \b
    Examples:
      jpo sla check
      jpo sla check run-17
      jpo sla check --csv runs/2026-11-21.csv -o json
    """
    from jpo.commands import sla as command
    from jpo.report import sla as subject

    settings = load_settings(given, toml, {})
    if logs and run is not None:
        raise UsageError("--csv", "and a RUN exclude each other", "check them one after the other", code="JPO-E812")
    report = command.check(config_of(given, settings), settings, run, logs, now=time.time(), environ=os.environ)
    output.show(subject, report)
    return VIOLATED if report.violated else 0


@sla.command("suggest")
@click.option(
    "--keep",
    "share",
    type=click.FloatRange(0.5, 0.999),
    default=0.95,
    show_default=True,
    help="Share of runs that should meet the target.",
)
@writes_with("--write", "Put the lines into jpo.toml; what is promised there stays.")
@click.option("--replace", is_flag=True, help="With --write: in place of what is promised there.")
@output_options(*READABLE)
@job_options
def suggest_sla(given: Path | None, share: float, output: Output, toml: Path | None, *, write: bool, replace: bool) -> None:
    """Propose thresholds for [sla] as lines for jpo.toml.

    Runs like the last ones would keep them. --write puts them into jpo.toml and changes nothing else in it.

    \b
    Examples:
      jpo sla suggest config.ini
      jpo sla suggest config.ini --write
    """
    from jpo.commands import sla as command
    from jpo.report import sla as subject

    if replace and not write:
        raise UsageError("--replace", "belongs to --write", "add --write, or leave it out", code="JPO-E305")
    settings = load_settings(given, toml, {})
    config = config_of(given, settings)
    proposal = command.suggest(config, settings, share=share, now=time.time())
    output.show(subject, command.write(config, settings, proposal, replace_old=replace) if write else proposal)
