"""`jpo lab logs`: its options and help."""

import time
from collections.abc import Sequence
from pathlib import Path

import click

from jpo.cli.arguments import load_settings
from jpo.cli.options import FILE, files, output_options, path, settings_options
from jpo.cli.output import Output, track, writable
from jpo.cli.subject import config_first
from jpo.errors import UsageError
from jpo.files.reading import same_file


@click.command()
@click.argument("words", nargs=-1, metavar="[CONFIG.INI] [FOLDER | FILE | PATTERN]...", shell_complete=files)
@output_options("table", "text", "json", "csv", "markdown", "html")
@click.option(
    "--extended", "file", type=FILE, metavar="FILE", help="Write all runs there as CSV, with suggestion, reward and SLA."
)
@click.option("--epochs", type=FILE, metavar="FILE", help="Write all epochs there as CSV, with the suggestion behind each run.")
@settings_options
def logs(words: Sequence[str], output: Output, file: Path | None, epochs: Path | None, toml: Path | None) -> None:
    """Sum up many CSV logs: endings, figures, best settings.

    How runs ended, what they took, and which configurations did best, workload by workload. Logs and store are only read.

    \b
    Examples:
      jpo lab logs runs
      jpo lab logs "runs/2026-*.csv" old/ -o json
      jpo lab logs runs --extended runs-with-rewards.csv --epochs epochs.csv
    """
    from jpo.plugins.lab.report import logs as subject
    from jpo.plugins.lab.story.logs import logs as command

    config, places = config_first(words, 0)
    given, settings = [path(word) for word in places], load_settings(config, toml, {})
    if file and epochs and same_file(file, epochs):
        raise UsageError(str(epochs), "is named twice", "name a file for each table", code="JPO-E132")
    new = [table for table in (file, epochs) if table and not table.exists()]  # one that is there must be a table of its kind
    writable(new, config or settings.config_ini, settings)
    output.show(subject, command(given, settings, file, epochs, now=time.time(), track=track))
