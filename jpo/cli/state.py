"""`jpo state`: its options and help."""

import time
from pathlib import Path

import click

from jpo.cli.arguments import settings_beside
from jpo.cli.gate import answer, stream
from jpo.cli.options import settings_options
from jpo.cli.output import writable
from jpo.cli.subject import config_and_file, job_options


@click.group()
def state() -> None:
    """Copy or move the store, forget what is too old."""


@state.command("export")
@config_and_file("FILE|-")
@settings_options
def export_state(given: Path | None, file: Path, toml: Path | None) -> None:
    """Write the whole store to FILE as JSON Lines.

    A backup of one moment, while others go on; packed if FILE ends in .gz.

    \b
    Examples:
      jpo state export backup.jsonl.gz
      jpo state export - | zstd > backup.jsonl.zst
    """
    from jpo.commands.state import export, exported
    from jpo.report.forms.json import harmless

    settings = settings_beside(given, toml)
    if str(file) == "-":
        with exported(settings) as lines:
            stream(map(harmless, lines))
    else:
        writable([file], settings.config_ini, settings)
        answer(export(settings, file))


@state.command("import")
@click.option("--dry-run", is_flag=True, help="Read and check all of FILE; write nothing.")
@config_and_file("FILE")
@settings_options
def import_state(given: Path | None, file: Path, toml: Path | None, *, dry_run: bool) -> None:
    """Fill an empty store with an export.

    After a loss, or to move from SQLite to PostgreSQL and back.

    \b
    Example:
      JPO_STORE__URL=postgresql://jpo@db/jpo jpo state import backup.jsonl.gz
    """
    from jpo.commands.state import import_ as command

    answer(command(settings_beside(given, toml), file, dry_run=dry_run))


@state.command()
@click.option("--dry-run", is_flag=True, help="Only say what would be forgotten.")
@job_options
def gc(given: Path | None, toml: Path | None, *, dry_run: bool) -> None:
    """Forget what is too old to be of use.

    The time series of runs that ended longer than [store] keep_series ago; and with [store] keep_runs, of each workload,
    the runs before the newest that tell nothing any more. What the audit log says of them stays.

    \b
    Example:
      jpo state gc --dry-run
    """
    from jpo.commands.state import gc as command

    answer(command(settings_beside(given, toml), dry_run=dry_run, now=time.time()))
