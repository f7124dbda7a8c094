"""`jpo logs`: its options and help."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click

from jpo.cli.arguments import load_settings
from jpo.cli.options import FILE, options, output_options, toml_option, verbose_option
from jpo.cli.output import Output, track, writable
from jpo.errors import UsageError
from jpo.reading import same_file


@click.command()
@click.argument("given", nargs=-1, type=FILE, metavar="[FOLDER | FILE | PATTERN]...")
@output_options("table", "text", "json", "csv", "markdown", "html")
@click.option(
    "--extended", "file", type=FILE, metavar="FILE", help="Write all runs there as CSV, with suggestion, reward and SLA."
)
@click.option("--epochs", type=FILE, metavar="FILE", help="Write all epochs there as CSV, with the suggestion behind each run.")
@options(toml_option, verbose_option)
def logs(given: Sequence[Path], output: Output, file: Path | None, epochs: Path | None, toml: Path | None) -> None:
    """Sum up many CSV logs: endings, figures, best settings.

    How runs ended, what they took, and which configurations did best, workload by workload. Logs and store are only read.

    \b
    Examples:
      jpo logs runs
      jpo logs "runs/2026-*.csv" old/ -o json
      jpo logs runs --extended runs-with-rewards.csv --epochs epochs.csv
    """
    from jpo.commands.logs import Tables
    from jpo.commands.logs import logs as command
    from jpo.report import logs as subject

    settings = load_settings(None, toml, {})
    new = [path for path in (file, epochs) if path and not path.exists()]  # one that is there must be a table of its kind
    writable(new, settings.config_ini, settings)
    if file and epochs and same_file(file, epochs):
        raise UsageError(str(epochs), "is named twice", "name a file for each table", code="JPO-E132")
    output.show(subject, command(given, settings, tables=Tables(file, epochs), now=time.time(), track=track))
