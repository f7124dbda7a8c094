"""`jpo rollback`: its options and help."""

import time
from pathlib import Path

import click

from jpo.cli.arguments import config_of, load_settings, new_id
from jpo.cli.options import output_options, settings_options
from jpo.cli.output import READABLE, Output
from jpo.cli.subject import config_and_suggestion, for_option
from jpo.errors import UsageError


@click.command()
@config_and_suggestion
@for_option
@click.option(
    "--pin", "pin_days", type=click.IntRange(1, 3650), metavar="DAYS", help="Do not change the restored values for DAYS days."
)
@click.option("--unpin", is_flag=True, help="Restore nothing; what was pinned may be changed again.")
@click.option("--force", is_flag=True, help="Also restore values that someone changed since.")
@click.option("--dry-run", is_flag=True, help="Write nothing anywhere.")
@click.option("--diff", is_flag=True, help="Show the change as a unified diff too.")
@output_options(*READABLE)
@settings_options
def rollback(
    suggestion_id: str | None,
    given: Path | None,
    toml: Path | None,
    *,
    pin_days: int | None,
    unpin: bool,
    force: bool,
    dry_run: bool,
    diff: bool,
    output: Output,
) -> None:
    """Put back the values from before a suggestion.

    That is suggestion ID, or the last change still in force.

    \b
    Examples:
      jpo rollback --dry-run --diff                    look first
      jpo rollback                                     called again: the change before that one
      jpo rollback train/config.ini                    of this file
      jpo rollback 20261121-060000-3fa9c1 --pin 14     all since then is undone, and stays so for two weeks
    """
    from jpo.commands import rollback as command
    from jpo.report import suggestion

    if unpin and (suggestion_id or pin_days or force):
        raise UsageError("--unpin", "restores nothing", "leave out ID, --pin and --force", code="JPO-E845")
    settings, now = load_settings(given, toml, {}), time.time()
    how = {"unpin": unpin, "force": force, "dry_run": dry_run, "diff": diff}
    wanted = command.RollbackOptions(new_id(now), now, suggestion_id, pin_days, **how)
    report = command.rollback(config_of(given, settings), settings, wanted)
    output.show(suggestion, report, on_record=not dry_run)
